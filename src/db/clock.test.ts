import { afterEach, beforeEach, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createServiceClock, type ServiceClock } from './clock.ts'
import type { Db } from './connection.ts'

const STARTS_AT = Date.parse('2026-11-20T12:00:00.000Z')
const NEAR_MS = 500

/** The clock of the database. */
const database = { aheadMs: 0, waitMs: 0, isDown: false, asked: 0 }
const trueMs = () => STARTS_AT + performance.now() + database.aheadMs
const db = {
  execute: async () => {
    database.asked += 1
    if (database.isDown) throw new Error('the database is down')
    if (database.waitMs > 0) await new Promise((resolve) => setTimeout(resolve, database.waitMs))
    return [{ ms: String(Math.floor(trueMs())) }]
  },
} as unknown as Db

const clocks: ServiceClock[] = []
const lines: string[] = []
const log = {
  ...silentLogger,
  warn: (_: unknown, line: string) => void lines.push(line),
  info: (_: unknown, line: string) => void lines.push(line),
}
const SET_BACK = 'clock of the database was set back; the clock of the service stands still'
const GOES_ON = 'clock of the service goes on'

beforeEach(() => {
  Object.assign(database, { aheadMs: 0, waitMs: 0, isDown: false, asked: 0 })
  lines.length = 0
})
afterEach(() => {
  for (const clock of clocks.splice(0)) clock.stop()
})

/** Starts the clock of a process whose host is ahead of the database by some milliseconds. */
async function follow(hostAheadMs = 0): Promise<ServiceClock> {
  const hostClock = { now: () => new Date(trueMs() + hostAheadMs) }
  const clock = createServiceClock({ db, hostClock, log, measureMs: 5 })
  clocks.push(clock)
  // Code that runs before the start reads the host's time.
  clock.now()
  await clock.follow()
  return clock
}

const aheadOf = (clock: ServiceClock) => clock.now().getTime() - trueMs()
const isRight = (clock: ServiceClock) => Math.abs(aheadOf(clock)) < NEAR_MS

/** Waits until a measurement that begins now has ended. */
async function measured(): Promise<void> {
  const before = database.asked
  await expect.poll(() => database.asked).toBeGreaterThan(before + 1)
}

test.each([
  0,
  DAY_MS,
  -DAY_MS,
])('the clock is the database’s, with a host that is %d ms ahead', async (ms) => {
  expect(isRight(await follow(ms))).toBe(true)
})

test('the clocks of two processes agree, whatever their hosts show', async () => {
  const [one, other] = [await follow(400 * DAY_MS), await follow(-HOUR_MS)]
  expect(Math.abs(one.now().getTime() - other.now().getTime())).toBeLessThan(NEAR_MS)
})

test('it follows a jump ahead, stands still after the jump back, which is logged once, and then goes on', async () => {
  const clock = await follow()
  database.aheadMs = HOUR_MS
  await expect.poll(() => isRight(clock)).toBe(true)
  const latest = clock.now()
  expect([lines, clock.stillForMs()]).toEqual([[], 0])
  database.aheadMs = 0
  await expect.poll(() => lines).toEqual([SET_BACK])
  const still = clock.now()
  expect(still.getTime()).toBeGreaterThanOrEqual(latest.getTime())
  expect(Math.abs(clock.stillForMs() - HOUR_MS)).toBeLessThan(NEAR_MS)
  await measured()
  expect([clock.now(), lines]).toEqual([still, [SET_BACK]])
  database.aheadMs = HOUR_MS + 2000
  await expect.poll(() => lines).toEqual([SET_BACK, GOES_ON])
  expect(clock.now().getTime()).toBeGreaterThan(still.getTime())
  expect([isRight(clock), clock.stillForMs()]).toEqual([true, 0])
})

test('a slow measurement moves it as little as the wait proves', async () => {
  const clock = await follow()
  database.waitMs = 1500
  await measured()
  expect([isRight(clock), lines]).toEqual([true, []])
})

test('a measurement that fails keeps the last difference, which is logged once', async () => {
  const clock = await follow(DAY_MS)
  database.isDown = true
  await measured()
  await measured()
  expect(isRight(clock)).toBe(true)
  expect(lines).toEqual(['time of the database cannot be read; the last difference counts'])
  database.isDown = false
  await expect.poll(() => lines).toHaveLength(2)
  expect(lines.at(-1)).toBe('time of the database can be read again')
})

test('a start fails with the first measurement', async () => {
  database.isDown = true
  await expect(follow()).rejects.toThrow('the database is down')
})
