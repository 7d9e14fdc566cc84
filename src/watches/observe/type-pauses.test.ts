import { expect, test } from 'vitest'
import { createTypePauses } from './type-pauses.ts'

const FEEDS = { type: 'feed-move', slices: [0, 1] }

test('a type that fails again and again waits longer each time, at most half a minute, until it works', () => {
  let now = 0
  const pauses = createTypePauses(() => now)
  const error = new Error('no answer')
  /** Time until the type is tried again. */
  const pauseMs = () => {
    const failedAt = now
    while (pauses.errorOf(FEEDS) !== undefined) now += 500
    return now - failedAt
  }
  const fail = () => {
    pauses.failed(FEEDS, error)
    expect(pauses.errorOf(FEEDS)).toMatchObject({ error })
    return pauseMs()
  }
  expect(Array.from({ length: 8 }, fail)).toEqual([
    500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ])
  pauses.worked(FEEDS)
  expect(fail()).toBe(500)
})

test('a type that fails does not make another one wait, nor its own targets elsewhere', () => {
  const pauses = createTypePauses(() => 0)
  pauses.failed(FEEDS, new Error('no answer'))
  expect(pauses.errorOf({ ...FEEDS, type: 'wallet-balance' })).toBeUndefined()
  expect(pauses.errorOf({ ...FEEDS, slices: [7] })).toBeUndefined()
})
