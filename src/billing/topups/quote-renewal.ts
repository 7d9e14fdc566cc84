import { z } from 'zod'
import { type Db, transact } from '#src/db/connection.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Hash, storedAddress } from '#src/kernel/units.ts'
import type { Topup } from './model.ts'
import { symbolOf } from './rules.ts'
import { createTopup, readAssetOfNewTopup, type TopupDeps } from './service.ts'
import * as store from './store.ts'
import { findLinkedTopup } from './topup-record.ts'

/** Maximum number of renewals of one quote by holders of its link. */
const RENEWALS_MAX = 3

/**
 * Replaces an expired unpaid quote by a new quote for the same wallet and credits, for a holder of the
 * handle. Idempotent: a second call returns the same new quote.
 *
 * @param request `asset`: symbol of another asset, if the first is no longer available
 * @returns undefined when there is no such top-up
 * @throws AppError conflict `topup_state` when the quote has not expired, or was renewed too often; the
 * errors of `createTopup`
 */
export async function renewTopup(
  deps: TopupDeps,
  request: { readonly handle: Hash; readonly locale: Locale; readonly asset?: string | undefined },
): Promise<Topup | undefined> {
  const { handle, locale } = request
  const topup = await store.findTopup(deps.db, handle)
  if (topup === undefined) return undefined
  const replacement = await findReplacement(deps, topup, locale)
  if (replacement !== undefined) return replacement
  // A quote is immutable, so it is read before its row is locked.
  const asset = request.asset ?? symbolOf(topup.asset, deps.billing.serviceTokenSymbol)
  const input = { asset, credits: topup.credits }
  const caller = { wallet: storedAddress(topup.wallet) }
  const assetState = await readAssetOfNewTopup(deps, caller, input)
  return await transact(deps.db, async (tx) => {
    const txDeps = { ...deps, db: tx }
    const row = await store.lockTopup(tx, handle)
    if (row === undefined) return undefined
    const replacement = await findReplacement(txDeps, row, locale)
    if (replacement !== undefined) return replacement
    return await createTopup(txDeps, caller, { input, locale, renews: handle, assetState })
  })
}

/**
 * The quote that replaced the given quote; undefined if there is none and the given quote can be replaced
 * now.
 *
 * @throws AppError conflict `topup_state` when the quote has no replacement and cannot be renewed
 */
async function findReplacement(
  deps: TopupDeps,
  row: store.TopupRow,
  locale: Locale,
): Promise<Topup | undefined> {
  const handle = z.decode(Hash, row.handle)
  const replacement = await store.findRenewal(deps.db, handle)
  if (replacement !== undefined) {
    return await findLinkedTopup(deps, { handle: z.decode(Hash, replacement.handle), locale })
  }
  const topup = await findLinkedTopup(deps, { handle, locale })
  const isExpiredUncredited =
    topup && hasNoCountedPayment(topup) && topup.expiresAt <= deps.clock.now()
  if (!isExpiredUncredited || (await countRenewals(deps.db, row)) >= RENEWALS_MAX) {
    const members = { topupStatus: topup?.status, reason: topup?.reason }
    throw new AppError('conflict', 'topup_state', { members })
  }
  return undefined
}

/** Whether a quote has expired and can be renewed by its link. */
export async function isRenewable(
  { db, clock }: Pick<TopupDeps, 'db' | 'clock'>,
  topup: Pick<Topup, 'handle' | 'status' | 'expiresAt'>,
): Promise<boolean> {
  if (!hasNoCountedPayment(topup) || topup.expiresAt > clock.now()) return false
  const row = await store.findTopup(db, topup.handle)
  return row !== undefined && (await countRenewals(db, row)) < RENEWALS_MAX
}

/**
 * Whether the quote has expired, or its payments failed or were refused, so that nothing was credited and nothing is on
 * its way. False before the first payment of a quote that has not expired.
 */
function hasNoCountedPayment({ status }: Pick<Topup, 'status'>): boolean {
  return status === 'expired' || status === 'failed' || status === 'rejected'
}

/** Number of earlier quotes that a quote replaced, counted up to `RENEWALS_MAX`. */
async function countRenewals(db: Db, topup: store.TopupRow): Promise<number> {
  let count = 0
  let current: store.TopupRow | undefined = topup
  while (current !== undefined && current.renews !== null && count < RENEWALS_MAX) {
    count += 1
    current = await store.findTopup(db, current.renews)
  }
  return count
}
