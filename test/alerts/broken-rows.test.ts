import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { deleteDeliveries } from '../support/deliveries.ts'
import { signIn } from '../support/people.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

let world: AlertWorld
let watchId: number
let day = 0

const LOW = 'credits.low-balance'
const NIGHT = { enabled: true, from: '22:00', to: '07:00', criticalBypass: true }

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  day += 2
  setTime('12:00')
  await world.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  const { version: _version, ...defaults } = DEFAULT_SETTINGS
  await world.change(defaults)
  await world.sql`update alerts set state = 'recovered', recovered_at = fired_at, remind_at = null`
  await deleteDeliveries(world.app.db, sql`status in ('held', 'pending')`)
  watchId = await world.watch(`Watch ${day}`)
  world.forgetMessages()
})
afterEach(async () => {
  const { body } = await world.alice.request('GET', '/watches')
  for (const { id } of body.data) await world.alice.request('DELETE', `/watches/${id}`)
})
afterAll(() => world.close())

function setTime(time: string, days = 0): void {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  world.clock.set(new Date(Date.UTC(2026, 11, day + days, hours, minutes, 5)))
}
async function runJobs(): Promise<void> {
  await world.remind()
  await world.summarize()
  await world.deliver()
}
const quarantined = (kind: string) =>
  world.app.quarantine.read().find((row) => row.kind === kind)?.rows ?? 0

test.each([
  [
    'its event no longer exists',
    () => world.sql`
    update alerts set event = 'fsp.renamed' where id = (select max(id) from alerts)`,
  ],
  [
    'a value in its data has the wrong type',
    () => world.sql`
    update alerts set data = '{"balanceCredits":"x"}' where id = (select max(id) from alerts)`,
  ],
  [
    'its data is not an object',
    () => world.sql`
    update alerts set data = '7' where id = (select max(id) from alerts)`,
  ],
  [
    'its severity is unknown',
    () => world.sql`
    update alerts set severity = 'x' where id = (select max(id) from alerts)`,
  ],
])('an unreadable alert does not prevent reminders of other alerts: %s', async (_reason, makeUnreadable) => {
  const other = await world.watch('Other')
  await world.record(watchId, { event: LOW, severity: 'critical' })
  await runJobs()
  await makeUnreadable()
  await world.record(other, { event: LOW, severity: 'critical' })
  await runJobs()
  world.forgetMessages()
  const before = quarantined('alert')
  setTime('12:16')
  await runJobs()
  expect(world.chatTexts()).toEqual([expect.stringMatching(/^🔴 Other: .* · not resolved\n/)])
  expect(quarantined('alert')).toBe(before + 1)
})

test('when a mute ends, an unreadable alert does not prevent messages about the others', async () => {
  const other = await world.watch('Other')
  for (const id of [watchId, other]) {
    const mutedUntil = new Date(world.clock.now().getTime() + 3_600_000).toISOString()
    await world.alice.request('PATCH', `/watches/${id}`, { mutedUntil })
    await world.record(id, { event: LOW })
    if (id === watchId)
      await world.sql`update alerts set event = 'fsp.renamed' where watch_id = ${id}`
  }
  setTime('13:01')
  await runJobs()
  expect(world.chatTexts()).toEqual([expect.stringContaining('Other')])
  const { body } = await world.alice.request('GET', `/watches/${watchId}`)
  expect(body.mutedUntil).toBeNull()
})

test('a recovery is sent even if its alert has become unreadable', async () => {
  await world.record(watchId, { event: LOW })
  await runJobs()
  await world.sql`update alerts set event = 'fsp.renamed' where watch_id = ${watchId}`
  world.clock.advance(60)
  await world.record(watchId, { event: 'credits.recovered' })
  await runJobs()
  expect(world.chatTexts().at(-1)).toContain('🟢')
})

test('unreadable deferred deliveries fail; summaries of the others are sent', async () => {
  await world.change({ quietHours: NIGHT })
  setTime('23:00')
  await world.record(watchId, { event: LOW })
  await world.record(watchId, { event: 'fsp.monitoring' })
  await world.sql`
    update delivery_log set envelope = '{"deliveryId":"x"}'
    where status = 'held' and envelope -> 'message' ->> 'event' = ${LOW}`
  setTime('07:00', 1)
  await runJobs()
  expect(world.chatTexts()).toHaveLength(1)
  expect(world.subjects()).toHaveLength(1)
  const [, low] = await world.alerts('?limit=2')
  const people = low?.deliveries.filter(({ channel }) => channel !== 'webhook')
  expect(people).toMatchObject([
    { status: 'failed', lastError: 'unreadable' },
    { status: 'failed', lastError: 'unreadable' },
  ])
  await runJobs()
  expect(world.chatTexts()).toHaveLength(1)
})

test('a wallet with unreadable settings does not prevent the summaries of other wallets', async () => {
  await world.change({ quietHours: NIGHT })
  setTime('23:00')
  await world.record(watchId, { event: LOW })
  const bob = await signIn(world, 'bob')
  // Give the recipient with the lowest id to Bob, whose settings are unreadable.
  const [first] = await world.sql<{ recipient_id: number }[]>`
    select recipient_id from deliveries where status = 'held' order by recipient_id`
  await world.sql`
    insert into notification_settings (wallet, settings, version, updated_at)
    values (${bob.caller.wallet}, '{"quietHours":7}', 1, ${world.clock.now()})`
  await world.sql`
    update recipients set wallet = ${bob.caller.wallet} where id = ${first?.recipient_id ?? 0}`
  setTime('07:00', 1)
  await runJobs()
  expect(world.chatTexts().length + world.subjects().length).toBe(1)
  expect(quarantined('summary')).toBe(1)
  await world.sql`
    update recipients set wallet = ${world.alice.caller.wallet} where id = ${first?.recipient_id ?? 0}`
})
