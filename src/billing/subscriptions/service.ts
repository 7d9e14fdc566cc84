import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { PAGE_LIMIT_DEFAULT, readCursor, toPage } from '#src/kernel/pagination.ts'
import { type Address, ID_MAX } from '#src/kernel/units.ts'
import { debit, requireBilling, requireTerms, type Terms } from '../account/service.ts'
import * as accounts from '../account/store.ts'
import { SLOT_PRICE_CREDITS, TRIAL_SLOTS } from '../price-list.ts'
import { getCapacity, lockSlots, requireCapacity } from './capacity.ts'
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
  firstReminderAt,
  nextRenewal,
  priceSlots,
  subscriptionStepAt,
  termEnd,
  termReference,
  trialEnd,
} from './rules.ts'
import * as store from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

/** Looks up the Telegram accounts linked to a wallet. `src/recipients`, which this room must not import, implements it. */
interface LinkedAccounts {
  /** Returns the linked accounts and locks the links until the transaction ends. */
  lock(tx: Db, wallet: Address, now: Date): Promise<readonly number[]>
  list(db: Db, wallet: Address): Promise<readonly number[]>
}

interface BuyingDeps extends Deps {
  readonly billing: { readonly enabled: boolean; readonly terms: Terms }
}

interface TrialDeps {
  readonly linkedAccounts: LinkedAccounts
}

interface ListingDeps extends Deps, TrialDeps {
  readonly billing: { readonly enabled: boolean }
}

/** Name that binds a cursor to this list. */
const LIST = 'subscriptions'

/**
 * Starts the free trial: one slot for 14 days, once per wallet and once per Telegram account that is linked
 * to it, through any front door.
 *
 * @throws AppError forbidden `terms_not_accepted`, conflict `billing_disabled`, `trial_already_used` or
 * `slot_limit_reached`
 */
export async function startTrial(deps: BuyingDeps & TrialDeps, caller: Caller): Promise<Trial> {
  const { wallet } = caller
  requireBilling(deps.billing)
  await requireTerms(deps, wallet)
  const startedAt = deps.clock.now()
  const endsAt = trialEnd(startedAt)
  const telegramUserId = caller.telegramUserId ?? null
  await transact(deps.db, async (tx) => {
    await lockSlots(tx, wallet)
    const capacity = await getCapacity({ db: tx, billing: deps.billing }, wallet, startedAt)
    const remindAt = firstReminderAt('trial', endsAt)
    const trial = { wallet, telegramUserId, startedAt, endsAt, remindAt }
    const linked = await deps.linkedAccounts.lock(tx, wallet, startedAt)
    const accounts = [...new Set([...linked, ...(telegramUserId === null ? [] : [telegramUserId])])]
    const isFirst =
      (await store.insertTrial(tx, trial)) &&
      (await store.insertTrialAccounts(
        tx,
        wallet,
        accounts.toSorted((a, b) => a - b),
      ))
    if (!isFirst) throw new AppError('conflict', 'trial_already_used')
    requireCapacity(capacity, TRIAL_SLOTS)
    await store.insertCapacityChange(tx, wallet, startedAt)
    await store.insertCapacityChange(tx, wallet, endsAt)
  })
  return { slots: TRIAL_SLOTS, startedAt, endsAt }
}

/**
 * Records that a Telegram account is linked to a wallet, in the transaction that links it: if the wallet
 * had its trial, the account counts as having had a trial, too.
 */
export async function recordLinkedAccount(
  tx: Db,
  wallet: Address,
  telegramUserId: number,
): Promise<void> {
  const trial = await store.findTrial(tx, wallet)
  if (trial !== undefined) await store.insertTrialAccounts(tx, wallet, [telegramUserId])
}

/** Price of slots for the caller now. */
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
 * Buys slots with the wallet's credits.
 *
 * @throws AppError forbidden `terms_not_accepted`, payment_required `insufficient_credits`, conflict
 * `billing_disabled`, `price_changed` or `slot_limit_reached`
 */
export async function createSubscription(
  deps: BuyingDeps,
  { wallet }: Caller,
  { quantity, periods, autoRenew, expectedCredits }: NewSubscription,
): Promise<Subscription> {
  requireBilling(deps.billing)
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
    requireCapacity(await getCapacity({ db: tx, billing: deps.billing }, wallet, now), quantity)
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
      remindAt: firstReminderAt('term', endsAt),
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

/** The wallet's subscriptions by id, including ended ones, its slots and its trial. */
export async function listSubscriptions(
  { db, clock, billing, linkedAccounts }: ListingDeps,
  caller: Caller,
  { limit = PAGE_LIMIT_DEFAULT, cursor }: SubscriptionQuery,
): Promise<SubscriptionList> {
  const { wallet, telegramUserId } = caller
  const [after = 0] = readCursor(cursor, [ID_MAX], LIST) ?? []
  const rows = await store.listSubscriptions(db, wallet, after, limit + 1)
  const page = toPage(rows, limit, LIST, ({ id }) => [id])
  const trial = await store.findTrial(db, wallet)
  const linked = trial === undefined ? await linkedAccounts.list(db, wallet) : []
  const people = telegramUserId === undefined ? linked : [...linked, telegramUserId]
  const isTaken = trial !== undefined || (await store.hasHadTrial(db, people))
  return {
    ...page,
    data: page.data.map(toSubscription),
    capacity: await getCapacity({ db, billing }, wallet, clock.now()),
    trial: {
      available: billing.enabled && !isTaken,
      startedAt: trial?.startedAt ?? null,
      endsAt: trial?.endsAt ?? null,
    },
  }
}

/**
 * Switches automatic renewal on or off, for one subscription or for all that have not ended. A subscription
 * that has ended stays unchanged.
 *
 * @throws AppError not_found
 */
export async function setAutoRenew(
  deps: ListingDeps,
  caller: Caller,
  { autoRenew, id }: SubscriptionChanges,
): Promise<SubscriptionList> {
  await transact(deps.db, async (tx) => {
    const isKnown = id === undefined || (await store.hasSubscription(tx, caller.wallet, id))
    if (!isKnown) throw new AppError('not_found', 'not_found')
    for (const row of await store.lockRunning(tx, caller.wallet)) {
      if ((id ?? row.id) !== row.id) continue
      const next = { ...row, autoRenew }
      await store.updateSubscription(tx, row, {
        autoRenew,
        dueAt: subscriptionStepAt(next) ?? null,
      })
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
