import { describe, expect, test } from 'vitest'
import { judgeUpdate } from './flood.ts'

/** Number of accepted updates at these instants. */
function taken(times: readonly number[]): number {
  let updates: Parameters<typeof judgeUpdate>[0] = { times: [], slowUntil: 0 }
  return times.filter((at) => {
    const judged = judgeUpdate(updates, at)
    updates = judged.updates
    return judged.isTaken
  }).length
}

const every = (ms: number, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => from + index * ms)

describe('the limit of updates of a person', () => {
  test('accepts every update at 2.5 updates a second', () => {
    expect(taken(every(400, 500))).toBe(500)
  })

  test('accepts at most 30 updates in ten seconds', () => {
    expect(taken(every(10, 100))).toBe(30)
  })

  test('accepts one update every two seconds for a minute after 30 in ten seconds', () => {
    const burst = every(10, 40)
    const after = every(100, 490, 10_500)
    expect(taken([...burst, ...after]) - 30).toBeLessThanOrEqual(30)
    expect(taken([...burst, ...after]) - 30).toBeGreaterThanOrEqual(24)
  })

  test('accepts every update again after that minute', () => {
    const burst = every(10, 40)
    expect(taken([...burst, ...every(400, 20, 120_000)])).toBe(50)
  })
})
