import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { sendReminders } from '#src/jobs/send-reminders.ts'
import { sendSummaries } from '#src/jobs/send-summaries.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { setToDatabaseTime } from '../support/clock.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** Reminders and deferred messages where a clock is wrong. */

const LOW = 'credits.low-balance'
const DAY_MINUTES = 1440
const NIGHT = { enabled: true, from: '22:00', to: '07:00', criticalBypass: true }

let world: AlertWorld
let watchId: number
let watches = 0

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  await world.sql`update tokens set expires_at = ${new Date('2090-01-01T00:00:00.000Z')}`
  await world.sql`delete from deliveries`
  await world.sql`delete from alerts`
  const { version: _version, ...defaults } = DEFAULT_SETTINGS
  await world.change(defaults)
  watches += 1
  watchId = await world.watch(`Watch ${watches}`)
  world.forgetMessages()
})
afterAll(() => world.close())

/** Sets the host's clock to the database's time plus a number of minutes. */
const setOff = (minutes: number) => setToDatabaseTime(world.clock, world.sql, minutes * MINUTE_MS)

/** Runs the jobs that depend on the clock, as the service does. */
async function runJobs(): Promise<void> {
  const signal = new AbortController().signal
  await sendReminders.run(world.app, signal, CHECK_EVERYTHING)
  await sendSummaries.run(world.app, signal, CHECK_EVERYTHING)
  await world.deliver()
}

/** As `runJobs`, with the database's clock wrong as well, so that the error is not detected. */
async function pass(): Promise<void> {
  await world.remind()
  await world.summarize()
  await world.deliver()
}

test('a host whose clock is a day off sends no reminder; afterwards each is sent once', async () => {
  await setOff(-20)
  await world.record(watchId, { event: LOW, severity: 'critical' })
  await world.deliver()
  expect(world.chatTexts()).toHaveLength(1)
  for (const minutes of [DAY_MINUTES, -DAY_MINUTES]) {
    await setOff(minutes)
    await runJobs()
    expect(world.chatTexts()).toHaveLength(1)
  }
  await setOff(0)
  await runJobs()
  await runJobs()
  expect(world.chatTexts()).toHaveLength(2)
  await setOff(4)
  await runJobs()
  expect(world.chatTexts()).toHaveLength(2)
})

test('a host that is a day ahead sends no summary early; afterwards it comes once', async () => {
  await world.change({ digest: '15m' })
  await setOff(-20)
  await world.record(watchId, { event: LOW })
  await setOff(-20 + DAY_MINUTES)
  await runJobs()
  expect(world.chatTexts()).toEqual([])
  await setOff(0)
  await runJobs()
  await runJobs()
  expect(world.chatTexts()).toHaveLength(1)
})

test('a clock that is put back by a day delays no reminder, and sends none twice', async () => {
  world.clock.set(new Date('2026-12-02T12:00:00.000Z'))
  await world.record(watchId, { event: LOW, severity: 'critical' })
  await world.deliver()
  world.clock.set(new Date('2026-12-01T12:00:00.000Z'))
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
  world.clock.set(new Date('2026-12-03T23:00:00.000Z'))
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
  await setOff(DAY_MINUTES)
  await world.record(watchId, { event: LOW })
  const before = paged()
  for (const [minutes, count] of [
    [0, 0],
    [1, 0],
    [14, 0],
    [16, 1],
    [40, 1],
  ] as const) {
    await setOff(minutes)
    await pass()
    expect(paged() - before).toBe(count)
  }
})
