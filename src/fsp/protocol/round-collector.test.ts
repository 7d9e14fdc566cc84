import { expect, test } from 'vitest'
import { roundStart } from './epochs.ts'
import { indexPolicy } from './policy.ts'
import { createRoundCollector, type RoundBlock } from './round-collector.ts'

/** Clock of Flare mainnet. */
const FLARE_CLOCK = {
  firstRoundAtSeconds: 1_658_430_000,
  roundSeconds: 90,
  firstEpochRound: 0,
  roundsPerEpoch: 3360,
}

const FIRST = 1_519_400
const POLICY = indexPolicy({ rewardEpoch: 452, startRound: FIRST - 10, providers: [] })

/** Blocks at these seconds after the start of the first round. */
function roundsOf(seconds: readonly number[]): number[] {
  const collector = createRoundCollector(FLARE_CLOCK, () => POLICY)
  const start = roundStart(FLARE_CLOCK, FIRST)
  return seconds.flatMap((second, index) => {
    const block: RoundBlock = {
      number: index,
      at: start + second,
      submissions: [],
      finalised: [],
      requests: [],
    }
    return collector.add(block).map(({ round }) => round - FIRST)
  })
}

/** Times from one to another, every `step` seconds. */
function every(step: number, from: number, to: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step)
}

test('a round that was read from its start is returned when the next one is over', () => {
  expect(roundsOf(every(10, -5, 366))).toEqual([0, 1, 2])
  expect(roundsOf(every(10, 5, 366))).toEqual([1, 2])
})

test('a round is not returned if the chain stood still during it', () => {
  // From the middle of round 2 to the middle of round 4, of which less than half remains.
  expect(roundsOf([...every(10, -5, 225), ...every(10, 410, 721)])).toEqual([0, 5, 6])
})

test('a short time without blocks loses no round', () => {
  expect(roundsOf([...every(10, -5, 225), ...every(10, 255, 456)])).toEqual([0, 1, 2, 3])
})

test('days without a block add no rounds', () => {
  const days = 3 * 86_400
  expect(roundsOf([...every(10, -5, 200), ...every(10, days, days + 300)])).toEqual([
    0,
    days / 90,
    days / 90 + 1,
  ])
})
