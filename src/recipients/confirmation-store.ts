import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, lte, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { confirmationMails } from './tables.ts'

export type ConfirmationMail = typeof confirmationMails.$inferSelect

/** Asks for a mail at `dueAt` and wakes whoever sends. */
export async function insertMail(
  db: Db,
  mail: Pick<ConfirmationMail, 'recipientId' | 'wallet' | 'addressDigest' | 'dueAt'>,
): Promise<void> {
  await db
    .insert(confirmationMails)
    .values({ ...mail, nextAttemptAt: mail.dueAt, attempts: 0, sentAt: null })
  await db.execute(sql`select pg_notify('confirmations', '')`)
}

/** When the mails of the last day to an address were due; those that were called off do not count. */
export async function listDueAt(
  db: Db,
  wallet: Address,
  addressDigest: string,
  since: Date,
): Promise<Date[]> {
  const rows = await db
    .select({ dueAt: confirmationMails.dueAt })
    .from(confirmationMails)
    .where(
      and(
        eq(confirmationMails.wallet, wallet),
        eq(confirmationMails.addressDigest, addressDigest),
        gt(confirmationMails.dueAt, since),
        or(isNotNull(confirmationMails.sentAt), isNotNull(confirmationMails.nextAttemptAt)),
      ),
    )
  return rows.map(({ dueAt }) => dueAt)
}

/** The mail to this address that still waits to be sent for a recipient. */
export async function findWaiting(
  db: Db,
  recipientId: number,
  addressDigest: string,
): Promise<ConfirmationMail | undefined> {
  const [mail] = await db
    .select()
    .from(confirmationMails)
    .where(
      and(
        eq(confirmationMails.recipientId, recipientId),
        eq(confirmationMails.addressDigest, addressDigest),
        isNotNull(confirmationMails.nextAttemptAt),
      ),
    )
  return mail
}

/** Calls off what still waits for a recipient: its address changed, or it is gone. */
export async function cancelMails(db: Db, recipientId: number): Promise<void> {
  await db
    .update(confirmationMails)
    .set({ nextAttemptAt: null })
    .where(
      and(
        eq(confirmationMails.recipientId, recipientId),
        isNotNull(confirmationMails.nextAttemptAt),
      ),
    )
}

/**
 * Takes due mails for one attempt. Nobody else gets them before `leasedUntil`; whoever dies over one
 * leaves it to be tried again then.
 */
export async function claimDue(
  db: Db,
  claim: { readonly now: Date; readonly leasedUntil: Date; readonly limit: number },
): Promise<ConfirmationMail[]> {
  const due = db
    .$with('due')
    .as(
      db
        .select({ id: confirmationMails.id })
        .from(confirmationMails)
        .where(lte(confirmationMails.nextAttemptAt, claim.now))
        .orderBy(asc(confirmationMails.nextAttemptAt))
        .limit(claim.limit)
        .for('update', { skipLocked: true }),
    )
  return await db
    .with(due)
    .update(confirmationMails)
    .set({
      nextAttemptAt: claim.leasedUntil,
      attempts: sql`${confirmationMails.attempts} + 1`,
    })
    .where(inArray(confirmationMails.id, db.select({ id: due.id }).from(due)))
    .returning()
}

/** Notes that a mail went out. */
export async function saveSent(db: Db, id: number, sentAt: Date): Promise<void> {
  await db
    .update(confirmationMails)
    .set({ sentAt, nextAttemptAt: null })
    .where(eq(confirmationMails.id, id))
}

/** Notes that a mail did not go out, and when to try again, if at all. One called off stays so. */
export async function savePostponed(db: Db, id: number, nextAttemptAt: Date | null): Promise<void> {
  await db
    .update(confirmationMails)
    .set({ nextAttemptAt })
    .where(and(eq(confirmationMails.id, id), isNotNull(confirmationMails.nextAttemptAt)))
}

/** Forgets mails that were due before `before` and wait for nothing. */
export async function deleteOldMails(db: Db, before: Date): Promise<void> {
  await db
    .delete(confirmationMails)
    .where(and(lt(confirmationMails.dueAt, before), isNull(confirmationMails.nextAttemptAt)))
}
