import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ComparedRecord,
  countOthers,
  failedRounds,
  judgeByChecks,
  judgeBySilence,
  usualFailers,
  type WholeRound,
} from './other-providers.ts'
import { ROUND_CHECKS, type RoundCheck } from './verdict.ts'

const OWN = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const FIRST = 1_519_400

/** Letters with one of a check, and the others good. */
function lettersWith(check: RoundCheck, letter: string): string {
  return ROUND_CHECKS.map((name) => (name === check ? letter : 'g')).join('')
}

/** Rounds, newest first, from the letters of the providers in each round, oldest first. The first provider is the own one. */
function rounds(check: RoundCheck, ...columns: readonly string[]): readonly WholeRound[] {
  return columns
    .map((letters, index) => ({
      round: FIRST + index,
      providers: new Map(
        [...letters].flatMap((letter, place) =>
          letter === '-'
            ? []
            : [
                [
                  place === 0 ? OWN : `0x${place}`,
                  { letters: lettersWith(check, letter) },
                ] as const,
              ],
        ),
      ),
    }))
    .toReversed()
}

function count(all: readonly WholeRound[], streak: number, checks: RoundCheck[] = ['commit']) {
  const judge = judgeByChecks(checks)
  const failed = failedRounds(all, { provider: OWN, judge, streak })
  return countOthers(failed, { provider: OWN, judge, without: [] })
}

test('counts the others that failed a duty in each of the last rounds', () => {
  expect(count(rounds('commit', 'bbgg', 'bbbg'), 2)).toEqual({ total: 3, failed: 1 })
  expect(count(rounds('commit', 'bbgg', 'bbbg'), 1)).toEqual({ total: 3, failed: 2 })
})

test('counts only those whose verdicts in all of these rounds are known', () => {
  expect(count(rounds('commit', 'bbub', 'bbb-'), 2)).toEqual({ total: 1, failed: 1 })
  expect(count(rounds('commit', 'buuu'), 1)).toBeUndefined()
})

test('leaves out rounds without the duty, and ends at a gap or a round in which the provider did not fail', () => {
  expect(count(rounds('commit', 'bbb', 'nnn', 'bbg'), 2)).toEqual({ total: 2, failed: 1 })
  expect(count(rounds('commit', 'bgg', 'ggg', 'bbg'), 2)).toEqual({ total: 2, failed: 1 })
  const withGap = rounds('commit', 'bgg', 'bgg', 'bbg').filter(({ round }) => round !== FIRST + 1)
  expect(count(withGap, 3)).toEqual({ total: 2, failed: 1 })
})

test('says nothing while the own round is not known, or nothing of the others', () => {
  expect(count([], 2)).toBeUndefined()
  expect(count(rounds('commit', '-bb'), 1)).toBeUndefined()
  expect(count(rounds('commit', 'b'), 1)).toBeUndefined()
})

test('judges a duty with several checks like a watch does', () => {
  const all = rounds('feedValues', 'bbgn')
  expect(count(all, 1, ['reveal', 'feedValues'])).toEqual({ total: 3, failed: 1 })
})

test('agrees with a count round by round, whatever happened', () => {
  const letter = fc.constantFrom('g', 'b', 'b', 'u', 'n')
  const columns = fc.array(fc.array(letter, { minLength: 9, maxLength: 9 }), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(columns, fc.integer({ min: 1, max: 6 }), (all, streak) => {
      const texts = all.map((column) => column.join(''))
      const newest = texts.toReversed()
      const end = newest.findIndex((column) => column[0] !== 'b' && column[0] !== 'n')
      const failed = (end === -1 ? newest : newest.slice(0, end))
        .filter((column) => column[0] === 'b')
        .slice(0, streak)
      const isKnown = (place: number) =>
        failed.every((column) => 'gb'.includes(column[place] ?? 'u'))
      const places = [1, 2, 3, 4, 5, 6, 7, 8].filter(isKnown)
      const expected =
        failed.length === 0 || places.length === 0
          ? undefined
          : {
              total: places.length,
              failed: places.filter((place) => failed.every((column) => column[place] === 'b'))
                .length,
            }
      expect(count(rounds('commit', ...texts), streak)).toEqual(expected)
    }),
  )
})

test('counts silent others', () => {
  const silence = (exponent: number) => ({
    letters: lettersWith('commit', 'g'),
    silence: { exponent, blocksSinceUpdate: 9, onePercentBlocks: 99, isTooLong: false },
  })
  const newest = {
    round: FIRST,
    providers: new Map<string, ComparedRecord>([
      [OWN, silence(20)],
      ['0x1', silence(18)],
      ['0x2', silence(1)],
      ['0x3', { letters: lettersWith('commit', 'g') }],
    ]),
  }
  const query = { provider: OWN, judge: judgeBySilence(({ exponent }) => exponent > 10) } as const
  expect(countOthers([newest], { ...query, without: [] })).toEqual({ total: 2, failed: 1 })
  expect(countOthers([newest], { ...query, without: ['0x1'] })).toEqual({ total: 1, failed: 0 })
  expect(countOthers([], { ...query, without: [] })).toBeUndefined()
})

describe('providers that fail anyway', () => {
  const usual = (all: readonly WholeRound[]) =>
    usualFailers(all, { provider: OWN, judge: judgeByChecks(['commit']) })

  test('are those that failed every known round while the provider did not', () => {
    const before = Array.from({ length: 10 }, () => 'gbgb')
    expect(usual(rounds('commit', ...before, 'bbbg'))).toEqual(['0x1', '0x3'])
    expect(usual(rounds('commit', ...before, 'gbgg', 'bbbb'))).toEqual(['0x1'])
  })

  test('are not known from a few rounds of the provider or of the other one', () => {
    const before = Array.from({ length: 9 }, () => 'gb')
    expect(usual(rounds('commit', ...before, 'bb'))).toBeUndefined()
    expect(usual(rounds('commit', ...before, 'gu', 'bb'))).toEqual([])
  })
})
