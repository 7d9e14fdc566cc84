/** Deletion of an account: everything about a wallet goes, and its books stay without its name. */
import { z } from 'zod'
import { deleteWalletData } from '#src/alerts/deletions.ts'
import { forgetSignIns } from '#src/auth/bans.ts'
import { readBalance } from '#src/billing/account/service.ts'
import { forgetInBooks } from '#src/billing/forget.ts'
import { lockSlots } from '#src/billing/subscriptions/capacity.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { Address } from '#src/kernel/units.ts'
import { forgetNotices } from '#src/notices/service.ts'
import type { App } from './define.ts'
import { deleteAnswersOf } from './gate/idempotency-store.ts'

/** More credits than a wallet can have. */
const CREDITS_MAX = 1_000_000_000_000

/** Query of `DELETE /account`: what is deleted, said by the person who confirms it. */
export const AccountDeletion = z.strictObject({
  wallet: Address.meta({ description: 'operations:field.deletedWallet' }),
  forfeitCredits: z.coerce
    .number()
    .int()
    .min(0)
    .max(CREDITS_MAX)
    .meta({ description: 'operations:field.forfeitCredits', format: 'int64' }),
})
export type AccountDeletion = z.output<typeof AccountDeletion>

interface Deps extends Pick<App, 'chats'> {
  readonly db: Db
  readonly clock: Clock
}

/** What a deletion left. */
export interface DeletedAccount {
  readonly forfeitedCredits: number
  /** The name of the wallet in the books from now on. */
  readonly pseudonym: Address
  readonly recipients: number
}

/**
 * Deletes an account whose owner, or operator, names its wallet and the credits that are lost with it.
 *
 * @throws AppError conflict `account_not_confirmed` when another wallet or number of credits was named
 */
export async function deleteAccount(
  deps: Deps,
  wallet: Address,
  confirmed: AccountDeletion,
): Promise<DeletedAccount> {
  const at = deps.clock.now()
  return await transact(deps.db, async (tx) => {
    await lockSlots(tx, wallet)
    const { balanceCredits } = await readBalance(tx, wallet)
    if (confirmed.wallet !== wallet || confirmed.forfeitCredits !== balanceCredits) {
      throw new AppError('conflict', 'account_not_confirmed', { members: { balanceCredits } })
    }
    const { recipientIds, chatIds } = await deleteWalletData(tx, wallet, at)
    await forgetNotices(tx, recipientIds)
    await deps.chats.forgetWallet(tx, { wallet, chatIds })
    await forgetSignIns(tx, wallet)
    await deleteAnswersOf(tx, wallet)
    const pseudonym = await forgetInBooks(tx, wallet)
    return { forfeitedCredits: balanceCredits, pseudonym, recipients: recipientIds.length }
  })
}
