/** The last picture of each recipient's watch. */
import { and, eq, lte, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { outagePictures } from '../tables.ts'

export type OutagePictureRow = typeof outagePictures.$inferSelect

/** The last picture of a recipient's watch; undefined if there is none. */
export async function findPicture(
  db: Db,
  { recipientId, watchId }: Pick<OutagePictureRow, 'recipientId' | 'watchId'>,
): Promise<OutagePictureRow | undefined> {
  const [row] = await db
    .select()
    .from(outagePictures)
    .where(and(eq(outagePictures.recipientId, recipientId), eq(outagePictures.watchId, watchId)))
  return row
}

/**
 * Plans a picture, which replaces the last picture of the recipient's watch, and wakes the job that sends
 * pictures.
 */
export async function planPicture(db: Db, row: OutagePictureRow): Promise<void> {
  await db
    .insert(outagePictures)
    .values(row)
    .onConflictDoUpdate({
      target: [outagePictures.recipientId, outagePictures.watchId],
      set: row,
    })
  await db.execute(sql`select pg_notify('pictures', '')`)
}

/** Takes planned pictures, the oldest first. No other worker gets a picture that was taken. */
export async function takePlannedPictures(db: Db, limit: number): Promise<OutagePictureRow[]> {
  return await db
    .update(outagePictures)
    .set({ taken: true })
    .where(
      sql`(${outagePictures.recipientId}, ${outagePictures.watchId}) in (
        select p.recipient_id, p.watch_id from outage_pictures p
        where not p.taken order by p.planned_at limit ${limit} for update skip locked)`,
    )
    .returning()
}

/** Deletes the rows of pictures up to an instant. */
export async function deletePictures(db: Db, until: Date): Promise<void> {
  await db.delete(outagePictures).where(lte(outagePictures.plannedAt, until))
}
