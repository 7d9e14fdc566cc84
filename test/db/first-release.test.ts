import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Inbox, startInbox } from '#sandbox/inbox.ts'
import { XRPL_DEPOSIT_ADDRESS } from '#sandbox/xrpl.ts'
import { proveLedger } from '#src/billing/account/proof.ts'
import { renewDue } from '#src/billing/subscriptions/renewal.ts'
import { migrate } from '#src/db/migrate.ts'
import { retain } from '#src/jobs/retain.ts'
import { runFirst } from '#src/jobs/runner.ts'
import { createApi } from '#src/telegram/api.ts'
import { provedLedger } from '../billing/callers.ts'
import { type BotWorld, botWorld, type Chatting, walletOf } from '../support/bot.ts'
import { giveCredits } from '../support/credits.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { deliverAll } from '../support/deliver-all.ts'
import { BOT_TOKEN } from '../support/harness.ts'
import { request } from '../support/people.ts'
import { FIRST_RELEASE, MIGRATIONS, startFrom } from '../support/releases.ts'

/** A database that the first release had filled, and the service of today over it. */

const FILE = join(import.meta.dirname, 'first-release.sql')
/** Time at which that release stopped. */
const STOPPED_AT = new Date('2026-11-20T12:05:35.000Z')
/** Alice's chat, a chat that began to connect a wallet, and messages in the first of them. */
const ALICE_CHAT = 700000001
const EVE_CHAT = 700000003
const ALERT_MESSAGE = 14
const WIZARD_MESSAGE = 24
const LAST_UPDATE = 501000018
/** Links and codes that users have: made by that release, for this database only. */
const LINK_CODE = 'SOf8nag18uHn5wUu7tSCMg'
const OTHER_CODE = 'ntkjIGry57BC_LZG31JWow'
const CONNECT_CODE = 'D8C2rNhmuj74bjlb3tZSEQ'
const TOKEN = 'fwd_Php5egGfXqTmgzzstrqlEtLEcVTtXWnTWQSAoZNrfNG1jPTs0'
const TOPUP_KEY = 'first-release-1'
/** The alert of a watch that was paused, which could not recover any more. */
const OF_PAUSED = 5

type Row = Readonly<Record<string, unknown>>

let world: BotWorld
let fresh: FreshDatabase
let inbox: Inbox
let before: ReadonlyMap<string, readonly Row[]>
let alice: Chatting

beforeAll(async () => {
  inbox = await startInbox()
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
  // The messages of that release in the chat.
  telegram.person({ id: ALICE_CHAT, firstName: 'Ann', languageCode: 'en', started: true })
  telegram.person({ id: EVE_CHAT, firstName: 'Eve', languageCode: 'en', started: true })
  const api = createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, 30)
  for (let id = 0; id < 30; ) id = (await api.sendMessage(ALICE_CHAT, 'as it was')).message_id
  // Telegram had numbered updates up to this one; the bot knows them.
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

/** Every row of every table, as PostgreSQL writes it. */
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

/** The columns of a row that the first release had. */
function sameColumns(row: Row, of: Row): Row {
  return Object.fromEntries(Object.keys(of).map((name) => [name, row[name]]))
}

const sorted = (rows: readonly Row[]) =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

async function deliver(): Promise<void> {
  await deliverAll(world.service.app)
}

test('every table of the first release had rows', () => {
  for (const [name, rows] of before) expect([name, rows.length > 0]).toEqual([name, true])
})

test('no row is lost or changed, except alerts that nothing could have ended', async () => {
  const after = await contents()
  for (const [name, rows] of before) {
    const [first] = rows
    const kept = (after.get(name) ?? []).map((row) => sameColumns(row, first ?? {}))
    const isChanged = ({ id }: Row) => name === 'alerts' && id === OF_PAUSED
    const unchanged = (all: readonly Row[]) => sorted(all.filter((row) => !isChanged(row)))
    expect([name, unchanged(kept)]).toEqual([name, unchanged(rows)])
    expect([name, kept.length]).toEqual([name, rows.length])
  }
  const closed = after.get('alerts')?.find(({ id }) => id === OF_PAUSED)
  expect(closed).toMatchObject({ state: 'closed', remind_at: null, told_at: expect.any(String) })
})

test('what is new is filled in: wallets of submissions, Telegram accounts that had a trial', async () => {
  const { sql } = world
  expect(await sql`select distinct wallet from topup_submissions`).toEqual([
    { wallet: walletOf('alice') },
  ])
  expect(await sql`select * from trial_accounts`).toEqual([
    { telegram_user_id: '700000002', wallet: walletOf('bob') },
  ])
})

test('the schema is that of a new database', async () => {
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

test('the ledger adds up, and a renewal that failed is made up for', async () => {
  const { clock, sql } = world
  const { app } = world.service
  const proof = await proveLedger(app, new AbortController().signal)
  expect(proof).toMatchObject({ wrong: [], wallets: 3 })
  await giveCredits(app, walletOf('carol'), 10_000)
  const grace = () =>
    sql`select status, term from subscriptions where wallet = ${walletOf('carol')}`
  expect(await grace()).toEqual([{ status: 'grace', term: 1 }])
  clock.advance(86_400)
  await renewDue(app, new AbortController().signal)
  expect(await grace()).toEqual([{ status: 'active', term: 2 }])
  clock.set(STOPPED_AT)
  for (const name of ['alice', 'bob', 'carol'] as const) {
    await provedLedger(app.db, clock, walletOf(name))
  }
})

test('an update that came in before is answered', async () => {
  const count = alice.all().length
  await world.settle()
  expect(
    alice
      .all()
      .slice(count)
      .map(({ text }) => text),
  ).toEqual([expect.stringContaining('Watchdog')])
})

test('a button under an old alert acknowledges it', async () => {
  const press = world.telegram.pressRaw(ALICE_CHAT, ALERT_MESSAGE, '1:alert.ack:3')
  await world.settle()
  expect((await press.answer()).text).toContain('Acknowledged.')
  const [alert] = await world.sql`select state, acknowledged_by from alerts where id = 3`
  expect(alert).toEqual({ state: 'acknowledged', acknowledged_by: 'Ann' })
})

test('a conversation continues where it stopped', async () => {
  const press = world.telegram.pressRaw(ALICE_CHAT, WIZARD_MESSAGE, '1:new.pick:v12r:0')
  await world.settle()
  await press.answer()
  expect(alice.all().find(({ id }) => id === WIZARD_MESSAGE)?.text).toContain('· 2/3')
})

test('an old link code links a private chat; a group uses it up without being linked', async () => {
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

test('an old page to connect a wallet opens', async () => {
  const page = await world.server.inject({ url: `/connect/${CONNECT_CODE}` })
  expect(page.statusCode).toBe(200)
  expect(page.body).toContain('\u2068Ann\u2069, private')
})

test('an old token is valid, and its idempotency keys still return the stored answers', async () => {
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

test('waiting deliveries are sent as that release wrote them, deferred ones at their time', async () => {
  const { clock, sql } = world
  await runFirst(world.service.app, sql, retain)
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
