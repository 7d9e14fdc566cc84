import { and, desc, eq, lt, notInArray, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { deleteBatch } from '#src/db/delete-batch.ts'
import { receivedDeliveries } from '../tables.ts'
import type { ReceivedDelivery } from './model.ts'

export async function insertReceived(
  db: Db,
  row: typeof receivedDeliveries.$inferInsert,
): Promise<void> {
  await db.insert(receivedDeliveries).values(row)
}

/** The newest deliveries of an address, newest first. */
export async function listReceived(
  db: Db,
  address: string,
  limit: number,
): Promise<readonly ReceivedDelivery[]> {
  return await db
    .select()
    .from(receivedDeliveries)
    .where(eq(receivedDeliveries.address, address))
    .orderBy(desc(receivedDeliveries.id))
    .limit(limit)
}

/** Deletes the deliveries of an address, but the newest. */
export async function deleteAllBut(db: Db, address: string, kept: number): Promise<void> {
  const newest = db
    .select({ id: receivedDeliveries.id })
    .from(receivedDeliveries)
    .where(eq(receivedDeliveries.address, address))
    .orderBy(desc(receivedDeliveries.id))
    .limit(kept)
  await db
    .delete(receivedDeliveries)
    .where(and(eq(receivedDeliveries.address, address), notInArray(receivedDeliveries.id, newest)))
}

/** Deletes at most `limit` deliveries that arrived before a time; returns their number. */
export async function deleteReceivedBefore(db: Db, before: Date, limit: number): Promise<number> {
  const where = sql`${lt(receivedDeliveries.receivedAt, before)}`
  return await deleteBatch(db, receivedDeliveries, { id: ['id'], where, limit })
}
