import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'

/** The wallet's watches, oldest first, each with its place from 1. */
const inOrder = (wallet: Address) => sql`
  select id, row_number() over (order by created_at, id) as place from watches
  where wallet = ${wallet}`

/** Suspends the wallet's watches that come after the first `capacity`. @returns how many */
export async function suspendBeyond(
  db: Db,
  wallet: Address,
  capacity: number,
  at: Date,
): Promise<number> {
  const suspended = await db.execute(sql`
    update watches w set suspended_at = ${at}, updated_at = ${at}, version = version + 1
    from (${inOrder(wallet)}) o
    where o.id = w.id and o.place > ${capacity} and w.suspended_at is null
    returning w.id`)
  return suspended.length
}

/** A watch that runs again, and its target. */
export interface ResumedRow extends Record<string, unknown> {
  readonly id: number
  readonly targetId: number
}

/** Lets the suspended ones among the wallet's first `capacity` watches run again. */
export async function resumeWithin(
  db: Db,
  wallet: Address,
  capacity: number,
  at: Date,
): Promise<ResumedRow[]> {
  return await db.execute<ResumedRow>(sql`
    update watches w set suspended_at = null, updated_at = ${at}, version = version + 1
    from (${inOrder(wallet)}) o
    where o.id = w.id and o.place <= ${capacity} and w.suspended_at is not null
    returning w.id, w.target_id as "targetId"`)
}
