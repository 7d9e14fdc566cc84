import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FREE_TIER_DAILY_CALLS } from '../price-list.ts'
import type { CallSettlement } from './model.ts'
import { freeCallsLeft, listCallOutcomes, nextUtcDay, refundReference, utcDay } from './rules.ts'

const WALLET = '0x0000000000000000000000000000000000000001'

describe('the day of free calls', () => {
  test.each([
    ['2026-11-20T00:00:00.000Z', '2026-11-20', '2026-11-21T00:00:00.000Z'],
    ['2026-11-20T23:59:59.999Z', '2026-11-20', '2026-11-21T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2026-12-31', '2027-01-01T00:00:00.000Z'],
  ])('of %s is %s and ends at %s', (at, day, end) => {
    expect(utcDay(new Date(at))).toBe(day)
    expect(nextUtcDay(new Date(at)).toISOString()).toBe(end)
  })

  test('has 50 free calls, and never fewer than 0 left', () => {
    expect(freeCallsLeft(0)).toBe(50)
    expect(freeCallsLeft(49)).toBe(1)
    expect(freeCallsLeft(50)).toBe(0)
    expect(freeCallsLeft(63)).toBe(0)
  })
})

describe('listCallOutcomes', () => {
  const settlement: CallSettlement = {
    subject: WALLET,
    day: '2026-11-20',
    priceCredits: 10,
    batch: 'b',
    freeLeftBefore: 2,
    free: 2,
    paid: 2,
    balanceBeforeCredits: 25,
  }

  test('gives free calls first, then paid ones, then refusals, each with its own balance', () => {
    const free = { kind: 'free', subject: WALLET, day: '2026-11-20' }
    const paid = { kind: 'paid', wallet: WALLET, priceCredits: 10 }
    expect(listCallOutcomes(settlement, 5)).toEqual([
      { ok: true, charge: free, balanceCredits: 25, freeLeft: 1 },
      { ok: true, charge: free, balanceCredits: 25, freeLeft: 0 },
      { ok: true, charge: { ...paid, reference: 'usage:b:1' }, balanceCredits: 15, freeLeft: 0 },
      { ok: true, charge: { ...paid, reference: 'usage:b:2' }, balanceCredits: 5, freeLeft: 0 },
      { ok: false, reason: 'payment_required', balanceCredits: 5, freeLeft: 0 },
    ])
  })

  test('gives every call one outcome, and no credit or reference twice', () => {
    const any = fc.record({
      calls: fc.integer({ min: 1, max: 120 }),
      left: fc.integer({ min: 0, max: FREE_TIER_DAILY_CALLS }),
      price: fc.integer({ min: 1, max: 10 }),
      balance: fc.integer({ min: 0, max: 500 }),
    })
    fc.assert(
      fc.property(any, ({ calls, left, price, balance }) => {
        const free = Math.min(calls, left)
        const paid = Math.min(calls - free, Math.floor(balance / price))
        const row = { ...settlement, priceCredits: price, freeLeftBefore: left, free, paid }
        const outcomes = listCallOutcomes({ ...row, balanceBeforeCredits: balance }, calls)
        expect(outcomes).toHaveLength(calls)
        const charges = outcomes.flatMap((outcome) => (outcome.ok ? outcome.charge : []))
        expect(charges.filter(({ kind }) => kind === 'free')).toHaveLength(free)
        const entries = outcomes.flatMap((outcome) =>
          outcome.ok && outcome.charge.kind === 'paid'
            ? { ...outcome.charge, after: outcome.balanceCredits }
            : [],
        )
        expect(new Set(entries.map(({ reference }) => reference)).size).toBe(paid)
        expect(entries.map(({ after }) => after)).toEqual(
          entries.map((_, index) => balance - (index + 1) * price),
        )
        for (const outcome of outcomes) {
          if (outcome.ok || outcome.reason !== 'payment_required') continue
          expect(outcome).toMatchObject({ balanceCredits: balance - paid * price, freeLeft: 0 })
          expect(outcome.balanceCredits).toBeLessThan(price)
        }
      }),
    )
  })

  test('gives a refund a reference made from the one of its charge', () => {
    expect(refundReference('usage:b:2')).toBe('refund:usage:b:2')
  })
})
