import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { cutPage, PAGE_LIMIT_DEFAULT, readCursor } from '#src/kernel/query.ts'
import { ID_MAX } from '#src/kernel/units.ts'
import { debit, requireTerms, type Terms } from '../account/service.ts'
import * as accounts from '../account/store.ts'
import { SLOT_PRICE_CREDITS, TRIAL_SLOTS } from '../price-list.ts'
import { getCapacity, lockSlots, requireRoom } from './capacity.ts'
import type {
  NewSubscription,
  SlotQuote,
  SlotQuoteQuery,
  Subscription,
  SubscriptionChanges,
  SubscriptionList,
  SubscriptionQuery,
  Trial,
} from './model.ts'
import {
  dueAt,
  firstReminder,
  nextRenewal,
  priceSlots,
  termEnd,
  termReference,
  trialEnd,
} from './rules.ts'
import * as store from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

interface BuyingDeps extends Deps {
  readonly billing: { readonly terms: Terms }
}

/** What a cursor of the list is bound to. */
const LIST = 'subscriptions'

/**
 * Starts the free trial: one slot for 14 days, once per wallet and once per Telegram account.
 *
 * @throws AppError forbidden `terms_not_accepted`, conflict `trial_already_used` or
 *   `slot_limit_reached`
 */
export async function startTrial(deps: BuyingDeps, caller: Caller): Promise<Trial> {
  const { wallet } = caller
  await requireTerms(deps, wallet)
  const startedAt = deps.clock.now()
  const endsAt = trialEnd(startedAt)
  const telegramUserId = caller.telegramUserId ?? null
  await transact(deps.db, async (tx) => {
    await lockSlots(tx, wallet)
    const capacity = await getCapacity(tx, wallet, startedAt)
    const remindAt = firstReminder('trial', endsAt)
    const trial = { wallet, telegramUserId, startedAt, endsAt, remindAt }
    const isFirst = await store.insertTrial(tx, trial)
    if (!isFirst) throw new AppError('conflict', 'trial_already_used')
    requireRoom(capacity, TRIAL_SLOTS)
    await store.insertCapacityChange(tx, wallet, startedAt)
    await store.insertCapacityChange(tx, wallet, endsAt)
  })
  return { slots: TRIAL_SLOTS, startedAt, endsAt }
}

/** What slots would cost the caller now. */
export async function quoteSlots(
  { db, clock }: Deps,
  { wallet }: Caller,
  { quantity, periods }: SlotQuoteQuery,
): Promise<SlotQuote> {
  const startsAt = clock.now()
  const price = priceSlots(quantity, periods)
  const balanceCredits = (await accounts.findAccount(db, wallet))?.balanceCredits ?? 0
  return {
    quantity,
    periods,
    slotPriceCredits: SLOT_PRICE_CREDITS,
    ...price,
    startsAt,
    endsAt: termEnd(startsAt, periods),
    balanceCredits,
    shortfallCredits: Math.max(0, price.totalCredits - balanceCredits),
  }
}

/**
 * Buys slots from the wallet's credits.
 *
 * @throws AppError forbidden `terms_not_accepted`, payment_required `insufficient_credits`, conflict
 *   `price_changed` or `slot_limit_reached`
 */
export async function createSubscription(
  deps: BuyingDeps,
  { wallet }: Caller,
  { quantity, periods, autoRenew, expectedCredits }: NewSubscription,
): Promise<Subscription> {
  await requireTerms(deps, wallet)
  const now = deps.clock.now()
  const { totalCredits } = priceSlots(quantity, periods)
  const row = await transact(deps.db, async (tx) => {
    await lockSlots(tx, wallet)
    const account = await accounts.findAccount(tx, wallet)
    requireCredits(account?.balanceCredits ?? 0, totalCredits)
    if (expectedCredits !== undefined && expectedCredits !== totalCredits) {
      const values = { count: totalCredits }
      throw new AppError('conflict', 'price_changed', { values, members: { totalCredits } })
    }
    requireRoom(await getCapacity(tx, wallet, now), quantity)
    const endsAt = termEnd(now, periods)
    const bought = await store.insertSubscription(tx, {
      wallet,
      quantity,
      periods,
      status: 'active',
      term: 1,
      startsAt: now,
      endsAt,
      totalCredits,
      autoRenew,
      failedRenewals: 0,
      dueAt: endsAt,
      remindAt: firstReminder('term', endsAt),
      createdAt: now,
    })
    const reference = termReference(bought.id, bought.term)
    const entry = { type: 'subscription', amountCredits: totalCredits, reference, at: now } as const
    const paid = await debit(tx, { wallet, ...entry })
    if (!paid.ok) throw new Error('a balance changed while its account was locked')
    await store.insertCapacityChange(tx, wallet, now)
    return bought
  })
  return toSubscription(row)
}

/** The wallet's subscriptions by id, those that are over too, its slots and its trial. */
export async function listSubscriptions(
  { db, clock }: Deps,
  caller: Caller,
  { limit = PAGE_LIMIT_DEFAULT, cursor }: SubscriptionQuery,
): Promise<SubscriptionList> {
  const { wallet, telegramUserId } = caller
  const [after = 0] = readCursor(cursor, [ID_MAX], LIST) ?? []
  const rows = await store.listSubscriptions(db, wallet, after, limit + 1)
  const page = cutPage(rows, limit, LIST, ({ id }) => [id])
  const trial = await store.findTrial(db, wallet)
  const isTaken = telegramUserId !== undefined && (await store.hasTrial(db, telegramUserId))
  return {
    ...page,
    data: page.data.map(toSubscription),
    capacity: await getCapacity(db, wallet, clock.now()),
    trial: {
      available: trial === undefined && !isTaken,
      startedAt: trial?.startedAt ?? null,
      endsAt: trial?.endsAt ?? null,
    },
  }
}

/**
 * Switches renewing on or off, for one subscription or for all that are not over. One that is over
 * stays as it is.
 *
 * @throws AppError not_found
 */
export async function setAutoRenew(
  deps: Deps,
  caller: Caller,
  { autoRenew, id }: SubscriptionChanges,
): Promise<SubscriptionList> {
  await transact(deps.db, async (tx) => {
    const isKnown = id === undefined || (await store.hasSubscription(tx, caller.wallet, id))
    if (!isKnown) throw new AppError('not_found', 'not_found')
    for (const row of await store.lockRunning(tx, caller.wallet)) {
      if ((id ?? row.id) !== row.id) continue
      const next = { ...row, autoRenew }
      await store.updateSubscription(tx, row.id, { autoRenew, dueAt: dueAt(next) ?? null })
    }
  })
  return listSubscriptions(deps, caller, {})
}

function requireCredits(balanceCredits: number, totalCredits: number): void {
  const shortfallCredits = totalCredits - balanceCredits
  if (shortfallCredits <= 0) return
  throw new AppError('payment_required', 'insufficient_credits', {
    values: { count: shortfallCredits },
    members: { shortfallCredits },
  })
}

function toSubscription(row: store.SubscriptionRow): Subscription {
  const { id, quantity, periods, status, startsAt, endsAt, autoRenew, totalCredits } = row
  return {
    id,
    quantity,
    periods,
    status,
    startsAt,
    endsAt,
    autoRenew,
    totalCredits,
    nextRenewalAt: nextRenewal(row) ?? null,
    lastRenewalError: row.lastRenewalError,
  }
}
