/** Leases of messages that the bot changes directly. */
import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { sentMessages } from './tables.ts'

/** A message in a chat of a wallet. */
export interface ChatMessageRef {
  readonly wallet: string
  readonly recipientId: number
  /** Id of the message at its destination. */
  readonly messageId: string
}

/**
 * Leases a message, unless a worker has leased it. The lease does not make the message outdated.
 *
 * @returns the end of the lease; undefined if there is none
 */
export async function leaseByMessageId(
  db: Db,
  { wallet, recipientId, messageId }: ChatMessageRef,
  { now, leasedUntil }: { readonly now: Date; readonly leasedUntil: Date },
): Promise<Date | undefined> {
  const [row] = await db
    .update(sentMessages)
    .set({ leasedUntil })
    .where(
      sql`${sentMessages.recipientId} = ${recipientId} and ${sentMessages.messageId} = ${messageId}
        and ${sentMessages.wallet} = ${wallet}
        and (${sentMessages.leasedUntil} is null or ${sentMessages.leasedUntil} <= ${now})`,
    )
    .returning({ leasedUntil: sentMessages.leasedUntil })
  return row?.leasedUntil ?? undefined
}

/**
 * Ends a lease of `leaseByMessageId` after the message was changed by the holder. If its intended content
 * changed after `version`, it stays outdated.
 */
export async function recordShown(
  db: Db,
  { wallet, recipientId, messageId }: ChatMessageRef,
  { version, leasedUntil }: { readonly version: number; readonly leasedUntil: Date },
): Promise<void> {
  await db.execute(sql`
    update sent_messages m set leased_until = null, revisions = 0,
      revise_at = case when m.version = ${version} then null else m.revise_at end
    where m.recipient_id = ${recipientId} and m.message_id = ${messageId}
      and m.wallet = ${wallet} and m.leased_until = ${leasedUntil}`)
}
