import { z } from 'zod'
import { type Db, transact } from '#src/db/connection.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Hash, storedAddress } from '#src/kernel/units.ts'
import type { Topup } from './model.ts'
import { symbolOf } from './rules.ts'
import { createTopup, findLinkedTopup, type TopupDeps } from './service.ts'
import * as store from './store.ts'

/** How often one request to buy is quoted anew by whoever holds its link. */
const RENEWALS_MAX = 3

/**
 * A new quote for the same wallet and credits, in the place of one that is over and unpaid. For whoever
 * knows the handle; asked again, the same new quote.
 *
 * @param request `asset`: the symbol of another one, where the first cannot be had any more
 * @returns undefined when there is no such top-up
 * @throws AppError conflict `topup_state` when it is not over, or was quoted anew too often; and what
 *   `createTopup` throws
 */
export async function renewTopup(
  deps: TopupDeps,
  request: { readonly handle: Hash; readonly locale: Locale; readonly asset?: string | undefined },
): Promise<Topup | undefined> {
  const { handle, locale } = request
  return await transact(deps.db, async (tx) => {
    const inside = { ...deps, db: tx }
    const row = await store.lockTopup(tx, handle)
    const topup = row && (await findLinkedTopup(inside, { handle, locale }))
    if (row === undefined || topup === undefined) return undefined
    const made = await store.findRenewal(tx, handle)
    if (made !== undefined) {
      return await findLinkedTopup(inside, { handle: z.decode(Hash, made.handle), locale })
    }
    const isOver = isUnpaid(topup) && topup.expiresAt <= deps.clock.now()
    if (!isOver || (await countRenewals(tx, row)) >= RENEWALS_MAX) {
      const members = { topupStatus: topup.status, reason: topup.reason }
      throw new AppError('conflict', 'topup_state', { members })
    }
    const asset = request.asset ?? symbolOf(row.asset, deps.billing.serviceTokenSymbol)
    const input = { asset, credits: row.credits }
    const caller = { wallet: storedAddress(row.wallet) }
    return await createTopup(inside, caller, { input, locale, renews: handle })
  })
}

/** Whether a quote is over and can be had anew by its link. */
export async function isRenewable(
  { db, clock }: Pick<TopupDeps, 'db' | 'clock'>,
  topup: Pick<Topup, 'handle' | 'status' | 'expiresAt'>,
): Promise<boolean> {
  if (!isUnpaid(topup) || topup.expiresAt > clock.now()) return false
  const row = await store.findTopup(db, topup.handle)
  return row !== undefined && (await countRenewals(db, row)) < RENEWALS_MAX
}

/** Nothing was paid for it, and nothing is on its way. */
function isUnpaid({ status }: Pick<Topup, 'status'>): boolean {
  return status === 'expired' || status === 'failed' || status === 'rejected'
}

/** How many quotes this one has taken the place of, as far as that matters. */
async function countRenewals(db: Db, topup: store.TopupRow): Promise<number> {
  let count = 0
  let current: store.TopupRow | undefined = topup
  while (current !== undefined && current.renews !== null && count < RENEWALS_MAX) {
    count += 1
    current = await store.findTopup(db, current.renews)
  }
  return count
}
