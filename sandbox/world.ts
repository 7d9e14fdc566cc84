import { setTimeout as wait } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createApp, type Service } from '#src/app.ts'
import { startEmbedded } from '#src/db/embedded/embedded.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { startChatHooks } from './chat-hooks.ts'
import { createProviderSimulation, type ProviderSimulation } from './devnet/provider-simulation.ts'
import { type RpcProxy, startRpcProxy } from './devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from './devnet.ts'
import { startMailServer } from './inbox.ts'
import { startReceiver } from './receiver.ts'
import { createTaskQueue } from './task-queue.ts'
import { addTelegramAccounts } from './telegram/accounts.ts'
import { startTelegramApi } from './telegram-api.ts'
import { serveWallet } from './wallet.ts'
import { createWorldClock, type WorldClock } from './world/clock.ts'
import { makeDataDir } from './world/data-dir.ts'
import { startDataUpstream } from './world/data-upstream.ts'
import { FAULTY_PROVIDER, type WorldParts } from './world/parts.ts'
import { findPort, requireFreePort } from './world/ports.ts'
import { startProtocolData } from './world/protocol-data.ts'
import { BOT_USERNAME, configFor, makeBotToken } from './world/settings.ts'
import { openLinksInChat } from './world/telegram-links.ts'
import { createTopupPayer } from './world/topups.ts'
import { startWeb } from './world/web.ts'
import { startXrpl } from './xrpl.ts'

/** Options of a world. Given ports are required; others have a default, or else any free one. */
export interface WorldOptions {
  readonly log: Logger
  /** Port of the sandbox's pages; 8090 by default. With 0 all three ports are any free ones. */
  readonly port?: number | undefined
  /** Port of the service; 8080 by default. */
  readonly servicePort?: number | undefined
  /** Port of the service's health and metrics; 9090 by default. */
  readonly internalPort?: number | undefined
  /** The anvil program; by default the one from npm. */
  readonly anvilPath?: string | undefined
  /** A database of the caller, which stays; by default the world starts a PostgreSQL of its own. */
  readonly databaseUrl?: string | undefined
  /** Aborts the start, which is undone and fails. */
  readonly signal?: AbortSignal
}

/** A running sandbox. */
export interface World extends WorldParts {
  /** Stops everything and deletes its files. A second call waits for the first. */
  close(): Promise<void>
}

const USUAL_PORTS = { port: 8090, servicePort: 8080, internalPort: 9090 } as const
/**
 * At two seconds and less anvil keeps 1,500 states regardless of its options: more than a gigabyte per
 * hour.
 */
const BLOCK_TIME_SECONDS = 3
/** Longest time in milliseconds for which the service gets no answers, and for which it may then read what it missed. */
const HOLD_MS_MAX = 25_000
const FOLLOW_MS_MAX = 20_000
/** Age of the chain at the start, so that there are complete rounds to judge. */
const PAST_MS = 10 * 60_000
/** Providers of equal weight. */
const PROVIDERS = [FAULTY_PROVIDER, 'Bravo', 'Charlie', 'Delta', 'Echo'] as const
/**
 * Longest jump that is simulated in full. A longer jump runs only the actions of reward epochs, and its last ten
 * minutes in full.
 */
const FULL_SECONDS = 3 * 3600
/** The end of a longer jump, which is simulated in full. */
const FULL_END_SECONDS = 10 * 60

/**
 * Starts a whole world on this machine, with the real service.
 *
 * @throws Error when a part does not start, or the signal is aborted; everything is undone then
 */
export async function startWorld(options: WorldOptions): Promise<World> {
  await using undo = new AsyncDisposableStack()
  const parts = await build(options, undo)
  const kept = undo.move()
  let closing: Promise<void> | undefined
  return {
    ...parts,
    close: () => {
      closing ??= kept.disposeAsync()
      return closing
    },
  }
}

/** Starts the parts, in the order in which they need each other. Long because it is the list of all of them. */
async function build(options: WorldOptions, undo: AsyncDisposableStack): Promise<WorldParts> {
  const { log, signal } = options
  signal?.throwIfAborted()
  const ports = await choosePorts(options)
  const clock = createWorldClock()
  const botToken = makeBotToken()
  const keep = async <T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const part = await starting
    undo.defer(() => part.close())
    return part
  }
  const starting = [
    startDatabase(options, undo),
    startChain(options, clock, keep),
    keep(
      startTelegramApi({
        token: botToken,
        username: BOT_USERNAME,
        firstName: 'Watchdog',
        clock,
        rates: true,
      }),
    ),
    keep(startMailServer({ clock })),
    keep(startReceiver({ clock })),
    keep(startChatHooks({ clock })),
    keep(startXrpl({ clock })),
    keep(startDataUpstream({ clock })),
  ] as const
  // Every start must have ended before anything is undone.
  await Promise.allSettled(starting)
  signal?.throwIfAborted()
  const [database, chain, telegram, inbox, receiver, hooks, xrpl, data] =
    await Promise.all(starting)

  const { devnet, simulation, rpc } = chain
  const published = await keep(startProtocolData({ simulation, clock }))
  const url = `http://127.0.0.1:${ports.port}`
  const config = configFor(
    {
      ...ports,
      rpcUrl: rpc.url,
      socketUrl: devnet.socketUrl,
      telegramUrl: telegram.url,
      smtpUrl: inbox.url,
      termsUrl: `${url}/terms`,
      contracts: devnet.contracts,
      settlementKey: await fundSettlement(devnet),
      xrpl,
      dataUrls: data.urls,
      published,
    },
    botToken,
  )
  const service = createApp(config, {
    databaseUrl: database.url,
    log,
    clock,
  })
  undo.defer(() => service.stop())
  chain.follow(() => service.runJobs())
  openLinksInChat(service.server, BOT_USERNAME, `${url}/chat`)
  serveWallet(service.server, rpc.url)
  await service.start()
  // The rounds before the start are judged first, so that the first look at the service finds it well.
  await waitWhile(async () => !(await isWell(service)), signal)
  signal?.throwIfAborted()

  const parts: WorldParts = {
    url,
    service: {
      publicUrl: config.publicUrl,
      internalUrl: `http://127.0.0.1:${ports.internalPort}`,
    },
    database: new URL(database.url).host,
    clock,
    devnet,
    simulation,
    xrpl,
    topups: createTopupPayer({ sql: service.sql, publicUrl: config.publicUrl, devnet, xrpl }),
    rpc,
    telegram,
    telegramAccounts: addTelegramAccounts(telegram),
    inbox,
    receiver,
    hooks,
    skip: createSkip({ clock, simulation, rpc, sql: service.sql }),
  }
  const keepingUp = new AbortController()
  const upToDate = simulation.keepUp(clock, keepingUp.signal, (error) =>
    log.warn({ err: error }, 'simulated data providers failed; they are tried again'),
  )
  undo.defer(async () => {
    keepingUp.abort()
    await upToDate
  })
  await keep(startWeb(parts, ports.port))
  signal?.throwIfAborted()
  return parts
}

/** Coins of the account that sends the payments of calls. */
const SETTLEMENT_WEI = 100n * 10n ** 18n

/** Gives coins to a new account. @returns its private key */
async function fundSettlement(devnet: DevnetWithContracts): Promise<`0x${string}`> {
  const key = generatePrivateKey()
  await devnet.setBalance(privateKeyToAccount(key).address, SETTLEMENT_WEI)
  return key
}

/**
 * Creates the function that advances the time. Concurrent calls run one after another.
 *
 * Time passes too fast for the service to follow, which it would report as an outage. So it gets no new block
 * meanwhile, and then some time to read what happened.
 */
function createSkip({
  clock,
  simulation,
  rpc,
  sql,
}: Pick<WorldParts, 'clock' | 'simulation' | 'rpc'> & Pick<Service, 'sql'>): WorldParts['skip'] {
  const inTurn = createTaskQueue()
  return (choose) =>
    inTurn(async () => {
      // The lease of what is being sent would end, and it would be sent again.
      await waitWhile(() => isSending(sql, clock.now()))
      const now = clock.now()
      const seconds = choose(now)
      const to = Math.ceil(now.getTime() / 1000) + seconds
      const release = rpc.hold()
      // An endpoint that does not answer for longer would be taken for one that is out of order.
      const limit = setTimeout(release, HOLD_MS_MAX)
      try {
        if (seconds > FULL_SECONDS) await simulation.playTo(to - FULL_END_SECONDS)
        await simulation.playTo(to, { inFull: true })
      } finally {
        clearTimeout(limit)
        release()
      }
      const reached = clock.now()
      await waitWhile(async () => !(await hasFollowed(sql, reached)))
    })
}

/** Waits while something is so, at most `FOLLOW_MS_MAX`. */
async function waitWhile(isSo: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  const limitMs = performance.now() + FOLLOW_MS_MAX
  while (performance.now() < limitMs && signal?.aborted !== true && (await isSo())) await wait(50)
}

/** Whether rounds were judged, and nothing is wrong. */
async function isWell({ internal, sql }: Service): Promise<boolean> {
  const judged = await sql`
    select from observation_cursors where type = 'provider-fsp' and block_number is not null`
  if (judged.length === 0) return false
  const { payload } = await internal.inject('/readyz')
  return JSON.parse(payload).status === 'ok'
}

/** Whether a delivery is in hand. */
async function isSending(sql: Service['sql'], now: Date): Promise<boolean> {
  const rows = await sql`
    select from deliveries
    where status in ('pending', 'retrying') and leased_until > ${now} limit 1`
  return rows.length > 0
}

/** Whether the newest block and every wallet were read at a time or later, and no look has found them missing since. */
async function hasFollowed(sql: Service['sql'], time: Date): Promise<boolean> {
  const rows = await sql`
    select from observation_cursors
    where (type = 'chain' and checked_at < ${time})
      or (type = 'wallet-balance' and (observed_at < ${time} or failing_since is not null))`
  return rows.length === 0
}

async function startDatabase(
  { log: logger, databaseUrl }: WorldOptions,
  undo: AsyncDisposableStack,
): Promise<{ readonly url: string }> {
  if (databaseUrl !== undefined) return { url: databaseUrl }
  const dir = await makeDataDir()
  undo.defer(() => dir.remove())
  const database = await startEmbedded({ dataDir: dir.path, logger, durable: false })
  undo.defer(() => database.stop())
  return database
}

async function startChain(
  { anvilPath }: WorldOptions,
  clock: WorldClock,
  keep: <T extends { close(): Promise<void> }>(starting: Promise<T>) => Promise<T>,
): Promise<{
  readonly devnet: DevnetWithContracts
  readonly simulation: ProviderSimulation
  readonly rpc: RpcProxy
  /** Calls a function after each simulation, which skips time. */
  follow(onRest: () => void): void
}> {
  const devnet = await keep(
    startDevnet({
      blockTimeSeconds: BLOCK_TIME_SECONDS,
      contracts: true,
      startsAt: new Date(clock.now().getTime() - PAST_MS),
      ...(anvilPath === undefined ? {} : { anvilPath }),
    }),
  )
  let rest: (() => void) | undefined
  const simulation = await createProviderSimulation(devnet, {
    providers: PROVIDERS.map((name) => ({ name })),
    // The world's clock follows the chain's during simulations.
    onTime: (seconds) => clock.moveTo(new Date(seconds * 1000)),
    onRest: () => rest?.(),
  })
  await simulation.playTo(Math.floor(clock.now().getTime() / 1000), { inFull: true })
  // The service reads up to the second-newest block, which must contain the chain's initial state.
  await devnet.mine()
  return {
    devnet,
    simulation,
    rpc: await keep(startRpcProxy(devnet.rpcUrl)),
    follow: (onRest) => {
      rest = onRest
    },
  }
}

/** Chooses the ports before anything is started, so that a taken port is reported at once. */
async function choosePorts(options: WorldOptions) {
  const choose = async (name: keyof typeof USUAL_PORTS) => {
    const named = options[name]
    if (named !== undefined && named !== 0) {
      await requireFreePort(named)
      return named
    }
    return findPort(options.port === 0 ? undefined : USUAL_PORTS[name])
  }
  return {
    port: await choose('port'),
    servicePort: await choose('servicePort'),
    internalPort: await choose('internalPort'),
  }
}
