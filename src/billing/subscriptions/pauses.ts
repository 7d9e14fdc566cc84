/** Pauses of billing, which extend terms and trials by their length. */
import { type Db, transact } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import { lockAccount } from '../account/store.ts'
import {
  nextSubscriptionReminder,
  pauseExtensionMs,
  subscriptionAfterPause,
  subscriptionStepAt,
} from './rules.ts'
import * as store from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly quarantine: Quarantine
}

/** Wallets read by one query. */
const WALLETS_PER_READ = 100

/** Records that billing is off. Idempotent: the first record keeps its time. */
export async function recordBillingOff({ db, clock }: Deps): Promise<void> {
  await store.beginBillingPause(db, clock.now())
}

/**
 * Records that billing is on, and moves the end of every term and trial by the time that billing was off.
 * Each wallet is processed in a separate transaction; a wallet that fails is put into quarantine and
 * retried by the next pass.
 */
export async function recordBillingOn(deps: Deps, signal: AbortSignal): Promise<void> {
  const { db, clock, log, quarantine } = deps
  const now = clock.now()
  const isOver = await transact(db, async (tx) => {
    const offAt = await store.endBillingPause(tx, now)
    // While billing was off, watches needed no slots; from now on they do. The stored changes are processed after
    // terms and trials have been moved.
    if (offAt !== undefined) await store.insertFreeCapacityChanges(tx, { offAt, at: now })
    return offAt !== undefined
  })
  if (isOver) log.info({ at: now }, 'billing is on again')
  const last = (await store.listUnappliedPauses(db)).at(-1)
  if (last === undefined) return
  const options = { quarantine, kind: 'billing-pause', idOf: (wallet: Address) => wallet }
  let moved = 0
  let left = 0
  for (let after: Address | undefined; !signal.aborted; ) {
    const wallets = await store.listWalletsWithUnappliedPause(db, last.number, {
      after,
      limit: WALLETS_PER_READ,
    })
    const done = await isolateEach(wallets, options, (wallet) =>
      transact(db, async (tx) => {
        await lockAccount(tx, wallet)
        await extendForBillingPauses(tx, wallet, now)
      }),
    )
    moved += done.length
    left += wallets.length - done.length
    after = wallets.at(-1)
    if (after === undefined) break
  }
  if (signal.aborted) return
  log.info({ wallets: moved, left }, 'terms and trials were extended by the pause of billing')
  if (left === 0) await store.markPausesApplied(db, last.number, now)
}

/**
 * Moves the terms and the trial of a wallet by the pauses that were not applied yet, in the caller's
 * transaction, which has locked the wallet's slots.
 */
export async function extendForBillingPauses(tx: Db, wallet: Address, now: Date): Promise<void> {
  const pauses = await store.listUnappliedPauses(tx)
  const last = pauses.at(-1)
  if (last === undefined) return
  let isMoved = false
  for (const row of await store.lockRunning(tx, wallet)) {
    const missed = pauses.filter(({ number }) => number > row.lastAppliedPause)
    if (missed.length === 0) continue
    isMoved = true
    const { startsAt, endsAt, ...next } = missed.reduce(subscriptionAfterPause, row)
    await store.updateSubscription(tx, row, {
      startsAt,
      endsAt,
      dueAt: subscriptionStepAt({ ...next, endsAt }) ?? null,
      remindAt: nextSubscriptionReminder('term', endsAt, now) ?? null,
      lastAppliedPause: last.number,
    })
  }
  if (await extendTrial(tx, wallet, pauses, now)) isMoved = true
  if (isMoved) await store.insertCapacityChanges(tx, wallet, now)
}

/**
 * Moves the start and the end of a trial.
 * @returns false if every pause was already applied, or there is no trial with an end
 */
async function extendTrial(
  tx: Db,
  wallet: Address,
  pauses: readonly store.EndedBillingPause[],
  now: Date,
): Promise<boolean> {
  const trial = await store.findTrial(tx, wallet)
  let { startedAt, endsAt, lastAppliedPause = 0 } = trial ?? {}
  if (trial === undefined || startedAt === undefined || endsAt === undefined) return false
  for (const pause of pauses.filter(({ number }) => number > trial.lastAppliedPause)) {
    lastAppliedPause = pause.number
    // A trial that ended before billing was switched off stays ended.
    if (endsAt <= pause.offAt) continue
    const ms = pauseExtensionMs({ startsAt: startedAt, dueAt: endsAt }, pause)
    startedAt = new Date(startedAt.getTime() + ms)
    endsAt = new Date(endsAt.getTime() + ms)
  }
  if (lastAppliedPause === trial.lastAppliedPause) return false
  if (endsAt.getTime() === trial.endsAt.getTime()) {
    await store.updateTrial(tx, wallet, { lastAppliedPause })
    return true
  }
  const remindAt = nextSubscriptionReminder('trial', endsAt, now) ?? null
  await store.updateTrial(tx, wallet, { startedAt, endsAt, remindAt, lastAppliedPause })
  await store.insertCapacityChanges(tx, wallet, endsAt)
  return true
}
