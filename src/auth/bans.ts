/** Bans of wallets by the operator. */
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import * as store from './store.ts'

/**
 * Bans a wallet: it cannot sign in any more, and its API tokens end. Rights of its chats are another room's.
 *
 * @returns `isNew` false if it was banned already; the first reason stays
 */
export async function banWallet(
  tx: Db,
  ban: { readonly wallet: Address; readonly reason: string; readonly bannedAt: Date },
): Promise<{ readonly isNew: boolean; readonly revokedTokens: number }> {
  // A sign-in that is running gets its token before this, and it is revoked here, or finds the ban.
  await store.lockTokens(tx, [ban.wallet], { isPatient: true })
  const isNew = await store.insertBan(tx, ban)
  return { isNew, revokedTokens: await store.revokeTokens(tx, ban.wallet, ban.bannedAt) }
}

/** Ends a ban. Tokens and rights of chats stay ended. @returns whether the wallet was banned */
export function unbanWallet(tx: Db, wallet: Address): Promise<boolean> {
  return store.deleteBan(tx, wallet)
}

/** The ban of a wallet; undefined if it is not banned. */
export function findBan(db: Db, wallet: Address): ReturnType<typeof store.findBan> {
  return store.findBan(db, wallet)
}

/** Deletes what signed the wallet in: challenges and tokens. A ban stays. */
export async function forgetSignIns(tx: Db, wallet: Address): Promise<void> {
  await store.lockTokens(tx, [wallet], { isPatient: true })
  await store.deleteSignIns(tx, wallet)
}
