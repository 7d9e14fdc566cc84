import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createProviderSimulation,
  type ProviderSimulation,
} from '#sandbox/devnet/provider-simulation.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { type ProtocolData, startProtocolData } from '#sandbox/world/protocol-data.ts'
import { packed } from '#src/actions/codec.ts'
import { pruneFollowers } from '#src/alerts/followers/followers.ts'
import { recordAlerts } from '#src/alerts/service.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { followersWallet } from '#src/kernel/followers.ts'
import { deleteChatData } from '#src/operations/chat/chat.ts'
import { follow, unfollow } from '#src/operations/chat/follow.ts'
import { refreshStats } from '#src/operations/figures/figures.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { RATE_CLASSES } from '#src/operations/gate/limits.ts'
import { watchStart } from '#src/telegram/links.ts'
import { candidatesOf } from '../support/alert-candidates.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { deliverAll } from '../support/deliver-all.ts'

/** A private chat follows a data provider, free and without a wallet. */

const AT = new Date('2026-11-20T12:00:00Z')

let devnet: DevnetWithContracts
let simulation: ProviderSimulation
let data: ProtocolData
let world: BotWorld

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: AT })
  let setClock = (_at: Date): void => undefined
  simulation = await createProviderSimulation(devnet, {
    providers: [{ name: 'Anchor', stake: 3_000_000_000 }, { name: 'Alpha' }, { name: 'Bravo' }],
    onTime: (seconds) => setClock(new Date(seconds * 1000)),
  })
  data = await startProtocolData({ simulation, clock: { now: () => world.clock.now() } })
  world = await botWorld({
    FLARE_RPC_URLS: devnet.rpcUrl,
    FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
    PROVIDER_DATASET_URL: data.passesUrl,
    PUBLIC_URL: 'https://watchdog.example.org',
  })
  setClock = (at) => world.clock.set(at)
  await simulation.playRounds(5)
  await readRounds()
}, 60_000)

afterAll(async () => {
  await world.close()
  await data.close()
  await devnet.close()
})

/** Reads the chain's new rounds. */
async function readRounds(): Promise<void> {
  const { app } = world
  const { signal } = new AbortController()
  await devnet.mine(2, 1)
  const tip = await app.chain.confirmedBlock(app.confirmations, signal)
  await app.facts.publications.fetch(tip, signal)
  await app.facts.rounds.advance(tip, signal)
}

/** Sends the recorded alerts, which wait a few seconds for one another. */
async function deliver(): Promise<void> {
  await deliverAll(world.service.app)
  world.clock.advance(6)
  await deliverAll(world.service.app)
}

const identity = (name: string) => simulation.provider(name).accounts.identity.address
const startOf = (name: string) => `/start ${watchStart('provider-fsp', identity(name))}`

async function follower(name: string, languageCode = 'en'): Promise<TestChat> {
  const chat = world.person(languageCode)
  await chat.say(startOf(name))
  await chat.press(packed('follow.on', { address: identity(name) }))
  return chat
}

const rows = async () =>
  await world.app.db.execute<{ chatId: string; follows: string }>(sql`
    select chat_id as "chatId", follows from recipients where follows is not null order by id`)
const followsOf = async (chat: TestChat) =>
  (await rows()).filter(({ chatId }) => Number(chatId) === chat.id).map(({ follows }) => follows)
const watchesOf = async (name: string) =>
  (
    await world.app.db.execute(
      sql`select 1 from watches where wallet = ${followersWallet(identity(name))}`,
    )
  ).length
/** Texts that arrived after the screens of the bot. */
const alertsIn = (chat: TestChat) =>
  chat.all().filter(({ keyboard }) => keyboard.flat()[0]?.text === 'Watch all signals')

async function endAll(): Promise<void> {
  for (const { chatId } of await rows()) await world.chat(Number(chatId)).say('/stop')
}

describe('a stranger who comes from the page of a provider', () => {
  test('is greeted with its name, its state and the price of a watch, and may follow it free', async () => {
    const chat = world.person()
    await chat.say(startOf('Alpha'))
    const { text } = chat.last()
    expect(text).toContain(`Alpha\u2069 · ${identity('Alpha')}`)
    expect(text).toContain('Last 20 rounds')
    expect(text).toContain(
      'To watch \u2068Alpha\u2069, connect a wallet: a signature, free for 14 days. Then 0.50\u00a0USD a month.',
    )
    expect(text).toContain('Or follow \u2068Alpha\u2069 free and without a wallet')
    expect(chat.labels()).toEqual([['Follow', 'Watch…'], ['‹ Menu']])
    await chat.press('Follow')
    expect(chat.last().text).toContain('You now follow \u2068Alpha\u2069.')
    expect(chat.labels()).toEqual([['Unfollow', 'Watch…'], ['‹ Menu']])
    await chat.press('Unfollow')
    expect(chat.last().text).toContain('You no longer follow \u2068Alpha\u2069.')
    expect(await followsOf(chat)).toEqual([])
    expect(await watchesOf('Alpha')).toBe(0)
  })

  test('gets the page to connect a wallet from Watch…', async () => {
    const chat = world.person()
    await chat.say(startOf('Alpha'))
    await chat.press('Watch…')
    expect(chat.last().text).toContain('Connect your wallet')
  })

  test('may follow a provider that a name or a shared link shows', async () => {
    const chat = world.person()
    await chat.say('bravo')
    await chat.press('Follow')
    expect(await followsOf(chat)).toEqual([identity('Bravo')])
    const other = world.person()
    await other.say(`/start p${identity('Bravo').slice(2).toLowerCase()}`)
    await other.press('Follow')
    expect(await followsOf(other)).toEqual([identity('Bravo')])
    // One watch for both.
    expect(await watchesOf('Bravo')).toBe(1)
    await endAll()
    expect(await watchesOf('Bravo')).toBe(0)
  })
})

describe('following', () => {
  test('another provider replaces the first one, and the watch of a provider that nobody follows ends', async () => {
    const chat = await follower('Alpha')
    await chat.say(startOf('Bravo'))
    await chat.press('Follow')
    expect(chat.last().text).toContain('You now follow \u2068Bravo\u2069.')
    expect(chat.last().text).toContain('You no longer follow \u2068Alpha\u2069: a chat follows one')
    expect(await followsOf(chat)).toEqual([identity('Bravo')])
    expect([await watchesOf('Alpha'), await watchesOf('Bravo')]).toEqual([0, 1])
    await endAll()
  })

  test('stores nothing of the person but the chat and its language', async () => {
    const chat = await follower('Alpha', 'de')
    const [row] = await world.app.db.execute(sql`
      select wallet, name, target, locale, timezone, chat_scopes, linked_by, follows from recipients
      where chat_id = ${chat.id}`)
    expect(row).toEqual({
      wallet: followersWallet(identity('Alpha')),
      ...{ name: 'Alpha', target: `chat …${String(chat.id).slice(-4)}`, locale: 'de' },
      ...{ timezone: 'UTC', chat_scopes: null, linked_by: null, follows: identity('Alpha') },
    })
    const accounts = await world.app.db.execute(
      sql`select 1 from accounts where wallet = ${followersWallet(identity('Alpha'))}`,
    )
    expect(accounts).toEqual([])
    await endAll()
  })

  test('needs no slot, gives the chat no wallet, and is no watch in the public figures', async () => {
    const before = await refreshStats(world.app)
    const chat = await follower('Alpha')
    expect((await refreshStats(world.app)).watchesActive).toBe(before.watchesActive)
    await chat.say('/watches')
    expect(chat.labels().flat()).toContain('Connect wallet')
    await endAll()
  })

  test('is limited to ten changes a day for an account', async () => {
    const chat = world.person()
    const body = { chatId: chat.id, locale: 'en', provider: identity('Alpha') }
    const limitKey = `telegram ${chat.id}`
    for (let count = 0; count < RATE_CLASSES.follow.requests; count += 1) {
      await invoke(world.app, follow, undefined, { body, limitKey })
    }
    await expect(invoke(world.app, follow, undefined, { body, limitKey })).rejects.toMatchObject({
      kind: 'rate_limited',
    })
    await invoke(world.app, unfollow, undefined, { body: { chatId: chat.id } })
    expect(await followsOf(chat)).toEqual([])
  })

  test('of an address that is no provider is refused', async () => {
    const chat = world.person()
    await chat.say('/start')
    const provider = '0x00000000000000000000000000000000000000A1'
    const body = { chatId: chat.id, locale: 'en', provider }
    await expect(invoke(world.app, follow, undefined, { body })).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await followsOf(chat)).toEqual([])
  })

  test('ends with /stop, with the deletion of all data, and when the chat blocks the bot', async () => {
    const stopped = await follower('Alpha')
    await stopped.say('/stop')
    expect(stopped.last().text).toContain('You no longer follow \u2068Alpha\u2069.')
    const deleted = await follower('Alpha')
    const who = { chatId: deleted.id, personId: deleted.id, name: 'Ann' }
    await invoke(world.app, deleteChatData, undefined, { body: who })
    const worded = await follower('Alpha')
    await worded.say('stop')
    expect(worded.last().text).toContain('You no longer follow \u2068Alpha\u2069.')
    const blocked = await follower('Alpha')
    world.telegram.block(blocked.id)
    await world.settle()
    // Who comes back follows nothing.
    world.telegram.unblock(blocked.id)
    await world.settle()
    await blocked.say(startOf('Alpha'))
    expect(blocked.labels()[0]).toEqual(['Follow', 'Watch…'])
    await pruneFollowers(world.app)
    expect(await rows()).toEqual([])
    expect(await watchesOf('Alpha')).toBe(0)
  })
})

/** Records an alert or a recovery of the watch of a provider's followers, and sends it. */
async function fire(name: string, event: string, severity: Severity): Promise<void> {
  const { app, clock } = world
  const wallet = followersWallet(identity(name))
  const [watch] = await app.db.execute<{ id: number }>(
    sql`select id from watches where wallet = ${wallet}`,
  )
  position += 1
  clock.advance(60)
  await app.db.transaction(async (tx) => {
    const isRecovery = event.endsWith('.recovered')
    const all = [
      { event, severity: isRecovery ? 'info' : severity, episodeSeverity: severity } as const,
    ]
    const at = { position, firedAt: clock.now() }
    await recordAlerts(app, tx, await candidatesOf(tx, watch?.id ?? 0, all, at))
  })
}
let position = 0

test('followers hear of the beginning and the end of critical alerts, each in their language', async () => {
  const first = await follower('Alpha')
  const second = await follower('Alpha', 'de')
  const other = await follower('Bravo')
  await fire('Alpha', 'fsp.ftso-reveal', 'warning')
  await deliver()
  expect(alertsIn(first)).toEqual([])
  await fire('Alpha', 'fsp.ftso-reveal', 'critical')
  await deliver()
  expect(alertsIn(first)).toHaveLength(1)
  const [alert] = alertsIn(first)
  expect(alert?.text).toMatch(/^🔴 \u2068Alpha\u2069: FTSO reveal too late/)
  expect(alert?.keyboard.map((row) => row.map(({ text }) => text))).toEqual([['Watch all signals']])
  expect(second.last().text).toMatch(/^🔴 \u2068Alpha\u2069: FTSO-Reveal/)
  expect(
    second
      .last()
      .keyboard.flat()
      .map(({ text }) => text),
  ).toEqual(['Alle Signale überwachen'])
  expect(alertsIn(other)).toEqual([])
  // The button leads to the full watch, and the alert stays.
  await first.press('Watch all signals')
  expect(first.last().text).toContain('Connect your wallet')
  expect(alertsIn(first)).toHaveLength(1)

  await fire('Alpha', 'fsp.ftso-reveal.recovered', 'critical')
  await deliver()
  expect(first.last().text).toMatch(/^🟢 \u2068Alpha\u2069/)
  expect(second.last().text).toMatch(/^🟢 \u2068Alpha\u2069/)
  expect(alertsIn(other)).toEqual([])
  await endAll()
})

test('a warning and its end, and missing data of the service, reach no follower', async () => {
  const chat = await follower('Alpha')
  await fire('Alpha', 'fsp.ftso-commit', 'warning')
  await fire('Alpha', 'fsp.ftso-commit.recovered', 'warning')
  await fire('Alpha', 'fsp.monitoring', 'critical')
  await fire('Alpha', 'fsp.monitoring.recovered', 'critical')
  await deliver()
  expect(alertsIn(chat)).toEqual([])
  await endAll()
})

test('a follower gets thirty alerts a day at most, hears of the limit once, and of all ends', async () => {
  const chat = await follower('Alpha')
  for (let count = 1; count <= 32; count += 1) {
    await fire('Alpha', 'fsp.fast-updates', 'critical')
    await fire('Alpha', 'fsp.fast-updates.recovered', 'critical')
    world.clock.advance(600)
  }
  const wallet = followersWallet(identity('Alpha'))
  const mine = sql`wallet = ${wallet}
    and recipient_id = (select id from recipients where chat_id = ${chat.id})`
  const statuses = await world.app.db.execute(sql`
    select status, recovery, count(*)::int as n from deliveries where ${mine} and kind = 'alert'
    group by status, recovery order by recovery, status`)
  expect(statuses).toEqual([
    { status: 'pending', recovery: false, n: 30 },
    { status: 'throttled', recovery: false, n: 2 },
    { status: 'pending', recovery: true, n: 32 },
  ])
  const announced = await world.app.db.execute<{ body: string }>(sql`
    select envelope -> 'message' ->> 'body' as body from deliveries
    where ${mine} and kind = 'notice'`)
  expect(announced.map(({ body }) => body)).toEqual([
    'A chat that follows a provider gets at most 30 alerts in 24 hours. Further alerts in this time are recorded but not sent; recoveries are still sent.',
  ])
  await endAll()
})
