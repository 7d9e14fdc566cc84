import { sql } from 'drizzle-orm'
import { Api } from 'grammy'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  createProviderSimulation,
  type ProviderSimulation,
} from '#sandbox/devnet/provider-simulation.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { dropOldDeliveries } from '#src/delivery/retention.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { sendPictures } from '#src/jobs/send-pictures.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { drawPng } from '#src/pictures/png.ts'
import { drawProvider } from '#src/pictures/provider-picture.ts'
import { getProviderView } from '#src/watches/provider-view.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_TOKEN } from '../support/harness.ts'

/**
 * Where Telegram cannot fetch pictures: the one that follows an outage of a provider, and the one that follows its end.
 */

const DUTIES = ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote', 'fdc-signature']
const MINUTE = 60

let devnet: DevnetWithContracts
let simulation: ProviderSimulation
let world: BotWorld
let chat: TestChat
let alerts: ReturnType<typeof alertsIn>
let watchId = 0

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: new Date('2026-11-20T12:00:00Z') })
  let setClock = (_at: Date): void => undefined
  simulation = await createProviderSimulation(devnet, {
    providers: [{ name: 'Alpha' }, { name: 'Bravo' }],
    onTime: (seconds) => setClock(new Date(seconds * 1000)),
  })
  world = await botWorld({
    FLARE_RPC_URLS: devnet.rpcUrl,
    FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
    WEBHOOK_ALLOW_PRIVATE: 'false',
  })
  alerts = alertsIn(world)
  setClock = (at) => world.clock.set(at)
  await simulation.playRounds(4)
  await devnet.mine(2, 1)
  const { chain, confirmations, facts } = world.app
  const { signal } = new AbortController()
  await facts.rounds.advance(await chain.confirmedBlock(confirmations, signal), signal)
}, 60_000)

afterAll(async () => {
  await world.close()
  await devnet.close()
})

/** A chat with a watch of its own. */
beforeEach(async () => {
  chat = await world.linked('alice', ['read', 'write'])
  const [row] = await world.app.db.execute<{ id: number }>(
    sql`select max(id) as id from recipients`,
  )
  watchId = await world.addWatch('alice', {
    label: 'My Alpha',
    type: 'provider-fsp',
    target: { provider: provider() },
    settings: {},
    recipientIds: [row?.id ?? 0],
  })
})

const provider = () => simulation.provider('Alpha').accounts.identity.address
const fail = (...duties: readonly string[]) =>
  alerts.fire(
    watchId,
    ...duties.map((duty) => ({
      event: `fsp.${duty}`,
      severity: 'critical' as const,
      data: { provider: provider(), votingRoundId: 4, reason: 'missing', streak: 2 },
    })),
  )
async function recover(...duties: readonly string[]) {
  world.clock.advance(5 * MINUTE)
  await alerts.fire(
    watchId,
    ...duties.map((duty) => ({
      event: `fsp.${duty}.recovered`,
      data: { provider: provider(), votingRoundId: 8, missedRounds: 4, gapSeconds: 360 },
    })),
  )
}
const runJob = () =>
  sendPictures.run(world.service.app, new AbortController().signal, CHECK_EVERYTHING)
const pictures = () => chat.all().filter(({ file }) => file !== undefined)

test('is sent once after the alert, as a silent reply with its headline', async () => {
  await fail(...DUTIES)
  const alert = chat.last()
  expect(alert.text).toContain('has sent no votes since')
  expect(alert.linkPreview).toEqual({ is_disabled: true })
  expect(pictures()).toEqual([])
  await runJob()
  const [picture, ...more] = pictures()
  expect(more).toEqual([])
  expect(picture).toMatchObject({
    replyTo: alert.id,
    silent: true,
    file: { kind: 'photo', width: 1280 },
  })
  expect(picture?.text).toBe(alert.text.split('\n')[0])
  await runJob()
  expect(pictures()).toHaveLength(1)
})

test('has no time, because the time of the message is in the zone of the chat', async () => {
  await fail(...DUTIES)
  await runJob()
  const view = await getProviderView(world.app, { provider: provider(), rounds: 20 })
  const looks = { rounds: 20, palette: 'dark', name: 'My Alpha', locale: 'en' } as const
  const picture = Buffer.from(pictures()[0]?.file?.bytes ?? [])
  expect(picture.equals(await drawPng(drawProvider(view, looks)))).toBe(true)
})

test('is sent once for an outage, once for its end, and again for the next outage', async () => {
  await fail('ftso-commit')
  await runJob()
  expect(pictures()).toEqual([])
  // The second duty joins the message, which therefore is an outage.
  world.clock.advance(1)
  await fail('ftso-reveal')
  const alert = chat.last()
  await runJob()
  expect(pictures().map(({ replyTo }) => replyTo)).toEqual([alert.id])
  world.clock.advance(2 * MINUTE)
  await fail('fdc-bitvote', 'fdc-signature')
  await runJob()
  expect(pictures()).toHaveLength(1)

  await recover('ftso-commit', 'ftso-reveal')
  await recover('fdc-bitvote', 'fdc-signature')
  expect(chat.last().text).toContain('is healthy again')
  const healthy = chat.all().findLast(({ text }) => text.includes('is healthy again'))
  await runJob()
  expect(pictures().map(({ replyTo }) => replyTo)).toEqual([alert.id, healthy?.id])

  world.clock.advance(30 * MINUTE)
  await fail('ftso-commit', 'ftso-reveal')
  await runJob()
  expect(pictures()).toHaveLength(3)
})

test('the end of an outage has no picture if the outage had none', async () => {
  await fail('ftso-commit')
  world.clock.advance(MINUTE)
  await fail('ftso-reveal')
  await recover('ftso-commit', 'ftso-reveal')
  await runJob()
  expect(pictures()).toEqual([])
})

test.each<readonly [string, () => Promise<void>]>([
  ['a chat that was muted meanwhile', () => chat.say('/mute 1h')],
  [
    'a watch that was muted meanwhile',
    async () => {
      await world.app.db.execute(
        sql`update watches set muted_until = '2030-01-01', muted_since = created_at where id = ${watchId}`,
      )
    },
  ],
  [
    'a chat that stopped',
    async () => {
      await chat.say('/stop')
      await chat.press('Unlink this chat')
    },
  ],
  [
    'an alert of more than five minutes ago',
    async () => {
      world.clock.advance(6 * MINUTE)
    },
  ],
])('is never sent to %s', async (_, change) => {
  await fail(...DUTIES)
  await change()
  await runJob()
  expect(pictures()).toEqual([])
})

test('is not sent again if Telegram refuses it, and its alert is not affected', async () => {
  world.telegram.failNext({ method: 'sendPhoto' }, { error_code: 500, description: 'Internal' })
  await fail(...DUTIES)
  const count = chat.all().length
  await runJob()
  await runJob()
  expect(pictures()).toEqual([])
  expect(chat.all()).toHaveLength(count)
  expect(chat.last().text).toContain('has sent no votes since')
})

test('is not sent when its alert was deleted', async () => {
  await fail(...DUTIES)
  const api = new Api(BOT_TOKEN, { apiRoot: world.telegram.url })
  await api.deleteMessage(chat.id, chat.last().id)
  await runJob()
  expect(pictures()).toEqual([])
})

test('the records of pictures are deleted after 30 days', async () => {
  const count = async () => (await world.app.db.execute(sql`select 1 from outage_pictures`)).length
  await fail(...DUTIES)
  await runJob()
  expect(await count()).toBeGreaterThan(0)
  world.clock.advance(31 * DAY_SECONDS)
  await dropOldDeliveries(world.service.app)
  expect(await count()).toBe(0)
})
