/** What time does to subscriptions: renewed, in grace, over. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import { debit } from '../account/service.ts'
import * as accounts from '../account/store.ts'
import { lockSlots } from './capacity.ts'
import { forEachDue } from './due.ts'
import { moveForPauses, recordBillingOff, recordBillingOn } from './pauses.ts'
import {
  dueAt,
  dueStep,
  firstReminder,
  goneAt,
  lastRenewalTry,
  nextRenewal,
  priceSlots,
  slotsLeft,
  termEnd,
  termReference,
  trialSlots,
} from './rules.ts'
import * as store from './store.ts'

/** A renewal that failed for want of credits, after however many tries. */
export interface FailedRenewal {
  readonly wallet: Address
  /** The subscription, which term is unpaid, and how often that was tried. */
  readonly id: number
  readonly term: number
  readonly tries: number
  readonly quantity: number
  readonly missingCredits: number
  /** undefined: this was the last one. */
  readonly nextTryAt: Date | undefined
  readonly lastTryAt: Date
  /** Until when the slots stay. */
  readonly goneAt: Date
  /** Slots the wallet has left then. */
  readonly slotsLeft: number
  readonly at: Date
}

/** Slots that were renewed, for one term or, after a pause of the service, several. */
export interface PaidRenewal {
  readonly wallet: Address
  readonly id: number
  /** The last term that was paid. */
  readonly term: number
  readonly quantity: number
  readonly endsAt: Date
  /** Of all the terms together. */
  readonly credits: number
  readonly balanceCredits: number
}

/** Notifies a wallet's owner, in the transaction of what happened. */
interface RenewalNews {
  renewed(tx: Db, renewal: PaidRenewal): Promise<void>
  renewalFailed(tx: Db, failed: FailedRenewal): Promise<void>
}

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly quarantine: Quarantine
  readonly billing: { readonly enabled: boolean }
  readonly notices: RenewalNews
}

/**
 * Renews or ends every subscription that is due.
 *
 * A wallet's subscriptions are one transaction, payment and notices included, and each term has one
 * ledger reference: whenever the process dies, a term is paid once or not at all. A wallet that fails is
 * put into quarantine and tried again by the next pass; the others go on. After a pause of the
 * service the tries that were missed are made up for, and told as one; a renewed term begins where the
 * last one ended. Where nothing is charged, nothing is renewed, and terms stand still.
 */
export async function renewDue(deps: Deps, signal: AbortSignal): Promise<void> {
  const { db, log, quarantine } = deps
  if (!deps.billing.enabled) return recordBillingOff(deps)
  await recordBillingOn(deps, signal)
  const now = deps.clock.now()
  const list = (page: Parameters<typeof store.listDueWallets>[2]) =>
    store.listDueWallets(db, now, page)
  await forEachDue({ quarantine, kind: 'renewal', signal, list }, async (wallet) => {
    const settled = await transact(db, (tx) => settleWallet(deps, tx, wallet, now))
    for (const { id, status, endsAt } of settled) {
      log.info({ wallet, subscription: id, status, endsAt }, 'subscription settled')
    }
  })
}

/** @returns the subscriptions that changed, as they are now */
async function settleWallet(
  { notices }: Deps,
  tx: Db,
  wallet: Address,
  now: Date,
): Promise<store.SubscriptionRow[]> {
  await lockSlots(tx, wallet)
  await moveForPauses(tx, wallet, now)
  const settled: store.SubscriptionRow[] = []
  const renewed: Omit<PaidRenewal, 'balanceCredits'>[] = []
  for (const row of await store.lockRunning(tx, wallet)) {
    const next = await settle(tx, wallet, row, now)
    if (next === row) {
      const due = dueAt(row) ?? null
      // A release may have changed the rule since the row was written.
      if (due?.getTime() !== row.dueAt?.getTime()) {
        await store.updateSubscription(tx, row.id, { dueAt: due })
      }
      continue
    }
    const { id, ...columns } = next
    const remindAt = next.status === 'active' ? firstReminder('term', next.endsAt) : null
    await store.updateSubscription(tx, id, { ...columns, dueAt: dueAt(next) ?? null, remindAt })
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
    await store.insertCapacityChange(tx, wallet, goneAt(row) ?? now)
  }
  return settled
}

async function settle(
  tx: Db,
  wallet: Address,
  row: store.SubscriptionRow,
  now: Date,
): Promise<store.SubscriptionRow> {
  const step = dueStep(row, now)
  if (step === 'nothing') return row
  if (step === 'expire') return { ...row, status: 'expired' }
  return settle(tx, wallet, await renew(tx, wallet, row, now), now)
}

/** The next term, paid; or the same one in grace. */
async function renew(
  tx: Db,
  wallet: Address,
  row: store.SubscriptionRow,
  now: Date,
): Promise<store.SubscriptionRow> {
  const { totalCredits } = priceSlots(row.quantity, row.periods)
  const term = row.term + 1
  const paid = await debit(tx, {
    wallet,
    type: 'subscription',
    amountCredits: totalCredits,
    reference: termReference(row.id, term),
    at: now,
  })
  if (!paid.ok) {
    const failedRenewals = row.failedRenewals + 1
    return { ...row, status: 'grace', failedRenewals, lastRenewalError: 'insufficient_credits' }
  }
  return {
    ...row,
    status: 'active',
    term,
    startsAt: row.endsAt,
    endsAt: termEnd(row.endsAt, row.periods),
    totalCredits,
    failedRenewals: 0,
    lastRenewalError: null,
  }
}

/** As it stands when everything of the wallet is settled. */
async function describeFailure(
  tx: Db,
  wallet: Address,
  row: store.SubscriptionRow,
  at: Date,
): Promise<FailedRenewal> {
  const { id, quantity, periods, endsAt, failedRenewals: tries } = row
  const { balanceCredits = 0 } = (await accounts.findAccount(tx, wallet)) ?? {}
  const gone = goneAt(row) ?? endsAt
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
    slotsLeft: slotsLeft(await store.listRunning(tx, wallet), id, gone) + trialSlots(trial, gone),
    at,
  }
}

/** When credits are needed next to keep slots, and how many. */
export interface NextRenewal {
  readonly at: Date
  readonly credits: number
}

/** The next renewal of any of the wallet's subscriptions, at today's price; undefined when there is none. */
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
