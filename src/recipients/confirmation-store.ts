import { and, eq, gt, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import { lockKey } from '#src/db/advisory-lock.ts'
import type { Db } from '#src/db/connection.ts'
import type { Queue } from '#src/db/queue.ts'
import type { Address } from '#src/kernel/units.ts'
import { confirmationMails, mailRefusals } from './tables.ts'

export type ConfirmationMail = typeof confirmationMails.$inferSelect

/** NOTIFY channel of confirmed mailboxes; the payload is the recipient's id. */
export const CONSENTS_CHANNEL = 'consents'

/** Unsent e-mails. */
export const UNSENT_CONFIRMATIONS = {
  table: confirmationMails,
  id: ['id'],
  dueAt: 'nextAttemptAt',
  attempts: 'attempts',
} as const satisfies Queue<typeof confirmationMails>

/** Plans an e-mail at `dueAt` and wakes the sender. */
export async function enqueueConfirmationMail(
  db: Db,
  mail: Pick<
    ConfirmationMail,
    'recipientId' | 'wallet' | 'addressDigest' | 'mailboxDigest' | 'dueAt'
  >,
): Promise<void> {
  await db
    .insert(confirmationMails)
    .values({ ...mail, nextAttemptAt: mail.dueAt, attempts: 0, sentAt: null })
  await db.execute(sql`select pg_notify('confirmations', '')`)
}

/** Notifies, when the transaction is committed, that the mailbox of a recipient was confirmed. */
export async function notifyConfirmed(tx: Db, recipientId: number): Promise<void> {
  await tx.execute(sql`select pg_notify(${CONSENTS_CHANNEL}, ${String(recipientId)})`)
}

/** Lets only this transaction plan e-mails to a mailbox, for any wallet, until it ends. */
export async function lockMailbox(tx: Db, mailboxDigest: string): Promise<void> {
  const key = lockKey(`confirmations ${mailboxDigest}`)
  await tx.execute(sql`select pg_advisory_xact_lock(${key}::bigint)`)
}

/**
 * Due times of the e-mails to a mailbox since an instant, for all wallets. A cancelled e-mail counts if the
 * mail server was contacted before, because it may have been sent.
 */
export function listDueAtOfMailbox(db: Db, mailboxDigest: string, since: Date): Promise<Date[]> {
  return listDueAt(db, eq(confirmationMails.mailboxDigest, mailboxDigest), since)
}

/** Like `listDueAtOfMailbox`, for the e-mails that a wallet caused. */
export function listDueAtOfWallet(db: Db, wallet: Address, since: Date): Promise<Date[]> {
  return listDueAt(db, eq(confirmationMails.wallet, wallet), since)
}

async function listDueAt(db: Db, of: SQL, since: Date): Promise<Date[]> {
  const isCounted = or(
    isNotNull(confirmationMails.sentAt),
    isNotNull(confirmationMails.nextAttemptAt),
    gt(confirmationMails.attempts, 0),
  )
  const rows = await db
    .select({ dueAt: confirmationMails.dueAt })
    .from(confirmationMails)
    .where(and(of, gt(confirmationMails.dueAt, since), isCounted))
  return rows.map(({ dueAt }) => dueAt)
}

/** Stores that the reader of a mailbox refused. */
export async function saveRefusal(db: Db, mailboxDigest: string, refusedAt: Date): Promise<void> {
  await db
    .insert(mailRefusals)
    .values({ mailboxDigest, refusedAt })
    .onConflictDoUpdate({ target: mailRefusals.mailboxDigest, set: { refusedAt } })
}

/** Time at which the reader of a mailbox refused, if after `since`. */
export async function findRefusal(
  db: Db,
  mailboxDigest: string,
  since: Date,
): Promise<Date | undefined> {
  const [row] = await db
    .select({ refusedAt: mailRefusals.refusedAt })
    .from(mailRefusals)
    .where(and(eq(mailRefusals.mailboxDigest, mailboxDigest), gt(mailRefusals.refusedAt, since)))
  return row?.refusedAt
}

/** Deletes refusals from before an instant. */
export async function deleteOldRefusals(db: Db, before: Date): Promise<void> {
  await db.delete(mailRefusals).where(lt(mailRefusals.refusedAt, before))
}

/** The unsent e-mail to this address for a recipient. */
export async function findUnsentConfirmation(
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

/** Cancels unsent e-mails of a recipient: its address changed, or it was deleted. */
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

/** Records that an e-mail was sent. */
export async function markConfirmationSent(db: Db, id: number, sentAt: Date): Promise<void> {
  await db
    .update(confirmationMails)
    .set({ sentAt, nextAttemptAt: null })
    .where(eq(confirmationMails.id, id))
}

/** Deletes e-mails that were due before `before` and are not waiting. */
export async function deleteOldConfirmationMails(db: Db, before: Date): Promise<void> {
  await db
    .delete(confirmationMails)
    .where(and(lt(confirmationMails.dueAt, before), isNull(confirmationMails.nextAttemptAt)))
}
