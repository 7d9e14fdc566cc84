import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import { requireTerms, type Terms } from '../account/service.ts'
import * as accounts from '../account/store.ts'
import { TRIAL_SLOTS } from '../price-list.ts'
import type { Trial } from './model.ts'
import { trialEnd, trialSlots } from './rules.ts'
import * as store from './store.ts'

/**
 * Starts the free trial: one slot for 14 days, once per wallet and once per Telegram account.
 *
 * @throws AppError forbidden `terms_not_accepted`, conflict `trial_already_used`
 */
export async function startTrial(
  deps: { readonly db: Db; readonly clock: Clock; readonly billing: { readonly terms: Terms } },
  caller: Caller,
): Promise<Trial> {
  await requireTerms(deps, caller.wallet)
  const startedAt = deps.clock.now()
  const endsAt = trialEnd(startedAt)
  const trial = {
    wallet: caller.wallet,
    telegramUserId: caller.telegramUserId ?? null,
    startedAt,
    endsAt,
  }
  const isFirst = await store.insertTrial(deps.db, trial)
  if (!isFirst) throw new AppError('conflict', 'trial_already_used')
  return { slots: TRIAL_SLOTS, startedAt, endsAt }
}

/**
 * Takes one slot for a new watch, in the watch's transaction.
 *
 * @throws AppError conflict `no_free_slot`
 */
export async function occupySlot(tx: Db, wallet: Address, now: Date): Promise<void> {
  await accounts.ensureAccount(tx, wallet, now)
  const capacity = trialSlots(await store.findTrial(tx, wallet), now)
  const isTaken = await accounts.occupySlot(tx, wallet, capacity)
  if (!isTaken) throw new AppError('conflict', 'no_free_slot', { values: { count: capacity } })
}

/** Gives a deleted watch's slot back, in the watch's transaction. */
export async function releaseSlot(tx: Db, wallet: Address): Promise<void> {
  await accounts.releaseSlot(tx, wallet)
}
