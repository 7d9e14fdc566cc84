import { fastify } from 'fastify'
import { createProviderSimulation } from '#sandbox/devnet/provider-simulation.ts'
import { startDevnet } from '#sandbox/devnet.ts'
import { chatPages } from '#sandbox/telegram-chat-page.ts'
import { startProtocolData } from '#sandbox/world/protocol-data.ts'
import { startXrpl } from '#sandbox/xrpl.ts'
import { packed } from '#src/actions/codec.ts'
import * as alerts from '#src/alerts/service.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { fetchPublications } from '#src/jobs/fetch-publications.ts'
import { scanRounds } from '#src/jobs/scan-rounds.ts'
import { createTopup } from '#src/operations/rest/topups.ts'
import { botWorld } from '../support/bot.ts'
import { testClock } from '../support/clock.ts'
import { deliverAll } from '../support/deliver-all.ts'
import { observeWatches } from '../support/observe.ts'

/** Start of the chain, and of the rounds in the pictures. */
const STARTS_AT = new Date('2026-11-20T12:00:00Z')
const ROUNDS_AT_SECONDS = Date.parse('2026-11-20T12:28:30Z') / 1000
const GOOD_ROUNDS = 22
/** Silent rounds at the end, of which the last cannot be judged yet. */
const SILENT_ROUNDS = 4
const PUBLIC_URL = 'https://watchdog.example.org'
/** Price of FLR in US dollars. */
const FLR_USD = 0.02
const TOKEN_USD_MICROS = '50000'
/** Credits of the quote on the pay page. */
const CREDITS = 20_000

/** A running world with a stopped clock, with everything that the pictures show. */
export interface PictureWorld {
  /** Chat pages: where an outage arrived, and where the Arabic card is. */
  readonly alertUrl: string
  readonly cardUrl: string
  /** The pay page of a quote. */
  readonly payUrl: string
  readonly now: Date
  close(): Promise<void>
}

/**
 * Starts the sandbox's parts at a fixed time and lets a provider fall silent: Ann is notified,
 * Salma opens the
 * card of her watch in Arabic, and Alice asks for a quote. The same in every run.
 */
export async function pictureWorld(): Promise<PictureWorld> {
  await using undo = new AsyncDisposableStack()
  const keep = <T extends { close(): Promise<unknown> }>(part: T): T => {
    undo.defer(async () => void (await part.close()))
    return part
  }
  const clock = testClock(STARTS_AT)
  const devnet = keep(await startDevnet({ contracts: true, startsAt: STARTS_AT }))
  const simulation = await createProviderSimulation(devnet, {
    providers: [{ name: 'Anchor', stake: 3_000_000_000 }, { name: 'Alpha' }],
    onTime: (seconds) => clock.set(new Date(seconds * 1000)),
  })
  const xrpl = keep(await startXrpl({ clock }))
  const data = keep(await startProtocolData({ simulation, clock }))
  const { contracts } = devnet
  const world = keep(
    await botWorld(
      {
        PUBLIC_URL,
        FLARE_RPC_URLS: devnet.rpcUrl,
        FLARE_CONTRACT_REGISTRY: contracts.registry,
        PROVIDER_DATASET_URL: data.passesUrl,
        PAYMENT_ROUTER: contracts.router,
        NATIVE_PAY_TO: contracts.payTo,
        SERVICE_TOKEN_ADDRESS: contracts.serviceToken,
        SERVICE_TOKEN_USD_MICROS: TOKEN_USD_MICROS,
        WFLR_ADDRESS: contracts.wflr,
        FXRP_ADDRESS: contracts.fxrp,
        XRPL_RPC_URL: xrpl.url,
        XRPL_DEPOSIT_ADDRESS: xrpl.address,
      },
      { clock, firstName: 'Watchdog' },
    ),
  )
  const { app } = world.service
  const { signal } = new AbortController()
  const look = async () => {
    await devnet.mine(2, 1)
    await fetchPublications.run(app, signal, CHECK_EVERYTHING)
    await scanRounds.run(app, signal, CHECK_EVERYTHING)
    await observeWatches(
      { ...app, recordAlerts: (tx, candidates) => alerts.recordAlerts(app, tx, candidates) },
      signal,
    )
  }
  await simulation.playTo(ROUNDS_AT_SECONDS)
  await simulation.setFeed('FLR/USD', FLR_USD)
  const target = { provider: simulation.provider('Alpha').accounts.identity.address }
  const watch = { label: 'Alpha', type: 'provider-fsp', target, settings: {} }
  await world.giveSlots('alice', 1)
  await world.giveSlots('bob', 1)
  const ann = await world.linked('alice')
  const salma = await world.linked('bob', ['read', 'write'], 'ar')
  await world.addWatch('alice', watch)
  const salmasWatch = await world.addWatch('bob', watch)
  await look()
  await simulation.playRounds(GOOD_ROUNDS)
  await look()
  await simulation.behave('Alpha', 'silent')
  await simulation.playRounds(SILENT_ROUNDS)
  await look()
  await deliverAll(app)
  await salma.say('/watches')
  await salma.press(packed('watch.card', { id: salmasWatch }))
  const body = { asset: 'FLR', credits: CREDITS }
  const { handle } = await world.as('alice', createTopup, { body })

  const listening = { host: '127.0.0.1', port: 0 }
  const serviceUrl = await world.server.listen(listening)
  const chats = keep(fastify())
  const locate = (url: string) => url.replace(PUBLIC_URL, serviceUrl)
  await chats.register(chatPages(world.telegram, { locate }))
  const chatUrl = await chats.listen(listening)
  const kept = undo.move()
  return {
    alertUrl: `${chatUrl}/chat?chat=${ann.id}`,
    cardUrl: `${chatUrl}/chat?chat=${salma.id}`,
    payUrl: `${serviceUrl}/pay/${handle}`,
    now: clock.now(),
    close: () => kept.disposeAsync(),
  }
}
