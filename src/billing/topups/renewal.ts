import { z } from 'zod'
import { type Db, transact } from '#src/db/connection.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Hash, storedAddress } from '#src/kernel/units.ts'
import type { Topup } from './model.ts'
import { symbolOf } from './rules.ts'
import { createTopup, findLinkedTopup, readOffer, type TopupDeps } from './service.ts'
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
  const found = await store.findTopup(deps.db, handle)
  if (found === undefined) return undefined
  const known = await findRenewed(deps, found, locale)
  if (known !== undefined) return known
  // What a quote says of itself never changes, so it is read before its row is locked.
  const asset = request.asset ?? symbolOf(found.asset, deps.billing.serviceTokenSymbol)
  const input = { asset, credits: found.credits }
  const caller = { wallet: storedAddress(found.wallet) }
  const offer = await readOffer(deps, caller, input)
  return await transact(deps.db, async (tx) => {
    const inside = { ...deps, db: tx }
    const row = await store.lockTopup(tx, handle)
    if (row === undefined) return undefined
    const made = await findRenewed(inside, row, locale)
    if (made !== undefined) return made
    return await createTopup(inside, caller, { input, locale, renews: handle, offer })
  })
}

/**
 * The quote that has taken the place of this one, if there is one.
 *
 * @throws AppError conflict `topup_state` when there is none and there cannot be
 */
async function findRenewed(
  deps: TopupDeps,
  row: store.TopupRow,
  locale: Locale,
): Promise<Topup | undefined> {
  const handle = z.decode(Hash, row.handle)
  const made = await store.findRenewal(deps.db, handle)
  if (made !== undefined) {
    return await findLinkedTopup(deps, { handle: z.decode(Hash, made.handle), locale })
  }
  const topup = await findLinkedTopup(deps, { handle, locale })
  const isOver = topup && isUnpaid(topup) && topup.expiresAt <= deps.clock.now()
  if (!isOver || (await countRenewals(deps.db, row)) >= RENEWALS_MAX) {
    const members = { topupStatus: topup?.status, reason: topup?.reason }
    throw new AppError('conflict', 'topup_state', { members })
  }
  return undefined
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
