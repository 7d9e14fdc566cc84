import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { repairTimes } from '#src/db/repair-times.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { STORED_TIMES } from '#src/stored-times.ts'
import { deleteDeliveries } from '../support/deliveries.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** Reminders and deferred messages where the clock of the database was ahead, and a process started after it was set back. */

const LOW = 'credits.low-balance'
const NIGHT = { enabled: true, from: '22:00', to: '07:00', criticalBypass: true }

let world: AlertWorld
let watchId: number
let watches = 0

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  await world.sql`update tokens set expires_at = ${new Date('2090-01-01T00:00:00.000Z')}`
  await deleteDeliveries(world.app.db)
  await world.sql`delete from alerts`
  const { version: _version, ...defaults } = DEFAULT_SETTINGS
  await world.change(defaults)
  watches += 1
  watchId = await world.watch(`Watch ${watches}`)
  world.forgetMessages()
})
afterAll(() => world.close())

/** Starts a process at this time, by which stored times are repaired. */
async function startAt(at: Date): Promise<void> {
  world.clock.set(at)
  await repairTimes(world.app, STORED_TIMES)
}

async function pass(): Promise<void> {
  await world.remind()
  await world.summarize()
  await world.deliver()
}

test('a clock that is put back by a day delays no reminder, and sends none twice', async () => {
  world.clock.set(new Date('2026-12-02T12:00:00.000Z'))
  await world.record(watchId, { event: LOW, severity: 'critical' })
  await world.deliver()
  await startAt(new Date('2026-12-01T12:00:00.000Z'))
  await pass()
  expect(world.chatTexts()).toHaveLength(1)
  world.clock.set(new Date('2026-12-01T12:14:59.000Z'))
  await pass()
  expect(world.chatTexts()).toHaveLength(1)
  world.clock.set(new Date('2026-12-01T12:15:00.000Z'))
  await pass()
  await pass()
  expect(world.chatTexts()).toHaveLength(2)
})

test('a clock that is put back by a day delays no summary, and sends none twice', async () => {
  await world.change({ quietHours: NIGHT })
  // The rescheduling by the change itself is complete.
  await world.summarize()
  world.clock.set(new Date('2026-12-04T23:00:00.000Z'))
  await world.record(watchId, { event: LOW })
  await startAt(new Date('2026-12-03T23:00:00.000Z'))
  await pass()
  expect(world.chatTexts()).toEqual([])
  world.clock.set(new Date('2026-12-04T07:00:00.000Z'))
  await pass()
  await pass()
  expect(world.chatTexts()).toHaveLength(1)
})

test('an alert recorded while the clock was a day ahead is escalated after the set minutes', async () => {
  const input = { name: 'Pager', channel: 'webhook', url: world.receiver.url('pager') }
  const { body } = await world.alice.request('POST', '/recipients', input)
  const changes = { escalateAfterMinutes: 15, escalateTo: [body.id] }
  await world.alice.request('PATCH', `/watches/${watchId}`, changes)
  const paged = () => world.receiver.deliveries.filter(({ hook }) => hook === 'pager').length
  const rightMs = world.clock.now().getTime()
  world.clock.advance(86_400)
  await world.record(watchId, { event: LOW })
  const before = paged()
  await startAt(new Date(rightMs))
  for (const [minutes, count] of [
    [0, 0],
    [1, 0],
    [14, 0],
    [16, 1],
    [40, 1],
  ] as const) {
    world.clock.set(new Date(rightMs + minutes * MINUTE_MS))
    await pass()
    expect(paged() - before).toBe(count)
  }
})
