import { expect, test } from 'vitest'
import { z } from 'zod'
import { eligibilityAt, StoredPasses, withEarlierContent } from './publication-data.ts'

const A = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const B = '0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f'
const at = (minute: number) => new Date(Date.parse('2026-11-20T12:00:00Z') + minute * 60_000)

function row(voter: typeof A | typeof B, isEligible: boolean | null): StoredPasses[number] {
  return { voter, isEligible, passes: 3, name: 'Alpha', failures: [], earlier: [] }
}

/** The answer about a provider at minutes, undefined where the calculation has no row of it. */
function answers(rows: StoredPasses, voter: string, minutes: readonly number[]) {
  const found = rows.find((row) => row.voter === voter)
  return minutes.map((minute) => found && eligibilityAt(found, at(minute)).isEligible)
}

test('a calculation of eligibility that is published again keeps its earlier answers with their times', () => {
  const first = withEarlierContent([row(A, true), row(B, true)], undefined, at(0))
  const same = withEarlierContent([row(A, true), row(B, true)], first, at(5))
  expect(same).toEqual(first)
  const second = withEarlierContent([row(A, false), row(B, true)], same, at(10))
  const third = withEarlierContent([row(A, true), row(B, true)], second, at(20))
  expect(answers(third, A, [0, 9, 10, 19, 20])).toEqual([true, true, false, false, true])
  expect(answers(third, B, [0, 20])).toEqual([true, true])
  // It is stored as JSON.
  const stored = JSON.parse(JSON.stringify(z.encode(StoredPasses, third)))
  expect(StoredPasses.parse(stored)).toEqual(third)
})

test('a provider without a row in a publication was not eligible at that time', () => {
  const first = withEarlierContent([row(A, true)], undefined, at(0))
  const second = withEarlierContent([row(B, true)], first, at(10))
  expect(answers(second, A, [9, 10])).toEqual([true, false])
  expect(answers(second, B, [9, 10])).toEqual([false, true])
})

test('a calculation keeps at most 20 earlier answers of a provider', () => {
  let rows = withEarlierContent([row(A, true)], undefined, at(0))
  for (let minute = 1; minute <= 1000; minute += 1) {
    rows = withEarlierContent([row(A, minute % 2 === 0)], rows, at(minute))
  }
  expect(rows[0]?.earlier).toHaveLength(20)
  expect(answers(rows, A, [998, 999, 1000])).toEqual([true, false, true])
})
