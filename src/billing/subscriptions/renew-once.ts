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
import type { Renewal, RenewalQuote, Subscription } from './model.ts'
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

/**
 * The next term of a subscription at today's price.
 *
 * @throws AppError not_found when the wallet has no such subscription, or it has ended
 */
export async function quoteRenewal(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { wallet }: Caller,
  { id }: { readonly id: number },
): Promise<RenewalQuote> {
  const row = renewable(await store.listRunning(db, wallet), id, clock.now())
  const balanceCredits = (await accounts.findAccount(db, wallet))?.balanceCredits ?? 0
  return {
    subscription: toSubscription(row),
    term: row.term + 1,
    quote: slotQuote(row, { balanceCredits, now: row.endsAt }),
  }
}

/**
 * Pays a term of a subscription, which begins where the last paid one ends. A term is paid once, however often and by
 * whomever it is asked for: if this term is paid already, nothing is charged. A term after the next one is refused,
 * because the same call would pay another term each time.
 *
 * @param renewal `term`: number of the term to pay
 * @returns the subscription with its new end
 * @throws AppError not_found when the wallet has no such subscription, or it has ended; forbidden `terms_not_accepted`,
 * payment_required `insufficient_credits`, conflict `billing_disabled`, `term_not_next` or `price_changed`
 */
export async function renewOnce(
  deps: {
    readonly db: Db
    readonly clock: Clock
    readonly billing: { readonly enabled: boolean; readonly terms: Terms }
  },
  { wallet }: Caller,
  renewal: Renewal & { readonly id: number },
): Promise<Subscription> {
  requireBilling(deps.billing)
  const now = deps.clock.now()
  return await transact(deps.db, async (tx) => {
    await lockSlots(tx, wallet)
    const row = renewable(await store.lockRunning(tx, wallet), renewal.id, now)
    if (row.term >= renewal.term) return toSubscription(row)
    const next = row.term + 1
    if (renewal.term !== next) {
      throw new AppError('conflict', 'term_not_next', { values: { number: next } })
    }
    return toSubscription(await payNextTerm(tx, deps.billing.terms, { wallet, row, renewal, now }))
  })
}

/** The running subscription with this id. @throws AppError not_found, also for one that is due to end */
function renewable(
  running: readonly store.SubscriptionRow[],
  id: number,
  now: Date,
): store.SubscriptionRow {
  const row = running.find((subscription) => subscription.id === id)
  if (row !== undefined && dueSubscriptionStep(row, now) !== 'expire') return row
  throw new AppError('not_found', 'not_found')
}

async function payNextTerm(
  tx: Db,
  terms: Terms,
  about: {
    readonly wallet: Address
    readonly row: store.SubscriptionRow
    readonly renewal: Renewal
    readonly now: Date
  },
): Promise<store.SubscriptionRow> {
  const { wallet, row, renewal, now } = about
  const { account } = await readWalletStatus(tx, wallet)
  requireAccepted(terms, account)
  const { totalCredits } = priceSlots(row.quantity, row.periods)
  requireCredits(account?.balanceCredits ?? 0, totalCredits)
  const { expectedCredits = totalCredits } = renewal
  if (expectedCredits !== totalCredits) {
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
