/** Renewal, grace and end of subscriptions. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import { debit } from '../account/service.ts'
import * as accounts from '../account/store.ts'
import { lockSlots } from './capacity.ts'
import { forEachDueWallet } from './due-wallets.ts'
import { recordBillingOff, recordBillingOn } from './pauses.ts'
import {
  dueSubscriptionStep,
  firstReminderAt,
  lastRenewalTry,
  nextRenewal,
  nextTerm,
  priceSlots,
  remainingSlots,
  slotsEndAt,
  subscriptionStepAt,
  termReference,
  trialSlots,
} from './rules.ts'
import * as store from './store.ts'

/** A renewal that failed one or more times for lack of credits. */
export interface FailedRenewal {
  readonly wallet: Address
  /** Ids of the subscription and of the unpaid term, and the number of tries. */
  readonly id: number
  readonly term: number
  readonly tries: number
  readonly quantity: number
  readonly missingCredits: number
  /** Time of the next try; undefined after the last. */
  readonly nextTryAt: Date | undefined
  readonly lastTryAt: Date
  /** Time until which the slots stay. */
  readonly goneAt: Date
  /** Slots of the wallet after that time. */
  readonly slotsLeft: number
  readonly at: Date
}

/** Slots that were renewed, for one term or, after a stop of the service, for several terms. */
export interface PaidRenewal {
  readonly wallet: Address
  readonly id: number
  /** The last paid term. */
  readonly term: number
  readonly quantity: number
  readonly endsAt: Date
  /** Sum over all the terms. */
  readonly credits: number
  readonly balanceCredits: number
}

/** Listener that notifies the wallet's owner, in the transaction of the change. */
interface RenewalListener {
  renewed(tx: Db, renewal: PaidRenewal): Promise<void>
  renewalFailed(tx: Db, failed: FailedRenewal): Promise<void>
}

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly quarantine: Quarantine
  readonly billing: { readonly enabled: boolean }
  readonly notices: RenewalListener
}

/**
 * Renews or ends every subscription that is due.
 *
 * All subscriptions of a wallet are processed in one transaction, with payment and notices, and each term
 * has one ledger reference: even if the process dies, a term is paid once or not at all. A wallet that
 * fails is put into quarantine and retried by the next pass; the others are processed. After a stop of the
 * service the missed tries are made up for with one notice; a renewed term begins where the previous term
 * ended. Where billing is disabled nothing is renewed or ended.
 */
export async function renewDueSubscriptions(deps: Deps, signal: AbortSignal): Promise<void> {
  const { db, log, quarantine } = deps
  if (!deps.billing.enabled) return recordBillingOff(deps)
  await recordBillingOn(deps)
  const now = deps.clock.now()
  const list = (page: Parameters<typeof store.listDueWallets>[2]) =>
    store.listDueWallets(db, now, page)
  await forEachDueWallet({ quarantine, kind: 'renewal', signal, list }, async (wallet) => {
    const settled = await transact(db, (tx) => settleWallet(deps, tx, wallet, now))
    for (const { id, status, endsAt } of settled) {
      log.info({ wallet, subscription: id, status, endsAt }, 'state of a subscription changed')
    }
  })
}

/**
 * Renews or ends a wallet's due subscriptions.
 * @returns the subscriptions that changed, in their new state
 */
async function settleWallet(
  { notices }: Deps,
  tx: Db,
  wallet: Address,
  now: Date,
): Promise<store.SubscriptionRow[]> {
  await lockSlots(tx, wallet)
  const settled: store.SubscriptionRow[] = []
  const renewed: Omit<PaidRenewal, 'balanceCredits'>[] = []
  for (const row of await store.lockRunning(tx, wallet)) {
    const next = await settle(tx, wallet, row, now)
    if (next === row) {
      const due = subscriptionStepAt(row) ?? null
      if (due?.getTime() !== row.dueAt?.getTime()) {
        throw new Error(`subscription ${row.id} is due at another time than the rules give`)
      }
      continue
    }
    const { id, wallet: _, ...columns } = next
    const remindAt = next.status === 'active' ? firstReminderAt('term', next.endsAt) : null
    await store.updateSubscription(tx, row, {
      ...columns,
      dueAt: subscriptionStepAt(next) ?? null,
      remindAt,
    })
    settled.push(next)
    const terms = next.term - row.term
    if (terms > 0) {
      const { term, quantity, endsAt } = next
      const credits = terms * next.totalCredits
      renewed.push({ wallet, id, term, quantity, endsAt, credits })
    }
  }
  if (renewed.length > 0) {
    const { balanceCredits = 0 } = (await accounts.findAccount(tx, wallet)) ?? {}
    for (const renewal of renewed) await notices.renewed(tx, { ...renewal, balanceCredits })
  }
  for (const row of settled.filter(({ status }) => status === 'grace')) {
    await notices.renewalFailed(tx, await describeFailure(tx, wallet, row, now))
  }
  for (const row of settled.filter(({ status }) => status === 'expired')) {
    await store.insertCapacityChanges(tx, wallet, slotsEndAt(row) ?? now)
  }
  return settled
}

async function settle(
  tx: Db,
  wallet: Address,
  row: store.SubscriptionRow,
  now: Date,
): Promise<store.SubscriptionRow> {
  const step = dueSubscriptionStep(row, now)
  if (step === 'nothing') return row
  if (step === 'expire') return { ...row, status: 'expired' }
  return settle(tx, wallet, await renew(tx, wallet, row, now), now)
}

/** Pays the next term, or puts the subscription into grace. */
async function renew(
  tx: Db,
  wallet: Address,
  row: store.SubscriptionRow,
  now: Date,
): Promise<store.SubscriptionRow> {
  const next = nextTerm(row)
  const paid = await debit(tx, {
    wallet,
    type: 'subscription',
    amountCredits: next.totalCredits,
    reference: termReference(row.id, next.term),
    at: now,
  })
  if (!paid.ok) {
    const failedRenewals = row.failedRenewals + 1
    return { ...row, status: 'grace', failedRenewals, lastRenewalError: 'insufficient_credits' }
  }
  return { ...row, ...next }
}

/** Describes a failed renewal after all subscriptions of the wallet are settled. */
async function describeFailure(
  tx: Db,
  wallet: Address,
  row: store.SubscriptionRow,
  at: Date,
): Promise<FailedRenewal> {
  const { id, quantity, periods, endsAt, failedRenewals: tries } = row
  const { balanceCredits = 0 } = (await accounts.findAccount(tx, wallet)) ?? {}
  const gone = slotsEndAt(row) ?? endsAt
  const trial = await store.findTrial(tx, wallet)
  return {
    wallet,
    id,
    term: row.term + 1,
    tries,
    quantity,
    missingCredits: Math.max(0, priceSlots(quantity, periods).totalCredits - balanceCredits),
    nextTryAt: nextRenewal(row),
    lastTryAt: lastRenewalTry(endsAt),
    goneAt: gone,
    slotsLeft:
      remainingSlots(await store.listRunning(tx, wallet), id, gone) + trialSlots(trial, gone),
    at,
  }
}

/** The next renewal that needs credits, with its time and price. */
export interface NextRenewal {
  readonly at: Date
  readonly credits: number
}

/**
 * The next renewal of any of the wallet's subscriptions, at today's price; undefined when there is none.
 */
export async function findNextRenewal(db: Db, wallet: Address): Promise<NextRenewal | undefined> {
  const rows = await store.listRunning(db, wallet)
  return rows
    .flatMap((row): NextRenewal[] => {
      const at = nextRenewal(row)
      const { totalCredits: credits } = priceSlots(row.quantity, row.periods)
      return at === undefined ? [] : [{ at, credits }]
    })
    .toSorted((a, b) => a.at.getTime() - b.at.getTime())[0]
}
