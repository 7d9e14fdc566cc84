import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { signIn } from '../support/people.ts'
import { type AlertRoom, alertRoom } from './room.ts'

let room: AlertRoom
let watchId: number
let day = 0

const LOW = 'credits.low-balance'
const NIGHT = { enabled: true, from: '22:00', to: '07:00', criticalBypass: true }

beforeAll(async () => {
  room = await alertRoom()
})
beforeEach(async () => {
  day += 2
  at('12:00')
  await room.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  const { version: _version, ...defaults } = DEFAULT_SETTINGS
  await room.change(defaults)
  await room.sql`update alerts set state = 'recovered', recovered_at = fired_at, remind_at = null`
  await room.sql`delete from deliveries where status in ('held', 'pending')`
  watchId = await room.watch(`Watch ${day}`)
  room.forget()
})
afterEach(async () => {
  const { body } = await room.alice.request('GET', '/watches')
  for (const { id } of body.data) await room.alice.request('DELETE', `/watches/${id}`)
})
afterAll(() => room.close())

function at(time: string, days = 0): void {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  room.clock.set(new Date(Date.UTC(2026, 11, day + days, hours, minutes, 5)))
}
async function pass(): Promise<void> {
  await room.remind()
  await room.summarize()
  await room.deliver()
}
const quarantined = (kind: string) =>
  room.app.quarantine.read().find((one) => one.kind === kind)?.rows ?? 0

test.each([
  [
    'its event is not known any more',
    () => room.sql`
    update alerts set event = 'fsp.renamed' where id = (select max(id) from alerts)`,
  ],
  [
    'its data fit no text',
    () => room.sql`
    update alerts set data = '{"balanceCredits":"x"}' where id = (select max(id) from alerts)`,
  ],
  [
    'its data are no object',
    () => room.sql`
    update alerts set data = '7' where id = (select max(id) from alerts)`,
  ],
  [
    'its severity is none',
    () => room.sql`
    update alerts set severity = 'x' where id = (select max(id) from alerts)`,
  ],
])('an alert that cannot be read keeps no other from its reminder: %s', async (_what, spoil) => {
  const other = await room.watch('Other')
  await room.notice(watchId, { event: LOW, severity: 'critical' })
  await pass()
  await spoil()
  await room.notice(other, { event: LOW, severity: 'critical' })
  await pass()
  room.forget()
  const before = quarantined('alert')
  at('12:16')
  await pass()
  expect(room.chatTexts()).toEqual([expect.stringMatching(/^🔴 Still active: .*\n.*Other/)])
  expect(quarantined('alert')).toBe(before + 1)
})

test('an unreadable alert does not stop the others of an ended mute', async () => {
  const other = await room.watch('Other')
  for (const id of [watchId, other]) {
    const mutedUntil = new Date(room.clock.now().getTime() + 3_600_000).toISOString()
    await room.alice.request('PATCH', `/watches/${id}`, { mutedUntil })
    await room.notice(id, { event: LOW })
    if (id === watchId)
      await room.sql`update alerts set event = 'fsp.renamed' where watch_id = ${id}`
  }
  at('13:01')
  await pass()
  expect(room.chatTexts()).toEqual([expect.stringContaining('Other')])
  const { body } = await room.alice.request('GET', `/watches/${watchId}`)
  expect(body.mutedUntil).toBeNull()
})

test('a recovery is sent although its alert cannot be read any more', async () => {
  await room.notice(watchId, { event: LOW })
  await pass()
  await room.sql`update alerts set event = 'fsp.renamed' where watch_id = ${watchId}`
  room.clock.advance(60)
  await room.notice(watchId, { event: 'credits.recovered' })
  await pass()
  expect(room.chatTexts().at(-1)).toContain('🟢')
})

test('a held message that cannot be read ends alone; every summary is sent', async () => {
  await room.change({ quietHours: NIGHT })
  at('23:00')
  await room.notice(watchId, { event: LOW })
  await room.notice(watchId, { event: 'fsp.monitoring' })
  await room.sql`
    update deliveries set envelope = '{"deliveryId":"x"}'
    where status = 'held' and envelope -> 'message' ->> 'event' = ${LOW}`
  at('07:00', 1)
  await pass()
  expect(room.chatTexts()).toHaveLength(1)
  expect(room.subjects()).toHaveLength(1)
  const [, low] = await room.alerts('?limit=2')
  const people = low?.deliveries.filter(({ channel }) => channel !== 'webhook')
  expect(people).toMatchObject([
    { status: 'failed', lastError: 'unreadable' },
    { status: 'failed', lastError: 'unreadable' },
  ])
  await pass()
  expect(room.chatTexts()).toHaveLength(1)
})

test('a summary that cannot be rendered does not stop the summaries of others', async () => {
  await room.change({ quietHours: NIGHT })
  at('23:00')
  await room.notice(watchId, { event: LOW })
  const bob = await signIn(room, 'bob')
  // A recipient before all others whose wallet has settings that cannot be read.
  const [first] = await room.sql<{ recipient_id: number }[]>`
    select recipient_id from deliveries where status = 'held' order by recipient_id`
  await room.sql`
    insert into notification_settings (wallet, settings, version, updated_at)
    values (${bob.caller.wallet}, '{"quietHours":7}', 1, ${room.clock.now()})`
  await room.sql`
    update recipients set wallet = ${bob.caller.wallet} where id = ${first?.recipient_id ?? 0}`
  at('07:00', 1)
  await pass()
  expect(room.chatTexts().length + room.subjects().length).toBe(1)
  expect(quarantined('summary')).toBe(1)
  await room.sql`
    update recipients set wallet = ${room.alice.caller.wallet} where id = ${first?.recipient_id ?? 0}`
})
