import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Inbox, startMailServer } from '#sandbox/inbox.ts'
import { XRPL_DEPOSIT_ADDRESS } from '#sandbox/xrpl.ts'
import { proveLedger } from '#src/billing/account/proof.ts'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { migrate } from '#src/db/migrate.ts'
import { retain } from '#src/jobs/retain.ts'
import { runOnceBeforeStart } from '#src/jobs/runner.ts'
import { createApi } from '#src/telegram/api.ts'
import { provedLedger } from '../billing/callers.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { giveCredits } from '../support/credits.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { deliverAll } from '../support/deliver-all.ts'
import { BOT_TOKEN } from '../support/harness.ts'
import { request } from '../support/people.ts'
import { FIRST_RELEASE, MIGRATIONS, startFrom } from '../support/releases.ts'

// Migrates a database of the first release, and runs the current service on it.

/** Dump of the database of the first release. */
const FILE = join(import.meta.dirname, 'first-release.sql')
/** Time of the dump. */
const STOPPED_AT = new Date('2026-11-20T12:05:35.000Z')
/** Chat that is linked to Alice's wallet. */
const ALICE_CHAT = 700000001
/** Chat in which connecting a wallet was begun. */
const EVE_CHAT = 700000003
/** Message in Alice's chat with an alert. */
const ALERT_MESSAGE = 14
/** Message in Alice's chat with the draft of a watch. */
const WIZARD_MESSAGE = 24
/** Number of the last update that the first release received. */
const LAST_UPDATE = 501000018
/** Codes and a token that the first release issued, for this database only. Not secrets. */
const LINK_CODE = 'SOf8nag18uHn5wUu7tSCMg'
const OTHER_CODE = 'ntkjIGry57BC_LZG31JWow'
const CONNECT_CODE = 'D8C2rNhmuj74bjlb3tZSEQ'
const TOKEN = 'fwd_Php5egGfXqTmgzzstrqlEtLEcVTtXWnTWQSAoZNrfNG1jPTs0'
const TOPUP_KEY = 'first-release-1'
/** Open alert of a paused watch. The first release never closed it; the migration does. */
const PAUSED_ALERT_ID = 5

type Row = Readonly<Record<string, unknown>>

let world: BotWorld
let fresh: FreshDatabase
let inbox: Inbox
let before: ReadonlyMap<string, readonly Row[]>
let alice: TestChat

beforeAll(async () => {
  inbox = await startMailServer()
  fresh = await freshDatabase()
  world = await botWorld({
    PUBLIC_URL: 'https://watchdog.example.org',
    SMTP_URL: inbox.url,
    EMAIL_FROM: 'Watchdog <watchdog@example.org>',
    XRPL_RPC_URL: 'http://127.0.0.1:1',
    XRPL_DEPOSIT_ADDRESS,
  })
  world.clock.set(STOPPED_AT)
  const { sql, telegram } = world
  await startFrom(sql, FIRST_RELEASE)
  await sql.unsafe(await readFile(FILE, 'utf8'))
  before = await contents()
  await migrate(sql, MIGRATIONS)
  // The chat must have the messages whose ids are in the dump.
  telegram.person({ id: ALICE_CHAT, firstName: 'Ann', languageCode: 'en', started: true })
  telegram.person({ id: EVE_CHAT, firstName: 'Eve', languageCode: 'en', started: true })
  const api = createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, 30)
  for (let id = 0; id < 30; ) id = (await api.sendMessage(ALICE_CHAT, 'as it was')).message_id
  // Telegram must number new updates after those of the dump; the bot ignores numbers that it knows.
  for (let id = 0; id < LAST_UPDATE; ) id = telegram.send(EVE_CHAT, 'before').updateId ?? 0
  alice = world.chat(ALICE_CHAT)
}, 60_000)
afterAll(async () => {
  await world.close()
  await Promise.all([inbox.close(), fresh.drop()])
})

async function tablesOf(sql: FreshDatabase['sql']): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by 1`
  return rows.map(({ name }) => name)
}

/** Every row of every table, as JSON. */
async function contents(): Promise<ReadonlyMap<string, readonly Row[]>> {
  const { sql } = world
  const tables = await tablesOf(sql)
  const rows = tables.map(async (name) => {
    const found = await sql<{ row: Row }[]>`
      select row_to_json(t) as row from ${sql(name)} t order by t::text collate "C"`
    return [name, found.map(({ row }) => row)] as const
  })
  return new Map(await Promise.all(rows))
}

/** A row with only the columns of another one, which the first release wrote. */
function sameColumns(row: Row, original: Row): Row {
  return Object.fromEntries(Object.keys(original).map((name) => [name, row[name]]))
}

const sorted = (rows: readonly Row[]) =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

async function deliver(): Promise<void> {
  await deliverAll(world.service.app)
}

test('every table of the first release had rows', () => {
  for (const [name, rows] of before) expect([name, rows.length > 0]).toEqual([name, true])
})

test('no row is lost or changed, except open alerts of paused watches, which are closed', async () => {
  const after = await contents()
  for (const [name, rows] of before) {
    const [first] = rows
    const kept = (after.get(name) ?? []).map((row) => sameColumns(row, first ?? {}))
    const isChanged = ({ id }: Row) => name === 'alerts' && id === PAUSED_ALERT_ID
    const unchanged = (all: readonly Row[]) => sorted(all.filter((row) => !isChanged(row)))
    expect([name, unchanged(kept)]).toEqual([name, unchanged(rows)])
    expect([name, kept.length]).toEqual([name, rows.length])
  }
  const closed = after.get('alerts')?.find(({ id }) => id === PAUSED_ALERT_ID)
  expect(closed).toMatchObject({ state: 'closed', remind_at: null, told_at: expect.any(String) })
})

test('a new column and a new table are filled: wallets of submissions, Telegram accounts that had a trial', async () => {
  const { sql } = world
  expect(await sql`select distinct wallet from topup_submissions`).toEqual([
    { wallet: walletOf('alice') },
  ])
  expect(await sql`select * from trial_accounts`).toEqual([
    { telegram_user_id: '700000002', wallet: walletOf('bob') },
  ])
})

test('the migrated schema is that of a new database', async () => {
  const schema = async ({ sql }: Pick<FreshDatabase, 'sql'>) => ({
    columns:
      await sql`select table_name, column_name, data_type, is_nullable, column_default, is_identity
      from information_schema.columns where table_schema = 'public' order by 1, 2`,
    indexes:
      await sql`select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1`,
    constraints: await sql`select conrelid::regclass::text as table, conname, convalidated,
        pg_get_constraintdef(oid) as definition
      from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2, 4`,
    sequences: await sql`select sequencename, data_type::text, increment_by, max_value
      from pg_sequences where schemaname = 'public' order by 1`,
  })
  expect(await schema(world)).toEqual(await schema(fresh))
})

test('the ledger adds up, and a failed renewal is repeated once there are credits', async () => {
  const { clock, sql } = world
  const { app } = world.service
  const proof = await proveLedger(app, new AbortController().signal)
  expect(proof).toMatchObject({ wrong: [], wallets: 3 })
  await giveCredits(app, walletOf('carol'), 10_000)
  const subscription = () =>
    sql`select status, term from subscriptions where wallet = ${walletOf('carol')}`
  expect(await subscription()).toEqual([{ status: 'grace', term: 1 }])
  clock.advance(86_400)
  await renewDueSubscriptions(app, new AbortController().signal)
  expect(await subscription()).toEqual([{ status: 'active', term: 2 }])
  clock.set(STOPPED_AT)
  for (const name of ['alice', 'bob', 'carol'] as const) {
    await provedLedger(app.db, clock, walletOf(name))
  }
})

test('an update that the first release stored is answered', async () => {
  const count = alice.all().length
  await world.settle()
  expect(
    alice
      .all()
      .slice(count)
      .map(({ text }) => text),
  ).toEqual([expect.stringContaining('Watchdog')])
})

test('a button under an alert of the first release acknowledges the alert', async () => {
  const press = world.telegram.pressRaw(ALICE_CHAT, ALERT_MESSAGE, '1:alert.ack:3')
  await world.settle()
  expect((await press.answer()).text).toContain('Acknowledged.')
  const [alert] = await world.sql`select state, acknowledged_by from alerts where id = 3`
  expect(alert).toEqual({ state: 'acknowledged', acknowledged_by: 'Ann' })
})

test('a draft begun in the first release continues at its step', async () => {
  const press = world.telegram.pressRaw(ALICE_CHAT, WIZARD_MESSAGE, '1:new.pick:v12r:0')
  await world.settle()
  await press.answer()
  expect(alice.all().find(({ id }) => id === WIZARD_MESSAGE)?.text).toContain('· 2/3')
})

test('a link code of the first release links a private chat; a code used in a group is spent and links nothing', async () => {
  const eve = world.chat(EVE_CHAT)
  await eve.say(`/start ${LINK_CODE}`)
  await eve.press('Link this chat')
  expect(eve.last().text).toContain('This chat is linked')
  const group = world.telegram.group({ title: 'Ops', members: [EVE_CHAT], admins: [EVE_CHAT] })
  world.telegram.addBot(group.id, { from: EVE_CHAT, payload: OTHER_CODE })
  await world.settle()
  expect(await world.sql`select 1 from recipients where chat_id = ${group.id}`).toEqual([])
  await eve.say(`/start ${OTHER_CODE}`)
  expect(eve.last().text).toContain('This link is no longer valid.')
})

test('a connect link of the first release opens its page', async () => {
  const page = await world.server.inject({ url: `/connect/${CONNECT_CODE}` })
  expect(page.statusCode).toBe(200)
  expect(page.body).toContain('\u2068Ann\u2069, private')
})

test('a token of the first release is valid, and its idempotency keys return the stored responses', async () => {
  const authorization = `Bearer ${TOKEN}`
  const account = await request(world, 'GET', '/account', undefined, { authorization })
  expect(account).toMatchObject({ status: 200, body: { wallet: walletOf('alice') } })
  const body = { asset: 'XRP', credits: 10_000 }
  const headers = { authorization, 'idempotency-key': TOPUP_KEY }
  const again = await request(world, 'POST', '/topup', body, headers)
  expect(again).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } })
  const [topup] =
    await world.sql`select asset, credits from topups where handle = ${again.body.handle}`
  expect(topup).toEqual({ asset: 'XRP', credits: '10000' })
})

test('deliveries that were pending or retrying in the first release are sent; held ones stay held', async () => {
  const { clock, sql } = world
  await runOnceBeforeStart(world.service.app, sql, retain)
  clock.advance(600)
  const count = alice.all().length
  await deliver()
  const notified = alice.all().slice(count)
  expect(notified.filter(({ text }) => text.includes('Reason: too late'))).toHaveLength(1)
  const subjects = inbox.mails
    .filter(({ to }) => to === 'ops@example.org')
    .map(({ subject }) => subject)
  expect(subjects).toEqual(expect.arrayContaining([expect.stringContaining('FTSO commit missing')]))
  const [states] = await sql`select
      count(*) filter (where status in ('pending', 'retrying'))::integer as waiting,
      count(*) filter (where status = 'held')::integer as held,
      count(*) filter (where status = 'failed')::integer as failed from deliveries
    where recipient_id <> 5`
  expect(states).toEqual({ waiting: 0, held: 4, failed: 1 })
})
