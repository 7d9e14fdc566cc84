/** Reminders of the end of paid terms and of the trial. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import * as accounts from '../account/store.ts'
import { lockSlots } from './capacity.ts'
import { forEachDueWallet } from './due-wallets.ts'
import {
  dueReminders,
  missingCredits,
  nextSubscriptionReminder,
  priceSlots,
  remainingSlots,
  trialSlots,
} from './rules.ts'
import * as store from './store.ts'

/** Credits that each automatic renewal costs, and the periods that it lasts. */
export interface RenewalOffer {
  readonly credits: number
  readonly periods: number
}

/** Slots whose term ends soon. */
export interface EndingSlots {
  readonly wallet: Address
  /** Ids of the subscription and of its term. */
  readonly id: number
  readonly term: number
  readonly quantity: number
  readonly endsAt: Date
  /** Price of the renewal and the missing credits; null without automatic renewal. */
  readonly renewal: { readonly credits: number; readonly missingCredits: number } | null
  /** Price of each renewal if automatic renewal is turned on; null if it is on. */
  readonly offer: RenewalOffer | null
  /** Slots of the wallet after that end. */
  readonly slotsLeft: number
  readonly at: Date
}

/** Slots that will be renewed soon, with a balance that covers the price. */
export interface ComingRenewal {
  readonly wallet: Address
  readonly id: number
  readonly term: number
  readonly quantity: number
  readonly endsAt: Date
  readonly credits: number
  readonly balanceCredits: number
}

/** A trial that ends soon. */
export interface EndingTrial {
  readonly wallet: Address
  readonly endsAt: Date
  /** Slots of the wallet after that end. */
  readonly slotsLeft: number
  readonly at: Date
}

/** Listener that notifies the wallet's owner, in the transaction that records the reminder. */
interface ReminderListener {
  slotsEnd(tx: Db, ending: EndingSlots): Promise<void>
  slotsRenew(tx: Db, renewal: ComingRenewal): Promise<void>
  trialEnds(tx: Db, ending: EndingTrial): Promise<void>
}

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly quarantine: Quarantine
  readonly billing: { readonly enabled: boolean }
  readonly notices: ReminderListener
}

/**
 * Sends every due reminder. The end of a term is announced 7 days and 1 day before; if the term renews
 * automatically and the balance suffices, the renewal is announced 3 days before instead. The end of the
 * trial is announced 2 days before.
 *
 * Each reminder is sent once, whatever the number of processes: the transaction that sends a reminder also
 * records it, under the lock of the wallet's account. Reminders that a stopped service missed are sent as
 * one, and never after the end. A wallet that fails is put into quarantine, and the others are processed.
 */
export async function sendDueReminders(deps: Deps, signal: AbortSignal): Promise<void> {
  const { db, quarantine } = deps
  if (!deps.billing.enabled || (await store.isBillingPaused(db))) return
  const now = deps.clock.now()
  const list = (page: Parameters<typeof store.listWalletsToRemind>[2]) =>
    store.listWalletsToRemind(db, now, page)
  await forEachDueWallet({ quarantine, kind: 'reminder', signal, list }, (wallet) =>
    transact(db, async (tx) => {
      await lockSlots(tx, wallet)
      await remindOfTerms(deps, tx, wallet, now)
      await remindOfTrial(deps, tx, wallet, now)
    }),
  )
}

async function remindOfTerms(deps: Deps, tx: Db, wallet: Address, now: Date): Promise<void> {
  const rows = await store.lockRunning(tx, wallet)
  const due = rows.filter(({ remindAt }) => remindAt !== null && remindAt <= now)
  if (due.length === 0) return
  const trial = await store.findTrial(tx, wallet)
  const balanceCredits = (await accounts.findAccount(tx, wallet))?.balanceCredits ?? 0
  for (const { id, term, quantity, periods, endsAt, autoRenew, ...row } of due) {
    const reminders = dueReminders({ endsAt, remindAt: row.remindAt ?? now }, now)
    const remindAt = nextSubscriptionReminder('term', endsAt, now) ?? null
    await store.updateSubscription(tx, { wallet, id }, { remindAt })
    if (now >= endsAt) continue
    const missing = missingCredits(rows, id, balanceCredits)
    const { totalCredits: credits } = priceSlots(quantity, periods)
    if (autoRenew && missing === 0) {
      if (!reminders.ofRenewal) continue
      const coming = { wallet, id, term, quantity, endsAt, credits, balanceCredits }
      await deps.notices.slotsRenew(tx, coming)
      continue
    }
    if (!reminders.ofEnd) continue
    await deps.notices.slotsEnd(tx, {
      wallet,
      id,
      term,
      quantity,
      endsAt,
      renewal: autoRenew ? { credits, missingCredits: missing } : null,
      offer: autoRenew ? null : { credits, periods },
      slotsLeft: remainingSlots(rows, id, endsAt) + trialSlots(trial, endsAt),
      at: now,
    })
  }
}

async function remindOfTrial(deps: Deps, tx: Db, wallet: Address, now: Date): Promise<void> {
  const trial = await store.findTrial(tx, wallet)
  if (trial === undefined || trial.remindAt === null || trial.remindAt > now) return
  await store.endTrialReminders(tx, wallet)
  const { endsAt } = trial
  if (now >= endsAt) return
  const rows = await store.listRunning(tx, wallet)
  const left = remainingSlots(rows, undefined, endsAt)
  await deps.notices.trialEnds(tx, { wallet, endsAt, slotsLeft: left, at: now })
}
