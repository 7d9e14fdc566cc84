import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  EMPTY_CHAIN,
  type EntryChain,
  type EntrySum,
  extendChain,
  proofDay,
  provesBalance,
} from './rules.ts'

/** Entries as the ledger has them: each delta keeps the balance from going negative. */
const deltas = fc
  .array(fc.integer({ min: -1000, max: 1000 }).filter((delta) => delta !== 0))
  .map((wanted) => {
    let balance = 0
    return wanted.map((delta) => {
      const possible = balance + delta < 0 ? -delta : delta
      balance += possible
      return possible
    })
  })

/** Sums of consecutive entries, in groups of the given sizes; the last group has the rest. */
function linksOf(all: readonly number[], sizes: readonly number[]): EntrySum[] {
  const links: EntrySum[] = []
  let at = 0
  let balance = 0
  for (const size of [...sizes, all.length]) {
    const part = all.slice(at, at + size)
    if (part.length === 0) continue
    const total = part.reduce((sum, delta) => sum + delta, 0)
    links.push({
      first: at + 1,
      last: at + part.length,
      entries: part.length,
      totalCredits: total,
      startCredits: balance,
      endCredits: balance + total,
      broken: 0,
    })
    balance += total
    at += part.length
  }
  return links
}

const chainOf = (links: readonly EntrySum[]): EntryChain => links.reduce(extendChain, EMPTY_CHAIN)
const sum = (all: readonly number[]) => all.reduce((total, delta) => total + delta, 0)
const sizes = fc.array(fc.integer({ min: 1, max: 10 }))

describe('a chain of entries', () => {
  test('proves its sum as the balance, however it is split, and no other balance', () => {
    fc.assert(
      fc.property(deltas, sizes, fc.integer({ min: 1 }), (all, cuts, off) => {
        const chain = chainOf(linksOf(all, cuts))
        const balanceCredits = sum(all)
        const entryCount = all.length
        expect(provesBalance(chain, { entryCount, balanceCredits })).toBe(true)
        expect(provesBalance(chain, { entryCount, balanceCredits: balanceCredits + off })).toBe(
          false,
        )
        expect(provesBalance(chain, { entryCount: entryCount + off, balanceCredits })).toBe(false)
      }),
    )
  })

  test('proves nothing when a part is missing or has a wrong sum', () => {
    const whole = linksOf([10, -5, 20, 5], [1, 1, 1])
    const account = { entryCount: 4, balanceCredits: 30 }
    expect(provesBalance(chainOf(whole), account)).toBe(true)
    for (const missing of whole.keys()) {
      expect(provesBalance(chainOf(whole.toSpliced(missing, 1)), account)).toBe(false)
    }
    for (const [index, link] of whole.entries()) {
      for (const wrong of [
        { ...link, startCredits: link.startCredits + 1 },
        { ...link, endCredits: link.endCredits + 1 },
        { ...link, totalCredits: link.totalCredits + 1 },
        { ...link, entries: 2 },
        { ...link, broken: 1 },
      ]) {
        expect(provesBalance(chainOf(whole.toSpliced(index, 1, wrong)), account)).toBe(false)
      }
    }
  })

  test('without entries proves an empty account', () => {
    expect(provesBalance(EMPTY_CHAIN, { entryCount: 0, balanceCredits: 0 })).toBe(true)
    expect(provesBalance(EMPTY_CHAIN, { entryCount: 0, balanceCredits: 1 })).toBe(false)
  })
})

test.each([
  ['2026-11-20T01:59:59.999Z', '2026-11-19'],
  ['2026-11-20T02:00:00.000Z', '2026-11-20'],
  ['2026-11-20T23:59:59.999Z', '2026-11-20'],
])('at %s the newest day to prove is %s', (now, day) => {
  expect(proofDay(new Date(now))).toBe(day)
})
