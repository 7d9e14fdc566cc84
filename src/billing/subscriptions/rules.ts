import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import {
  DURATION_DISCOUNTS,
  PERIOD_DAYS,
  SLOT_PRICE_CREDITS,
  TRIAL_DAYS,
  TRIAL_SLOTS,
  VOLUME_DISCOUNTS,
} from '../price-list.ts'
import type { SlotQuote } from './model.ts'

/** End of a trial that starts now: 14 days of 24 hours later. */
export function trialEnd(startedAt: Date): Date {
  return new Date(startedAt.getTime() + TRIAL_DAYS * DAY_MS)
}

/** Slots of the trial at `now`: none before its start and after its end. */
export function trialSlots(trial: { readonly endsAt: Date } | undefined, now: Date): number {
  return trial !== undefined && now < trial.endsAt ? TRIAL_SLOTS : 0
}

/** Price of slots with the discounts applied. */
export interface SlotPrice {
  /** Before discounts. */
  readonly listCredits: number
  readonly durationDiscountBps: number
  readonly volumeDiscountBps: number
  /** After discounts. */
  readonly totalCredits: number
}

const FULL_BPS = 10_000n

/**
 * Price of `quantity` slots for `periods` of 30 days. Both discounts are multiplied; the result is rounded
 * up once.
 */
export function priceSlots(quantity: number, periods: number): SlotPrice {
  const duration = DURATION_DISCOUNTS.find(({ minPeriods }) => periods >= minPeriods)
  const volume = VOLUME_DISCOUNTS.find(({ minQuantity }) => quantity >= minQuantity)
  const listCredits = SLOT_PRICE_CREDITS * quantity * periods
  const durationDiscountBps = duration?.discountBps ?? 0
  const volumeDiscountBps = volume?.discountBps ?? 0
  const totalCredits = applyDiscounts(listCredits, [durationDiscountBps, volumeDiscountBps])
  return { listCredits, durationDiscountBps, volumeDiscountBps, totalCredits }
}

/**
 * Credits after discounts in basis points, each applied to the result of the previous discount; the result
 * is rounded up once.
 */
export function applyDiscounts(listCredits: number, discountsBps: readonly number[]): number {
  const shares = discountsBps.map((bps) => FULL_BPS - BigInt(bps))
  const amount = shares.reduce((left, share) => left * share, BigInt(listCredits))
  const divisor = FULL_BPS ** BigInt(shares.length)
  return Number((amount + divisor - 1n) / divisor)
}

/** End of a term: `periods` of 30 days of 24 hours after its start. */
export function termEnd(startsAt: Date, periods: number): Date {
  return new Date(startsAt.getTime() + periods * PERIOD_DAYS * DAY_MS)
}

/** A subscription after its next term was paid: the term begins where the last paid one ends. */
export function nextTerm(row: {
  readonly term: number
  readonly endsAt: Date
  readonly quantity: number
  readonly periods: number
}) {
  return {
    status: 'active',
    term: row.term + 1,
    startsAt: row.endsAt,
    endsAt: termEnd(row.endsAt, row.periods),
    totalCredits: priceSlots(row.quantity, row.periods).totalCredits,
    failedRenewals: 0,
    lastRenewalError: null,
  } as const
}

/** Price of slots for a term that begins at `now`, and what a balance lacks for it. */
export function slotQuote(
  { quantity, periods }: Pick<SlotQuote, 'quantity' | 'periods'>,
  { balanceCredits, now }: { readonly balanceCredits: number; readonly now: Date },
): SlotQuote {
  const price = priceSlots(quantity, periods)
  return {
    quantity,
    periods,
    slotPriceCredits: SLOT_PRICE_CREDITS,
    ...price,
    startsAt: now,
    endsAt: termEnd(now, periods),
    balanceCredits,
    shortfallCredits: Math.max(0, price.totalCredits - balanceCredits),
  }
}

/** The ledger reference of a paid term. */
export function termReference(id: number, term: number): string {
  return `subscription:${id}:${term}`
}

/** Time after the end of a term during which its slots stay while renewals fail. */
export const GRACE_MS = 72 * HOUR_MS
/** Times of the tries to renew, after the end of a term. */
const RENEWAL_TRIES_MS = [0, DAY_MS, 2 * DAY_MS]
export const RENEWAL_TRIES = RENEWAL_TRIES_MS.length

/** The fields of a subscription that decide when it changes. */
export interface SubscriptionState {
  readonly status: 'active' | 'grace' | 'expired'
  readonly endsAt: Date
  readonly autoRenew: boolean
  /** Failed renewals since the term ended. */
  readonly failedRenewals: number
}

/** Time of the next try to renew; undefined when none follows. */
export function nextRenewal(subscription: SubscriptionState): Date | undefined {
  const { status, endsAt, autoRenew, failedRenewals } = subscription
  const after = RENEWAL_TRIES_MS[failedRenewals]
  if (status === 'expired' || !autoRenew || after === undefined) return undefined
  return new Date(endsAt.getTime() + after)
}

/**
 * Time of the next change of a subscription; undefined after its end.
 *
 * A term without automatic renewal ends at once. A term whose renewal failed has its grace, even if
 * automatic renewal is switched off meanwhile.
 */
export function subscriptionStepAt(subscription: SubscriptionState): Date | undefined {
  const { status, endsAt } = subscription
  if (status === 'expired') return undefined
  if (status === 'active') return endsAt
  return nextRenewal(subscription) ?? new Date(endsAt.getTime() + GRACE_MS)
}

/**
 * Time at which the slots of a subscription end, if nothing changes; undefined while it renews
 * automatically.
 */
export function slotsEndAt({
  status,
  endsAt,
  autoRenew,
  failedRenewals,
}: SubscriptionState): Date | undefined {
  const hadGrace = status === 'expired' && failedRenewals > 0
  if (status === 'grace' || hadGrace) return new Date(endsAt.getTime() + GRACE_MS)
  if (status === 'expired') return endsAt
  return autoRenew ? undefined : endsAt
}

/** Time of the last try to renew a term. */
export function lastRenewalTry(endsAt: Date): Date {
  return new Date(endsAt.getTime() + Math.max(...RENEWAL_TRIES_MS))
}

/** Time before a renewal at which it is announced with its price. */
const ANNOUNCED_MS = 3 * DAY_MS
/** Times of the reminders, before an end, the earliest first. */
const REMINDERS_MS = { term: [7 * DAY_MS, ANNOUNCED_MS, DAY_MS], trial: [2 * DAY_MS] } as const

/** Time of the first reminder of an end. */
export function firstReminderAt(of: keyof typeof REMINDERS_MS, endsAt: Date): Date {
  return new Date(endsAt.getTime() - REMINDERS_MS[of][0])
}

/** The next reminder after `now`; undefined after the last. */
export function nextSubscriptionReminder(
  of: keyof typeof REMINDERS_MS,
  endsAt: Date,
  now: Date,
): Date | undefined {
  return REMINDERS_MS[of]
    .map((before) => new Date(endsAt.getTime() - before))
    .find((at) => at > now)
}

/** Reminders of a term that are due since `remindAt`: of its end, of its renewal. */
export function dueReminders(
  { endsAt, remindAt }: { readonly endsAt: Date; readonly remindAt: Date },
  now: Date,
): { readonly ofEnd: boolean; readonly ofRenewal: boolean } {
  const passed = REMINDERS_MS.term.filter((before) => {
    const at = new Date(endsAt.getTime() - before)
    return remindAt <= at && at <= now
  })
  return {
    ofEnd: passed.some((before) => before !== ANNOUNCED_MS),
    ofRenewal: passed.includes(ANNOUNCED_MS),
  }
}

/** A subscription among others of its wallet. */
export interface RenewableSubscription extends SubscriptionState {
  readonly id: number
  readonly quantity: number
  readonly periods: number
}

/**
 * Credits that are missing for the automatic renewal of a subscription, if nothing changes: earlier
 * renewals are paid first, as far as the balance allows. 0 if the balance suffices.
 */
export function missingCredits(
  all: readonly RenewableSubscription[],
  id: number,
  balanceCredits: number,
): number {
  const inOrder = all
    .flatMap((renewing) => {
      const at = nextRenewal(renewing)
      const { totalCredits } = priceSlots(renewing.quantity, renewing.periods)
      return at === undefined ? [] : [{ id: renewing.id, at, totalCredits }]
    })
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.id - b.id)
  let left = balanceCredits
  for (const renewal of inOrder) {
    if (renewal.id === id) return Math.max(0, renewal.totalCredits - left)
    if (renewal.totalCredits <= left) left -= renewal.totalCredits
  }
  return 0
}

/**
 * Slots of subscriptions that remain at an instant if nothing changes, without the subscription `without`.
 */
export function remainingSlots(
  all: readonly RenewableSubscription[],
  without: number | undefined,
  at: Date,
): number {
  return all
    .filter((renewing) => renewing.id !== without && isThereAt(renewing, at))
    .reduce((slots, { quantity }) => slots + quantity, 0)
}

function isThereAt(subscription: SubscriptionState, at: Date): boolean {
  const end = slotsEndAt(subscription)
  return end === undefined || end > at
}

/** Slots that a wallet has lost. */
export interface LostSlots {
  readonly at: Date
  readonly slots: number
}

/** A wallet's slots right after a change. */
export interface CapacityStep {
  readonly at: Date
  readonly capacity: number
}

/**
 * Capacity after each of several changes, the earliest first. The slots that a later change takes away are
 * included until that change.
 *
 * @param capacity capacity after the last change
 */
export function capacitySteps(
  changes: readonly Date[],
  losses: readonly LostSlots[],
  capacity: number,
): readonly CapacityStep[] {
  const times = changes.map((at) => at.getTime()).toSorted((a, b) => a - b)
  const taken = losses.filter(({ at }) => times.includes(at.getTime()))
  return times.map((time) => {
    const later = taken.filter(({ at }) => at.getTime() > time)
    return { at: new Date(time), capacity: later.reduce((sum, { slots }) => sum + slots, capacity) }
  })
}

/** The step due for a subscription at `now`. */
export function dueSubscriptionStep(
  subscription: SubscriptionState,
  now: Date,
): 'nothing' | 'renew' | 'expire' {
  const due = subscriptionStepAt(subscription)
  if (due === undefined || now < due) return 'nothing'
  return nextRenewal(subscription) === undefined ? 'expire' : 'renew'
}
