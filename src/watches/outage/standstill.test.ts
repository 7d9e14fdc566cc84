import { expect, test } from 'vitest'
import { outageSeverityOf, type PersistentFailure } from './monitoring.ts'
import { type JudgedTo, standsStillSince, standstillMs } from './standstill.ts'

const at = (seconds: number) => new Date(1_790_000_000_000 + seconds * 1000)
const BLOCKS = { name: 'balances', everySeconds: 0 }
const ROUNDS = { name: 'rounds', everySeconds: 0, watermark: { everySeconds: 90 } }

/** Checks a type at these times, each with the block that is judged then and the newest one. */
function check(
  type: typeof BLOCKS,
  checks: readonly {
    readonly now: number
    readonly judged?: { readonly block: number; readonly when: number }
    readonly head?: number
  }[],
): Date | null {
  let known: PersistentFailure | undefined
  for (const { now, judged, head } of checks) {
    const to: JudgedTo | undefined = judged && {
      blockAt: at(judged.block),
      observedAt: at(judged.when),
    }
    const still = standstillMs(type, to, head === undefined ? null : at(head), at(now))
    const since = standsStillSince(known, still, to, at(now))
    known = { failingSince: since, checkedAt: since && at(now) }
  }
  return known?.failingSince ?? null
}

const every = (from: number, to: number, seconds = 10) =>
  Array.from({ length: (to - from) / seconds + 1 }, (_, n) => from + n * seconds)

test('a type that is judged up to no newer block stands still since it was judged last', () => {
  const judged = { block: 0, when: 0 }
  const since = check(
    BLOCKS,
    every(0, 100).map((now) => ({ now, judged, head: now })),
  )
  expect(since).toEqual(at(0))
})

test('a type that was never judged stands still from the first check on', () => {
  expect(
    check(
      BLOCKS,
      every(0, 90).map((now) => ({ now, head: now })),
    ),
  ).toEqual(at(0))
})

test('a type that is judged again and again, far behind the newest block, stands still', () => {
  const since = check(
    ROUNDS,
    every(0, 600).map((now) => ({ now, judged: { block: now - 650, when: now }, head: now })),
  )
  expect(outageSeverityOf(since, at(600))).toBe('critical')
})

test('a type that has caught up stands still no more', () => {
  const behind = every(0, 200).map((now) => ({ now, judged: { block: 0, when: 0 }, head: now }))
  const caughtUp = { now: 202, judged: { block: 200, when: 202 }, head: 202 }
  expect(check(BLOCKS, [...behind, caughtUp])).toBeNull()
})

test('blocks that an endpoint dates into the future hide no standstill', () => {
  const judged = { block: 3600, when: 0 }
  const since = check(
    BLOCKS,
    every(0, 100).map((now) => ({ now, judged, head: now })),
  )
  expect(outageSeverityOf(since, at(100))).toBe('warning')
})

test('a stored time of judging that is still to come hides no standstill', () => {
  const judged = { block: 0, when: 86_400 }
  const since = check(
    BLOCKS,
    every(0, 100).map((now) => ({ now, judged, head: 0 })),
  )
  expect(outageSeverityOf(since, at(100))).toBe('warning')
})

test('a type that waits for the next round does not stand still', () => {
  const judged = { block: 0, when: 5 }
  expect(
    check(
      ROUNDS,
      every(5, 115).map((now) => ({ now, judged, head: now })),
    ),
  ).toBeNull()
})

test('the time in which the service did not run does not count', () => {
  const judged = { block: 0, when: 2 }
  const since = check(BLOCKS, [
    { now: 2, judged, head: 2 },
    { now: 86_400, judged, head: 86_400 },
  ])
  expect(outageSeverityOf(since, at(86_400))).toBeNull()
})

test('a clock that runs ahead of what can be judged is no standstill, while every check finds progress', () => {
  const since = check(
    BLOCKS,
    every(0, 6000, 600).map((now) => ({
      ...{ now, head: now },
      judged: { block: now - 500, when: now - 500 },
    })),
  )
  expect(outageSeverityOf(since, at(6000))).toBeNull()
})

test('checks that each take longer than what counts of them find a standstill all the same', () => {
  const judged = { block: 0, when: 0 }
  const since = check(
    BLOCKS,
    every(0, 240, 60).map((now) => ({ now, judged, head: now })),
  )
  expect(outageSeverityOf(since, at(240))).toBe('warning')
})
