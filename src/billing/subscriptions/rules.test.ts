import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SLOTS_MAX } from '../price-list.ts'
import { PERIODS_MAX } from './model.ts'
import {
  applyDiscounts,
  capacitySteps,
  dueSubscriptionStep,
  firstReminderAt,
  missingCredits,
  nextRenewal,
  nextSubscriptionReminder,
  priceSlots,
  type RenewableSubscription,
  remainingSlots,
  type SubscriptionState,
  slotsEndAt,
  subscriptionStepAt,
  termEnd,
  trialEnd,
  trialSlots,
} from './rules.ts'

const quantity = fc.integer({ min: 1, max: SLOTS_MAX })
const periods = fc.integer({ min: 1, max: PERIODS_MAX })
const bps = fc.integer({ min: 0, max: 10_000 })

describe('the price of slots', () => {
  test.each([
    [1, 1, 500, 0, 0, 500],
    [3, 1, 1500, 0, 0, 1500],
    [4, 5, 10_000, 0, 0, 10_000],
    [5, 5, 12_500, 0, 500, 11_875],
    [1, 6, 3000, 1000, 0, 2700],
    [3, 6, 9000, 1000, 0, 8100],
    [5, 6, 15_000, 1000, 500, 12_825],
    [9, 11, 49_500, 1000, 500, 42_323],
    [10, 12, 60_000, 2000, 1000, 43_200],
    [20, 120, 1_200_000, 2000, 1000, 864_000],
  ])('for %i slots and %i periods is the one in the table', (q, p, list, duration, volume, total) => {
    expect(priceSlots(q, p)).toEqual({
      listCredits: list,
      durationDiscountBps: duration,
      volumeDiscountBps: volume,
      totalCredits: total,
    })
  })

  test('is a whole number above zero, and never above the list price', () => {
    fc.assert(
      fc.property(quantity, periods, (q, p) => {
        const { listCredits, totalCredits } = priceSlots(q, p)
        expect(Number.isSafeInteger(totalCredits)).toBe(true)
        expect(totalCredits).toBeGreaterThan(0)
        expect(totalCredits).toBeLessThanOrEqual(listCredits)
      }),
    )
  })

  test('is less than one credit above the exact price', () => {
    fc.assert(
      fc.property(quantity, periods, (q, p) => {
        const { listCredits, durationDiscountBps, volumeDiscountBps, totalCredits } = priceSlots(
          q,
          p,
        )
        const exact =
          BigInt(listCredits) *
          BigInt(10_000 - durationDiscountBps) *
          BigInt(10_000 - volumeDiscountBps)
        const paid = BigInt(totalCredits) * 10n ** 8n
        expect(paid).toBeGreaterThanOrEqual(exact)
        expect(paid - exact).toBeLessThan(10n ** 8n)
      }),
    )
  })

  test('is never higher with a larger discount', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), bps, bps, bps, (list, a, b, other) => {
        const [small, large] = a < b ? [a, b] : [b, a]
        expect(applyDiscounts(list, [large, other])).toBeLessThanOrEqual(
          applyDiscounts(list, [small, other]),
        )
        expect(applyDiscounts(list, [large])).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  test('of more slots for the same time is never lower', () => {
    fc.assert(
      fc.property(quantity, quantity, periods, (a, b, p) => {
        const [few, many] = a < b ? [a, b] : [b, a]
        const price = (q: number) => priceSlots(q, p).totalCredits
        expect(price(many)).toBeGreaterThanOrEqual(price(few))
      }),
    )
  })

  test('per slot and period never rises with more slots or more periods', () => {
    const left = (q: number, p: number) => {
      const { durationDiscountBps, volumeDiscountBps } = priceSlots(q, p)
      return (10_000 - durationDiscountBps) * (10_000 - volumeDiscountBps)
    }
    fc.assert(
      fc.property(quantity, periods, quantity, periods, (q, p, moreQ, moreP) => {
        const [wide, long] = [Math.max(q, moreQ), Math.max(p, moreP)]
        expect(left(wide, long)).toBeLessThanOrEqual(left(q, p))
      }),
    )
  })
})

const END = new Date('2026-12-20T12:00:00.000Z')
const hours = (count: number) => new Date(END.getTime() + count * 3_600_000)
const state = (over: Partial<SubscriptionState> = {}): SubscriptionState => ({
  status: 'active',
  endsAt: END,
  autoRenew: true,
  failedRenewals: 0,
  ...over,
})

describe('a subscription', () => {
  test('runs for periods of 30 days', () => {
    const start = new Date('2026-11-20T12:00:00.000Z')
    expect(termEnd(start, 1)).toEqual(new Date('2026-12-20T12:00:00.000Z'))
    expect(termEnd(start, 12)).toEqual(new Date('2027-11-15T12:00:00.000Z'))
  })

  test.each([
    ['active, a moment before its end', state(), -0.001, 'nothing'],
    ['active, at its end', state(), 0, 'renew'],
    ['active, long after its end', state(), 500, 'renew'],
    ['active, not to be renewed, before its end', state({ autoRenew: false }), -1, 'nothing'],
    ['active, not to be renewed, at its end', state({ autoRenew: false }), 0, 'expire'],
    ['in grace, after one try', state({ status: 'grace', failedRenewals: 1 }), 23.9, 'nothing'],
    ['in grace, after a day', state({ status: 'grace', failedRenewals: 1 }), 24, 'renew'],
    ['in grace, after two tries', state({ status: 'grace', failedRenewals: 2 }), 47.9, 'nothing'],
    ['in grace, after two days', state({ status: 'grace', failedRenewals: 2 }), 48, 'renew'],
    ['in grace, after all tries', state({ status: 'grace', failedRenewals: 3 }), 71.9, 'nothing'],
    ['in grace, after three days', state({ status: 'grace', failedRenewals: 3 }), 72, 'expire'],
    ['expired', state({ status: 'expired', failedRenewals: 3 }), 1000, 'nothing'],
  ] as const)('%s: its next step is due at the right time', (_name, subscription, atHour, step) => {
    expect(dueSubscriptionStep(subscription, hours(atHour))).toBe(step)
  })

  test('keeps its grace when renewal is switched off during it, and is not renewed any more', () => {
    const subscription = state({ status: 'grace', failedRenewals: 1, autoRenew: false })
    expect(nextRenewal(subscription)).toBeUndefined()
    expect(dueSubscriptionStep(subscription, hours(71.9))).toBe('nothing')
    expect(dueSubscriptionStep(subscription, hours(72))).toBe('expire')
  })

  test('has the time of its next renewal', () => {
    expect(nextRenewal(state())).toEqual(END)
    expect(nextRenewal(state({ status: 'grace', failedRenewals: 1 }))).toEqual(hours(24))
    expect(nextRenewal(state({ status: 'grace', failedRenewals: 2 }))).toEqual(hours(48))
    expect(nextRenewal(state({ status: 'grace', failedRenewals: 3 }))).toBeUndefined()
    expect(nextRenewal(state({ autoRenew: false }))).toBeUndefined()
    expect(nextRenewal(state({ status: 'expired' }))).toBeUndefined()
  })

  test('has a time of its next step until it has expired', () => {
    expect(subscriptionStepAt(state())).toEqual(END)
    expect(subscriptionStepAt(state({ status: 'grace', failedRenewals: 3 }))).toEqual(hours(72))
    expect(subscriptionStepAt(state({ status: 'expired' }))).toBeUndefined()
  })
})

describe('the trial', () => {
  test('gives one slot until the instant of its end', () => {
    const startedAt = new Date('2026-11-20T12:00:00.000Z')
    const trial = { endsAt: trialEnd(startedAt) }
    expect(trial.endsAt).toEqual(new Date('2026-12-04T12:00:00.000Z'))
    expect(trialSlots(trial, startedAt)).toBe(1)
    expect(trialSlots(trial, new Date(trial.endsAt.getTime() - 1))).toBe(1)
    expect(trialSlots(trial, trial.endsAt)).toBe(0)
    expect(trialSlots(undefined, startedAt)).toBe(0)
  })
})

describe('a reminder', () => {
  const endsAt = new Date('2026-12-20T12:00:00.000Z')
  const daysBefore = (days: number) => new Date(endsAt.getTime() - days * 86_400_000)

  test('is first sent 7 days before the end of a term, 2 days before the end of a trial', () => {
    expect(firstReminderAt('term', endsAt)).toEqual(daysBefore(7))
    expect(firstReminderAt('trial', endsAt)).toEqual(daysBefore(2))
  })

  test.each([
    [30, 7],
    [7, 3],
    [3, 1],
    [1, undefined],
    [0.5, undefined],
    [-3, undefined],
  ])('planned %s days before the end is sent %s days before the end', (days, next) => {
    expect(nextSubscriptionReminder('term', endsAt, daysBefore(days))).toEqual(
      next && daysBefore(next),
    )
  })
})

describe('several subscriptions', () => {
  const END = new Date('2026-12-20T12:00:00.000Z')
  const base = { status: 'active', endsAt: END, autoRenew: true, failedRenewals: 0 } as const
  const subscriptionWith = (
    id: number,
    over: Partial<RenewableSubscription> = {},
  ): RenewableSubscription => ({
    ...base,
    id,
    quantity: 1,
    periods: 1,
    ...over,
  })
  const later = (days: number) => new Date(END.getTime() + days * 86_400_000)

  test.each([
    ['covered exactly', [subscriptionWith(1)], 1, 500, 0],
    ['short of one credit', [subscriptionWith(1)], 1, 499, 1],
    ['after another of the same moment', [subscriptionWith(1), subscriptionWith(2)], 2, 700, 300],
    ['before another', [subscriptionWith(1), subscriptionWith(2)], 1, 700, 0],
    [
      'after one that cannot be paid',
      [subscriptionWith(1, { quantity: 3 }), subscriptionWith(2)],
      2,
      700,
      0,
    ],
    [
      'before one that ends later',
      [subscriptionWith(1, { endsAt: later(1) }), subscriptionWith(2)],
      2,
      500,
      0,
    ],
    [
      'beside one that is not renewed',
      [subscriptionWith(1, { autoRenew: false }), subscriptionWith(2)],
      2,
      500,
      0,
    ],
    ['that is not renewed itself', [subscriptionWith(1, { autoRenew: false })], 1, 0, 0],
  ])('one %s misses the credits that the earlier ones leave uncovered', (_what, all, id, balance, missing) => {
    expect(missingCredits(all, id, balance)).toBe(missing)
  })

  test('lack at most the price of the renewal, and nothing if the credits cover all renewals', () => {
    const some = fc.array(
      fc.record({ quantity, periods, autoRenew: fc.boolean(), days: fc.nat(40) }),
      { minLength: 1, maxLength: 6 },
    )
    fc.assert(
      fc.property(some, fc.nat(20_000), (drafts, balance) => {
        const all = drafts.map(({ days, ...draft }, index) =>
          subscriptionWith(index + 1, { ...draft, endsAt: later(days) }),
        )
        for (const { id, quantity: q, periods: p } of all) {
          const missing = missingCredits(all, id, balance)
          expect(missing).toBeGreaterThanOrEqual(0)
          expect(missing).toBeLessThanOrEqual(priceSlots(q, p).totalCredits)
        }
        const price = all.reduce((sum, { quantity: q, periods: p }) => {
          return sum + priceSlots(q, p).totalCredits
        }, 0)
        expect(all.every(({ id }) => missingCredits(all, id, price) === 0)).toBe(true)
      }),
    )
  })

  test('have the slots of those that have not ended by a time', () => {
    const all = [
      subscriptionWith(1, { autoRenew: false, quantity: 1 }),
      subscriptionWith(2, { autoRenew: false, quantity: 2, endsAt: later(1) }),
      subscriptionWith(3, { quantity: 4 }),
      subscriptionWith(4, { status: 'grace', quantity: 8, failedRenewals: 1 }),
    ]
    expect(remainingSlots(all, undefined, later(-1))).toBe(15)
    expect(remainingSlots(all, 1, END)).toBe(14)
    expect(remainingSlots(all, 2, later(1))).toBe(12)
    expect(remainingSlots(all, 4, later(3))).toBe(4)
  })

  test('end at the end of their term or grace, and not at all while they are renewed', () => {
    expect(slotsEndAt(subscriptionWith(1))).toBeUndefined()
    expect(slotsEndAt(subscriptionWith(1, { autoRenew: false }))).toEqual(END)
    expect(slotsEndAt(subscriptionWith(1, { status: 'grace' }))).toEqual(later(3))
    expect(slotsEndAt(subscriptionWith(1, { status: 'expired' }))).toEqual(END)
    expect(slotsEndAt(subscriptionWith(1, { status: 'expired', failedRenewals: 3 }))).toEqual(
      later(3),
    )
  })

  test('give the number of slots after each change, from the present number and the losses', () => {
    const [first, second, third] = [END, later(1), later(2)]
    const losses = [
      { at: second, slots: 1 },
      { at: third, slots: 2 },
      // Settled before, or still to come.
      { at: later(-1), slots: 5 },
      { at: later(9), slots: 5 },
    ]
    expect(capacitySteps([third, first, second], losses, 4)).toEqual([
      { at: first, capacity: 7 },
      { at: second, capacity: 6 },
      { at: third, capacity: 4 },
    ])
  })
})
