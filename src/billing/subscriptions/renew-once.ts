/** Renewal of a subscription before its end, once, when a person asks for it. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import {
  debit,
  requireAccepted,
  requireBilling,
  requireCredits,
  type Terms,
} from '../account/service.ts'
import * as accounts from '../account/store.ts'
import { lockSlots } from './capacity.ts'
import type { SlotQuote, Subscription } from './model.ts'
import { extendForBillingPauses } from './pauses.ts'
import {
  dueSubscriptionStep,
  firstReminderAt,
  nextTerm,
  priceSlots,
  slotQuote,
  subscriptionStepAt,
  termReference,
} from './rules.ts'
import { toSubscription } from './service.ts'
import * as store from './store.ts'
import { readWalletStatus } from './wallet-status-store.ts'

/** The next term of a subscription at today's price. `term`: its number. */
export interface RenewalQuote {
  readonly subscription: Subscription
  readonly term: number
  readonly quote: SlotQuote
}

/** The next term of a subscription; undefined if the wallet has none with this id, or it has ended. */
export async function quoteRenewal(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { wallet }: Caller,
  { id }: { readonly id: number },
): Promise<RenewalQuote | undefined> {
  const row = renewable(await store.listRunning(db, wallet), id, clock.now())
  if (row === undefined) return undefined
  const balanceCredits = (await accounts.findAccount(db, wallet))?.balanceCredits ?? 0
  return {
    subscription: toSubscription(row),
    term: row.term + 1,
    quote: slotQuote(row, { balanceCredits, now: row.endsAt }),
  }
}

/**
 * Pays the next term of a subscription, which begins where the last paid one ends. A term is paid once, however often
 * and by whomever it is asked for: if this term is paid already, nothing is charged.
 *
 * @param renewal `term`: number of the term to pay
 * @returns the subscription with its new end; undefined if it has ended
 * @throws AppError forbidden `terms_not_accepted`, payment_required `insufficient_credits`, conflict
 * `billing_disabled` or `price_changed`
 */
export async function renewOnce(
  deps: {
    readonly db: Db
    readonly clock: Clock
    readonly billing: { readonly enabled: boolean; readonly terms: Terms }
  },
  { wallet }: Caller,
  renewal: { readonly id: number; readonly term: number; readonly expectedCredits: number },
): Promise<Subscription | undefined> {
  requireBilling(deps.billing)
  const now = deps.clock.now()
  return await transact(deps.db, async (tx) => {
    await lockSlots(tx, wallet)
    await extendForBillingPauses(tx, wallet, now)
    const row = renewable(await store.lockRunning(tx, wallet), renewal.id, now)
    if (row === undefined) return undefined
    if (row.term >= renewal.term) return toSubscription(row)
    return toSubscription(await payNextTerm(tx, deps.billing.terms, { wallet, row, renewal, now }))
  })
}

/** The running subscription with this id; undefined for one that is due to end. */
function renewable(
  running: readonly store.SubscriptionRow[],
  id: number,
  now: Date,
): store.SubscriptionRow | undefined {
  const row = running.find((subscription) => subscription.id === id)
  return row !== undefined && dueSubscriptionStep(row, now) !== 'expire' ? row : undefined
}

async function payNextTerm(
  tx: Db,
  terms: Terms,
  about: {
    readonly wallet: Address
    readonly row: store.SubscriptionRow
    readonly renewal: { readonly expectedCredits: number }
    readonly now: Date
  },
): Promise<store.SubscriptionRow> {
  const { wallet, row, renewal, now } = about
  const { account } = await readWalletStatus(tx, wallet)
  requireAccepted(terms, account)
  const { totalCredits } = priceSlots(row.quantity, row.periods)
  requireCredits(account?.balanceCredits ?? 0, totalCredits)
  if (renewal.expectedCredits !== totalCredits) {
    const values = { count: totalCredits }
    throw new AppError('conflict', 'price_changed', { values, members: { totalCredits } })
  }
  const next = { ...row, ...nextTerm(row) }
  const reference = termReference(row.id, next.term)
  const entry = { type: 'subscription', amountCredits: totalCredits, reference, at: now } as const
  const paid = await debit(tx, { wallet, ...entry })
  if (!paid.ok) throw new Error('a balance changed while its account was locked')
  const { id: _, wallet: __, ...columns } = next
  await store.updateSubscription(tx, row, {
    ...columns,
    dueAt: subscriptionStepAt(next) ?? null,
    remindAt: firstReminderAt('term', next.endsAt),
  })
  return next
}
