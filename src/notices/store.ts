import { and, eq, inArray, lt } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { notices } from './tables.ts'

/**
 * Records a notice for recipients.
 * @returns the recipients for whom the notice is new
 */
export async function recordNoticesOnce(
  db: Db,
  {
    key,
    recipientIds,
    at,
  }: {
    readonly key: string
    readonly recipientIds: readonly number[]
    readonly at: Date
  },
): Promise<ReadonlySet<number>> {
  if (recipientIds.length === 0) return new Set()
  const inserted = await db
    .insert(notices)
    .values(recipientIds.map((recipientId) => ({ recipientId, key, createdAt: at })))
    .onConflictDoNothing()
    .returning({ recipientId: notices.recipientId })
  return new Set(inserted.map(({ recipientId }) => recipientId))
}

/** Those of some notices that a recipient got. */
export async function listRecordedKeys(
  db: Db,
  recipientId: number,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set()
  const rows = await db
    .select({ key: notices.key })
    .from(notices)
    .where(and(eq(notices.recipientId, recipientId), inArray(notices.key, [...keys])))
  return new Set(rows.map(({ key }) => key))
}

/** Deletes the records of recipients. */
export async function deleteOfRecipients(db: Db, recipientIds: readonly number[]): Promise<void> {
  if (recipientIds.length === 0) return
  await db.delete(notices).where(inArray(notices.recipientId, [...recipientIds]))
}

/** Deletes records before an instant. */
export async function deleteOld(db: Db, before: Date): Promise<void> {
  await db.delete(notices).where(lt(notices.createdAt, before))
}
