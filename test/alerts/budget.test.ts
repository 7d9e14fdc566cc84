import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { pruneBudgets } from '#src/alerts/notify/budget.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { deleteDeliveries } from '../support/deliveries.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

let world: AlertWorld
let watchId: number
let day = 0

const MOVED = 'wallet-balance.moved'
const LOW = 'credits.low-balance'

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  day += 2
  at('12:00')
  await world.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  const { version: _version, ...defaults } = DEFAULT_SETTINGS
  await world.change(defaults)
  await deleteDeliveries(world.app.db)
  await world.sql`delete from alert_budgets`
  watchId = await world.watch(`Watch ${day}`)
  world.forgetMessages()
})
afterEach(() => world.alice.request('DELETE', `/watches/${watchId}`))
afterAll(() => world.close())

function at(time: string, days = 0): void {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  world.clock.set(new Date(Date.UTC(2026, 11, day + days, hours, minutes)))
}
async function pass(): Promise<void> {
  await world.summarize()
  await world.deliver()
}
/** Raises `count` alerts, each of its own observation. */
async function flood(count: number, id = watchId): Promise<void> {
  for (let n = 0; n < count; n++) await world.record(id, { event: MOVED })
}
/** Raises one alert of a watch, and counts as many more as leave people this number in the hour. */
async function leave(count: number, id = watchId): Promise<void> {
  await flood(1, id)
  const counted = await world.sql`
    update alert_budgets set used = allowed - ${count}
    where watch_id = ${id} and allowed = 120 and used = 1 returning 1`
  expect(counted).toHaveLength(2)
}
/** Number of deliveries by channel and status. */
async function statuses(): Promise<Record<string, number>> {
  const rows = await world.sql<{ key: string; count: number }[]>`
    select channel || ' ' || status as key, count(*)::int as count from deliveries
    where kind <> 'notice' and not test and status in ('pending', 'throttled', 'held')
    group by 1 order by 1`
  return Object.fromEntries(rows.map(({ key, count }) => [key, count]))
}
const notices = () => world.inbox.mails.map(({ text }) => text)

test('sends people 120 alerts of a watch an hour, programs more, and records the rest', async () => {
  await flood(125)
  expect(await statuses()).toEqual({
    'email pending': 120,
    'email throttled': 5,
    'telegram pending': 120,
    'telegram throttled': 5,
    'webhook pending': 125,
  })
  const [newest] = await world.alerts('?limit=1')
  expect(newest?.deliveries).toMatchObject([
    { channel: 'email', status: 'throttled', attempts: 0, nextAttemptAt: null },
    { channel: 'webhook', status: 'pending' },
    { channel: 'telegram', status: 'throttled' },
  ])
})

test('sends webhooks 1,200 alerts of a watch an hour, without any message about it', async () => {
  await world.sql`
    insert into alert_budgets (watch_id, recipient_id, allowed, hours, started_at, used, throttled)
    select ${watchId}, id, 1200, 1, ${world.clock.now()}, 1199, 0 from recipients
    where channel = 'webhook'`
  await flood(3)
  expect(await statuses()).toMatchObject({ 'webhook pending': 1, 'webhook throttled': 2 })
  at('13:00')
  await pass()
  expect(world.hooks()).toEqual([MOVED])
})

test('a used-up budget is announced in one message; one summary an hour counts the alerts that were not sent', async () => {
  await leave(0)
  await flood(5)
  await deleteDeliveries(world.app.db, sql`kind <> 'notice'`)
  await pass()
  expect(notices()).toEqual([expect.stringContaining('at most 120 alerts an hour')])
  expect(world.chatTexts()).toEqual([expect.stringContaining(`Too many alerts: Watch ${day}`)])
  await flood(5)
  at('12:59')
  await pass()
  expect(notices()).toHaveLength(1)
  at('13:00')
  await Promise.all([world.summarize(), world.summarize()])
  await pass()
  expect(notices()).toHaveLength(2)
  expect(world.subjects()[1]).toContain('10 alerts were not sent')
  expect(world.chatTexts()[1]).toContain(`10 alerts were not sent: Watch ${day}`)
  // A flood that continues is not announced again; each hour has its summary.
  await leave(0)
  await flood(3)
  await deleteDeliveries(world.app.db, sql`kind <> 'notice'`)
  at('14:00')
  await pass()
  expect(notices()).toHaveLength(3)
  expect(world.subjects()[2]).toContain('3 alerts were not sent')
  at('20:00')
  await pass()
  expect(notices()).toHaveLength(3)
  await leave(0)
  await flood(1)
  await deleteDeliveries(world.app.db, sql`kind <> 'notice'`)
  await pass()
  expect(notices()[3]).toContain('at most 120 alerts an hour')
})

test('a used-up budget lets recoveries through, which name the time of the alert that was not sent', async () => {
  await leave(0)
  await world.record(watchId, { event: LOW })
  world.clock.advance(60)
  await world.record(watchId, { event: 'credits.recovered' })
  expect(await statuses()).toMatchObject({ 'email throttled': 1 })
  const [recovery] = await world.alerts('?limit=1')
  expect(recovery).toMatchObject({ event: 'credits.recovered' })
  expect(recovery?.deliveries.map(({ status }) => status)).toEqual([
    'pending',
    'pending',
    'pending',
  ])
  const [row] = await world.sql<{ body: string }[]>`
    select envelope -> 'message' ->> 'body' as body from deliveries
    where recovery and channel = 'email'`
  expect(row?.body).toContain('12:00')
})

test('each watch and recipient has a budget of its own', async () => {
  const other = await world.watch('Other')
  await leave(0)
  await flood(1)
  await flood(2, other)
  expect(await statuses()).toMatchObject({ 'email pending': 3, 'email throttled': 1 })
  await world.alice.request('DELETE', `/watches/${other}`)
})

test('deferred alerts use the budget, muted ones do not', async () => {
  await world.change({ digest: '1h' })
  await leave(2)
  await flood(3)
  expect(await statuses()).toMatchObject({ 'email held': 3, 'email throttled': 1 })
  await deleteDeliveries(world.app.db)
  await world.sql`delete from alert_budgets`
  const mutedUntil = new Date(world.clock.now().getTime() + 60_000).toISOString()
  await world.alice.request('PATCH', `/watches/${watchId}`, { mutedUntil })
  await flood(3)
  const [spent] = await world.sql<{ count: number }[]>`
    select count(*)::int as count from alert_budgets where allowed = 120`
  expect(spent?.count).toBe(0)
})

test('the budget is exact when thirteen transactions use it at the same time', async () => {
  await leave(30)
  await Promise.all(Array.from({ length: 13 }, () => flood(3)))
  expect(await statuses()).toMatchObject({ 'email pending': 31, 'email throttled': 9 })
  await deleteDeliveries(world.app.db, sql`kind <> 'notice'`)
  await pass()
  expect(notices()).toHaveLength(1)
})

test('a new budget begins with each hour', async () => {
  await leave(0)
  await flood(1)
  at('13:00')
  await leave(0)
  await flood(1)
  expect(await statuses()).toMatchObject({ 'email pending': 2, 'email throttled': 2 })
})

test('the summary of a used-up budget waits for the end of quiet hours, and counts until then', async () => {
  await world.change({
    quietHours: { enabled: true, from: '22:00', to: '07:00', criticalBypass: true },
  })
  at('21:30')
  await leave(0)
  await flood(2)
  await deleteDeliveries(world.app.db, sql`kind <> 'notice'`)
  await pass()
  world.forgetMessages()
  at('22:30')
  await pass()
  await leave(0)
  await flood(1)
  await deleteDeliveries(world.app.db, sql`kind <> 'notice'`)
  at('23:30')
  await pass()
  expect(notices()).toEqual([])
  at('07:00', 1)
  await pass()
  await pass()
  expect(world.subjects()).toEqual([expect.stringContaining('3 alerts were not sent')])
})

test('the count of a budget is deleted after hours without an alert, also if the watch was deleted', async () => {
  await leave(0)
  await flood(1)
  await world.alice.request('DELETE', `/watches/${watchId}`)
  at('15:01')
  await pass()
  await pruneBudgets(world.app)
  const [left] = await world.sql<{ count: number }[]>`
    select count(*)::int as count from alert_budgets`
  expect(left?.count).toBe(0)
})

test('a group never gets notices about credits', async () => {
  await world.sql`update recipients set chat_id = -chat_id where chat_id = ${world.chat}`
  await world.record(watchId, { event: LOW })
  await world.record(watchId, { event: MOVED })
  const channels = async () =>
    (await world.alerts('?limit=2')).map(({ event, deliveries }) => [
      event,
      deliveries.map(({ channel }) => channel),
    ])
  expect(await channels()).toEqual([
    [MOVED, ['email', 'webhook', 'telegram']],
    [LOW, ['email', 'webhook']],
  ])
  await world.sql`update recipients set chat_id = -chat_id where chat_id = ${-world.chat}`
})

test('a test message to a group shows no watch of credits, even if that is the newest watch', async () => {
  const example = async () => {
    const [row] = await world.sql<{ id: number }[]>`
      select id from recipients where channel = 'telegram'`
    await world.alice.request('POST', `/recipients/${row?.id}/test`)
    const [sent] = await world.sql<{ watchId: number | null; type: string }[]>`
      delete from delivery_queue where test
      returning watch_id as "watchId", envelope ->> 'type' as type`
    return sent
  }
  expect(await example()).toEqual({ watchId, type: 'credits-balance' })
  await world.sql`update recipients set chat_id = -chat_id where chat_id = ${world.chat}`
  expect(await example()).toEqual({ watchId: null, type: 'wallet-balance' })
  await world.sql`update recipients set chat_id = -chat_id where chat_id = ${-world.chat}`
})
