/** Marks of recipients whose deferred deliveries must be rescheduled. */
import { and, asc, eq, gt, isNotNull, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { recipients } from './tables.ts'

/** Marks every recipient of these wallets for rescheduling. */
export async function markReschedule(db: Db, wallets: readonly Address[], at: Date): Promise<void> {
  await db
    .update(recipients)
    .set({ rescheduleAt: at })
    .where(sql`${recipients.wallet} = any(${sql.param([...wallets])}::text[])`)
}

/** Marked recipients, above `after`, by id. */
export async function listReschedule(db: Db, after: number, limit: number): Promise<number[]> {
  const rows = await db
    .select({ id: recipients.id })
    .from(recipients)
    .where(and(isNotNull(recipients.rescheduleAt), gt(recipients.id, after)))
    .orderBy(asc(recipients.id))
    .limit(limit)
  return rows.map(({ id }) => id)
}

/** Removes the mark of the time `seen`. A newer mark stays. */
export async function clearReschedule(db: Db, id: number, seen: Date | null): Promise<void> {
  if (seen === null) return
  await db
    .update(recipients)
    .set({ rescheduleAt: null })
    .where(and(eq(recipients.id, id), eq(recipients.rescheduleAt, seen)))
}
