import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type BlockRate,
  blocksPerReading,
  nextTipReadMs,
  UNKNOWN_RATE,
  updateRate,
} from './block-rate.ts'

const LONGEST_MS = 2000

/** The rate after blocks that came this long after each other. */
function after(gapsMs: readonly number[]): { rate: BlockRate; nowMs: number } {
  let nowMs = 0
  let rate = updateRate(UNKNOWN_RATE, 100, nowMs)
  gapsMs.forEach((gapMs, index) => {
    nowMs += gapMs
    rate = updateRate(rate, 101 + index, nowMs)
  })
  return { rate, nowMs }
}

test('before the rate is known, the longest time is waited', () => {
  expect(nextTipReadMs(UNKNOWN_RATE, 0, LONGEST_MS)).toBe(LONGEST_MS)
  const { rate, nowMs } = after([1000, 1000])
  expect(nextTipReadMs(rate, nowMs, LONGEST_MS)).toBe(LONGEST_MS)
})

test('the next block is polled shortly before it is expected, then often', () => {
  const { rate, nowMs } = after([1000, 1000, 1000])
  expect(nextTipReadMs(rate, nowMs, LONGEST_MS)).toBe(950)
  expect(nextTipReadMs(rate, nowMs + 950, LONGEST_MS)).toBe(250)
  expect(nextTipReadMs(rate, nowMs + 1500, LONGEST_MS)).toBe(250)
})

test('several blocks are read at once if the longest time has several periods', () => {
  const { rate, nowMs } = after([1000, 1000, 1000])
  expect(blocksPerReading(rate, 2000)).toBe(1)
  expect(blocksPerReading(rate, 12_000)).toBe(11)
  expect(nextTipReadMs(rate, nowMs, 12_000)).toBe(10_950)
  expect(nextTipReadMs(rate, nowMs + 10_950, 12_000)).toBe(250)
  expect(nextTipReadMs(rate, nowMs + 13_000, 12_000)).toBe(12_000)
})

test('a chain without new blocks is polled as seldom as one whose rate is unknown', () => {
  const { rate, nowMs } = after([1000, 1000, 1000])
  expect(nextTipReadMs(rate, nowMs + 3001, LONGEST_MS)).toBe(LONGEST_MS)
})

test('blocks that come together and pauses of minutes do not change the estimate', () => {
  const known = after([1000, 1000, 1000]).rate.periodMs
  expect(after([1000, 1000, 1000, 1, 600_000, 5]).rate.periodMs).toBe(known)
})

test('several blocks found at once are samples of their average', () => {
  const { rate, nowMs } = after([1000, 1000, 1000])
  expect(updateRate(rate, rate.newest + 4, nowMs + 4000).periodMs).toBe(1000)
})

test('an older block does not change the estimate', () => {
  const { rate, nowMs } = after([1000, 1000, 1000])
  expect(updateRate(rate, rate.newest, nowMs + 500)).toBe(rate)
  expect(updateRate(rate, rate.newest - 5, nowMs + 500)).toBe(rate)
})

test('after any history, polls are on time and at most ten a second', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 20 })
  fc.assert(
    fc.property(gaps, fc.nat({ max: 100_000 }), (gapsMs, sinceMs) => {
      const { rate, nowMs } = after(gapsMs)
      const ms = nextTipReadMs(rate, nowMs + sinceMs, LONGEST_MS)
      expect(ms).toBeGreaterThanOrEqual(100)
      expect(ms).toBeLessThanOrEqual(LONGEST_MS)
    }),
  )
})
