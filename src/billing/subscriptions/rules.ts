import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import {
  DURATION_DISCOUNTS,
  PERIOD_DAYS,
  SLOT_PRICE_CREDITS,
  TRIAL_DAYS,
  TRIAL_SLOTS,
  VOLUME_DISCOUNTS,
} from '../price-list.ts'

/** When a trial started now will end: 14 days of 24 hours later. */
export function trialEnd(startedAt: Date): Date {
  return new Date(startedAt.getTime() + TRIAL_DAYS * DAY_MS)
}

/** Slots the trial gives at `now`: none before it is started and after it has ended. */
export function trialSlots(trial: { readonly endsAt: Date } | undefined, now: Date): number {
  return trial !== undefined && now < trial.endsAt ? TRIAL_SLOTS : 0
}

/** What slots cost, and why. */
export interface SlotPrice {
  /** Without discounts. */
  readonly listCredits: number
  readonly durationDiscountBps: number
  readonly volumeDiscountBps: number
  /** What is paid. */
  readonly totalCredits: number
}

const FULL_BPS = 10_000n

/**
 * The price of `quantity` slots for `periods` of 30 days. Both discounts multiply; rounded up once, at
 * the end.
 *
 */
export function priceSlots(quantity: number, periods: number): SlotPrice {
  const duration = DURATION_DISCOUNTS.find(({ minPeriods }) => periods >= minPeriods)
  const volume = VOLUME_DISCOUNTS.find(({ minQuantity }) => quantity >= minQuantity)
  const listCredits = SLOT_PRICE_CREDITS * quantity * periods
  const durationDiscountBps = duration?.discountBps ?? 0
  const volumeDiscountBps = volume?.discountBps ?? 0
  const totalCredits = discounted(listCredits, [durationDiscountBps, volumeDiscountBps])
  return { listCredits, durationDiscountBps, volumeDiscountBps, totalCredits }
}

/** Credits after discounts in basis points, each on what the one before left; rounded up once. */
export function discounted(listCredits: number, discountsBps: readonly number[]): number {
  const shares = discountsBps.map((bps) => FULL_BPS - BigInt(bps))
  const amount = shares.reduce((left, share) => left * share, BigInt(listCredits))
  const divisor = FULL_BPS ** BigInt(shares.length)
  return Number((amount + divisor - 1n) / divisor)
}

/** When so many periods that start then are over: periods of 30 days of 24 hours. */
export function termEnd(startsAt: Date, periods: number): Date {
  return new Date(startsAt.getTime() + periods * PERIOD_DAYS * DAY_MS)
}

/** The ledger reference of a paid term. */
export function termReference(id: number, term: number): string {
  return `subscription:${id}:${term}`
}

/** After the end of a term: how long its slots stay while renewals fail. */
const GRACE_MS = 72 * HOUR_MS
/** After the end of a term: when a renewal is tried. */
const RENEWAL_TRIES_MS = [0, DAY_MS, 2 * DAY_MS]

/** What decides when a subscription changes. */
export interface SubscriptionStatus {
  readonly status: 'active' | 'grace' | 'expired'
  readonly endsAt: Date
  readonly autoRenew: boolean
  /** Renewals tried in vain since the term ended. */
  readonly failedRenewals: number
}

/** When the next renewal is tried: undefined when none will be. */
export function nextRenewal(subscription: SubscriptionStatus): Date | undefined {
  const { status, endsAt, autoRenew, failedRenewals } = subscription
  const after = RENEWAL_TRIES_MS[failedRenewals]
  if (status === 'expired' || !autoRenew || after === undefined) return undefined
  return new Date(endsAt.getTime() + after)
}

/**
 * When something will have to be done with a subscription: undefined when it is over.
 *
 * A term that ends unrenewed by choice ends at once; one whose renewal failed has its grace, and keeps
 * it when renewing is switched off meanwhile.
 */
export function dueAt(subscription: SubscriptionStatus): Date | undefined {
  const { status, endsAt } = subscription
  if (status === 'expired') return undefined
  if (status === 'active') return endsAt
  return nextRenewal(subscription) ?? new Date(endsAt.getTime() + GRACE_MS)
}

/** When the slots of a subscription are gone as things stand; undefined while it renews itself. */
export function goneAt({
  status,
  endsAt,
  autoRenew,
  failedRenewals,
}: SubscriptionStatus): Date | undefined {
  const hadGrace = status === 'expired' && failedRenewals > 0
  if (status === 'grace' || hadGrace) return new Date(endsAt.getTime() + GRACE_MS)
  if (status === 'expired') return endsAt
  return autoRenew ? undefined : endsAt
}

/** A time in which billing was off. */
export interface Pause {
  readonly offAt: Date
  readonly onAt: Date
}

/**
 * By how many milliseconds a pause of billing moves the end of something that runs by time: by as long as
 * the pause lasted while it ran. What was due before billing went off is due when it comes on, so that
 * nothing is owed for the past.
 */
export function pausedMs(
  { startsAt, dueAt: due }: { readonly startsAt: Date; readonly dueAt: Date },
  { offAt, onAt }: Pause,
): number {
  const stoppedAt = Math.min(Math.max(offAt.getTime(), startsAt.getTime()), due.getTime())
  return Math.max(0, onAt.getTime() - stoppedAt)
}

/**
 * A subscription after a pause of billing. Its term goes on where it stood; one that was over by then keeps
 * its slots for 72 hours more.
 */
export function afterPause<Row extends SubscriptionStatus & { readonly startsAt: Date }>(
  row: Row,
  pause: Pause,
): Row {
  const due = dueAt(row)
  if (due === undefined) return row
  const moved = pausedMs({ startsAt: row.startsAt, dueAt: due }, pause)
  const startsAt = new Date(row.startsAt.getTime() + moved)
  const next = { ...row, startsAt, endsAt: new Date(row.endsAt.getTime() + moved) }
  if (moved === 0 || dueStep(next, pause.onAt) !== 'expire') return next
  return { ...next, endsAt: new Date(next.endsAt.getTime() + GRACE_MS) }
}

/** When the last of the tries to renew a term is made. */
export function lastRenewalTry(endsAt: Date): Date {
  return new Date(endsAt.getTime() + Math.max(...RENEWAL_TRIES_MS))
}

/** How long before its renewal a term's owner is told that and what will be charged. */
const ANNOUNCED_MS = 3 * DAY_MS
/** Before an end: when its owner is reminded of it, the earliest first. */
const REMINDERS_MS = { term: [7 * DAY_MS, ANNOUNCED_MS, DAY_MS], trial: [2 * DAY_MS] } as const

/** When the owner of something is reminded first that it ends. */
export function firstReminder(of: keyof typeof REMINDERS_MS, endsAt: Date): Date {
  return new Date(endsAt.getTime() - REMINDERS_MS[of][0])
}

/** The next reminder after `now`; undefined when there is none any more. */
export function nextReminder(
  of: keyof typeof REMINDERS_MS,
  endsAt: Date,
  now: Date,
): Date | undefined {
  return REMINDERS_MS[of]
    .map((before) => new Date(endsAt.getTime() - before))
    .find((at) => at > now)
}

/** What is due of the reminders of a term since `remindAt`: of its end, of its renewal. */
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
export interface Renewing extends SubscriptionStatus {
  readonly id: number
  readonly quantity: number
  readonly periods: number
}

/**
 * Credits that the balance is short of when a subscription renews itself, if nothing changes: the
 * renewals before it are paid first, as far as they can be. 0 when it is covered.
 */
export function missingCredits(
  all: readonly Renewing[],
  id: number,
  balanceCredits: number,
): number {
  const inOrder = all
    .flatMap((one) => {
      const at = nextRenewal(one)
      const { totalCredits } = priceSlots(one.quantity, one.periods)
      return at === undefined ? [] : [{ id: one.id, at, totalCredits }]
    })
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.id - b.id)
  let left = balanceCredits
  for (const renewal of inOrder) {
    if (renewal.id === id) return Math.max(0, renewal.totalCredits - left)
    if (renewal.totalCredits <= left) left -= renewal.totalCredits
  }
  return 0
}

/** Slots of subscriptions that are left at an instant, as things stand; without the one named. */
export function slotsLeft(all: readonly Renewing[], without: number | undefined, at: Date): number {
  return all
    .filter((one) => one.id !== without && isThereAt(one, at))
    .reduce((slots, { quantity }) => slots + quantity, 0)
}

function isThereAt(subscription: SubscriptionStatus, at: Date): boolean {
  const end = goneAt(subscription)
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
 * What a wallet had after each of its changes, the earliest first: what a later one of them took was
 * there still.
 *
 * @param capacity what it has now
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

/** What has to be done with a subscription at `now`. */
export function dueStep(
  subscription: SubscriptionStatus,
  now: Date,
): 'nothing' | 'renew' | 'expire' {
  const due = dueAt(subscription)
  if (due === undefined || now < due) return 'nothing'
  return nextRenewal(subscription) === undefined ? 'expire' : 'renew'
}
