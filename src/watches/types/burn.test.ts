import fc from 'fast-check'
import { runs } from '../../../test/support/runs.ts'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DAY_SECONDS, HOUR_MS } from '#src/kernel/durations.ts'
import { Spending, spendingAfter, timeLeft } from './burn.ts'
import { evaluateProviderDaysLeft } from './provider-fsp/days-left.ts'

const START = Date.parse('2026-11-01T00:00:00Z')
const ADDRESS = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C' as const
const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE' as const
const STEP_MS = HOUR_MS
const FLR = 10n ** 18n

/** Folds balances that are an hour apart; returns the alert and its time for each that is new. */
function fold(balances: Iterable<bigint>, days = 7) {
  let state: Parameters<typeof evaluateProviderDaysLeft>[0] = { spending: {}, low: [] }
  let isFiring = false
  const fired: { readonly at: number; readonly event: string }[] = []
  let at = START
  for (const balance of balances) {
    const seen = { role: 'submit' as const, address: ADDRESS, balanceWei: balance.toString() }
    const observation = { provider: PROVIDER, balances: [seen], at: new Date(at) }
    const outcome = evaluateProviderDaysLeft(state, observation, { days })
    state = outcome.state
    const isNow = outcome.phase === 'firing'
    if (isNow !== isFiring) fired.push({ at, event: outcome.firings[0]?.event ?? '' })
    isFiring = isNow
    at += STEP_MS
  }
  return { fired, end: at }
}

describe('the time until empty', () => {
  test('warns two days before the end although the gas price rises twentyfold', () => {
    const history = fc.record({
      // Hours before the rise: at least the day without which nothing is said.
      before: fc.integer({ min: 25, max: 400 }),
      burn: fc.bigInt({ min: 1n, max: FLR }),
      // How long the balance lasts at the new price, in hours.
      hours: fc.integer({ min: 60, max: 500 }),
      topUps: fc.array(fc.integer({ min: 0, max: 399 }), { maxLength: 5 }),
    })
    fc.assert(
      fc.property(history, ({ before, burn, hours, topUps }) => {
        const atRise = BigInt(hours) * 20n * burn
        const added = new Set(topUps.filter((step) => step < before))
        const topUp = burn * 90n
        const balances: bigint[] = []
        let balance = atRise + BigInt(before) * burn - BigInt(added.size) * topUp
        if (balance < 0n) return
        for (let step = 0; step < before; step += 1) {
          balance += (added.has(step) ? topUp : 0n) - burn
          if (balance < 0n) return
          balances.push(balance)
        }
        while (balance > 0n) {
          balance -= 20n * burn
          balances.push(balance < 0n ? 0n : balance)
        }
        const { fired, end } = fold(balances)
        const open = fired.at(-1)
        expect(open?.event).toBe('fsp.days-left')
        expect(end - (open?.at ?? end)).toBeGreaterThanOrEqual(48 * HOUR_MS)
      }),
      { numRuns: runs(60) },
    )
  })

  test('is told by the decreases of the last day and week, whatever is added', () => {
    const steps = fc.array(
      fc.record({
        spent: fc.bigInt({ min: 0n, max: 50n }),
        added: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 5000n })),
      }),
      { minLength: 30, maxLength: 400 },
    )
    fc.assert(
      fc.property(steps, (hours) => {
        let balance = 1_000_000n
        let spending = spendingAfter(undefined, new Date(START), balance)
        for (const [index, { spent, added }] of hours.entries()) {
          const at = START + (index + 1) * HOUR_MS
          // The top-up is observed by itself, between two decreases.
          balance += added
          spending = spendingAfter(spending, new Date(at - 1), balance)
          balance -= spent
          spending = spendingAfter(spending, new Date(at), balance)
          const stored = JSON.parse(JSON.stringify(z.encode(Spending, spending)))
          spending = z.decode(Spending, stored)
        }
        const lastDay = hours.slice(-24).reduce((sum, { spent }) => sum + spent, 0n)
        const left = timeLeft(spending)
        expect(left?.dayUnits).toBe(lastDay)
        expect(spending.spent.length).toBeLessThanOrEqual(24 + 30)
        const week = hours.slice(-168).reduce((sum, { spent }) => sum + spent, 0n)
        const perDay = Number(week) / (Math.min(168, Math.max(24, hours.length)) / 24)
        // Older entries stand for six hours, of which the first may be cut.
        expect(Math.abs(Number(left?.weekUnits) - perDay)).toBeLessThanOrEqual((6 * 50) / 7 + 1)
      }),
    )
  })

  test('says nothing in the first 24 hours, about an idle address, or without balances', () => {
    const falling = Array.from({ length: 24 }, (_, index) => BigInt(10_000 - index * 360))
    expect(fold(falling).fired).toEqual([])
    expect(fold(Array.from({ length: 500 }, () => 1n)).fired).toEqual([])
    const unknown = { provider: PROVIDER, balances: null, at: new Date(START) }
    const before = { spending: {}, low: [] }
    expect(evaluateProviderDaysLeft(before, unknown, { days: 7 })).toEqual({
      ...{ state: before, phase: 'unknown', firings: [] },
    })
  })

  test('recovers after a top-up, and not while the balance lasts as long as the limit only', () => {
    const spend = Array.from({ length: 100 }, (_, index) => BigInt(250 - index))
    const { fired } = fold([...spend, 100_000n])
    expect(fired.map(({ event }) => event)).toEqual(['fsp.days-left', 'fsp.days-left.recovered'])
    const nearly = BigInt(7.5 * 24)
    expect(fold([...spend, nearly]).fired.map(({ event }) => event)).toEqual(['fsp.days-left'])
  })

  test('spreads a decrease over the hours in which nothing was read', () => {
    const first = spendingAfter(undefined, new Date(START), 1000n)
    const later = spendingAfter(first, new Date(START + 100 * HOUR_MS), 0n)
    expect(timeLeft(later)).toMatchObject({ dayUnits: 240n, secondsLeft: 0 })
    const [, ...rest] = later.spent
    expect(rest.reduce((sum, [, units]) => sum + units, later.spent[0]?.[1] ?? 0n)).toBe(1000n)
    expect(timeLeft({ ...later, balance: 720n })?.secondsLeft).toBe(3 * DAY_SECONDS)
  })
})
