import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { PAGE_LIMIT_DEFAULT, readCursor, toPage } from '#src/kernel/pagination.ts'
import { type Address, ID_MAX } from '#src/kernel/units.ts'
import {
  debit,
  requireAccepted,
  requireBilling,
  requireCredits,
  type Terms,
} from '../account/service.ts'
import * as accounts from '../account/store.ts'
import { TRIAL_SLOTS } from '../price-list.ts'
import { capacityOf, lockSlots, requireCapacity } from './capacity.ts'
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
  slotQuote,
  subscriptionStepAt,
  termEnd,
  termReference,
  trialEnd,
} from './rules.ts'
import * as store from './store.ts'
import { readWalletStatus } from './wallet-status-store.ts'

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
  const startedAt = deps.clock.now()
  const endsAt = trialEnd(startedAt)
  const telegramUserId = caller.telegramUserId ?? null
  await transact(deps.db, async (tx) => {
    await lockSlots(tx, wallet)
    const walletStatus = await readWalletStatus(tx, wallet)
    requireAccepted(deps.billing.terms, walletStatus.account)
    const remindAt = firstReminderAt('trial', endsAt)
    const trial = { wallet, telegramUserId, startedAt, endsAt, remindAt }
    const linked = await deps.linkedAccounts.lock(tx, wallet, startedAt)
    const accounts = [...new Set([...linked, ...(telegramUserId === null ? [] : [telegramUserId])])]
    const isFirst =
      !(await store.isTrialSpent(tx, wallet, accounts)) &&
      (await store.insertTrial(tx, trial)) &&
      (await store.insertTrialAccounts(
        tx,
        wallet,
        accounts.toSorted((a, b) => a - b),
      ))
    if (!isFirst) throw new AppError('conflict', 'trial_already_used')
    requireCapacity(capacityOf(walletStatus, deps.billing, startedAt), TRIAL_SLOTS)
    await store.insertCapacityChanges(tx, wallet, startedAt, endsAt)
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
  asked: SlotQuoteQuery,
): Promise<SlotQuote> {
  const balanceCredits = (await accounts.findAccount(db, wallet))?.balanceCredits ?? 0
  return slotQuote(asked, { balanceCredits, now: clock.now() })
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
  const now = deps.clock.now()
  const { totalCredits } = priceSlots(quantity, periods)
  const row = await transact(deps.db, async (tx) => {
    await lockSlots(tx, wallet)
    const walletStatus = await readWalletStatus(tx, wallet)
    requireAccepted(deps.billing.terms, walletStatus.account)
    requireCredits(walletStatus.account?.balanceCredits ?? 0, totalCredits)
    if (expectedCredits !== undefined && expectedCredits !== totalCredits) {
      const values = { count: totalCredits }
      throw new AppError('conflict', 'price_changed', { values, members: { totalCredits } })
    }
    requireCapacity(capacityOf(walletStatus, deps.billing, now), quantity)
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
    await store.insertCapacityChanges(tx, wallet, now)
    return bought
  })
  return toSubscription(row)
}

/** The wallet's subscriptions by id, including ended ones, its slots and its trial. */
export async function listSubscriptions(
  deps: ListingDeps,
  caller: Caller,
  { limit = PAGE_LIMIT_DEFAULT, cursor }: SubscriptionQuery,
): Promise<SubscriptionList> {
  const { db, clock, billing } = deps
  const { wallet } = caller
  const [after = 0] = readCursor(cursor, [ID_MAX], LIST) ?? []
  const rows = await store.listSubscriptions(db, wallet, after, limit + 1)
  const page = toPage(rows, limit, LIST, ({ id }) => [id])
  const walletStatus = await readWalletStatus(db, wallet)
  const { trial } = walletStatus
  return {
    ...page,
    data: page.data.map(toSubscription),
    capacity: capacityOf(walletStatus, billing, clock.now()),
    trial: {
      available: trial === undefined && (await isTrialAvailable(deps, caller)),
      startedAt: trial?.startedAt ?? null,
      endsAt: trial?.endsAt ?? null,
    },
  }
}

/** Whether the caller can start the free trial. */
export async function isTrialAvailable(
  { db, billing, linkedAccounts }: ListingDeps,
  { wallet, telegramUserId }: Caller,
): Promise<boolean> {
  if (!billing.enabled) return false
  const linked = await linkedAccounts.list(db, wallet)
  const people = telegramUserId === undefined ? linked : [...linked, telegramUserId]
  return !(await store.isTrialUsed(db, wallet, people))
}

/**
 * Switches automatic renewal on or off, for one subscription or for all that have not ended. A subscription
 * that has ended stays unchanged.
 *
 * @param newestId highest id of a subscription that may change
 * @throws AppError not_found
 */
export async function setAutoRenew(
  deps: ListingDeps,
  caller: Caller,
  { autoRenew, id }: SubscriptionChanges,
  newestId = ID_MAX,
): Promise<SubscriptionList> {
  await transact(deps.db, async (tx) => {
    const isKnown = id === undefined || (await store.hasSubscription(tx, caller.wallet, id))
    if (!isKnown) throw new AppError('not_found', 'not_found')
    for (const row of await store.lockRunning(tx, caller.wallet)) {
      if ((id ?? row.id) !== row.id || row.id > newestId) continue
      const next = { ...row, autoRenew }
      await store.updateSubscription(tx, row, {
        autoRenew,
        dueAt: subscriptionStepAt(next) ?? null,
      })
    }
  })
  return listSubscriptions(deps, caller, {})
}

/** Converts a stored subscription to one as callers see it. */
export function toSubscription(row: store.SubscriptionRow): Subscription {
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
