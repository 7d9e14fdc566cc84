import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'

/** Query for the wallet's watches, each with its ordinal from 1, the oldest first. */
const inOrder = (wallet: Address) => sql`
  select id, row_number() over (order by created_at, id) as place from watches
  where wallet = ${wallet}`

/** A watch that was suspended or resumed, with its target. */
export interface FittedWatch extends Record<string, unknown> {
  readonly id: number
  readonly targetId: number
  readonly label: string
  /** Ordinal among the wallet's watches, oldest first, from 1. */
  readonly place: number
}

const fittedColumns = sql`w.id, w.target_id as "targetId", w.label, o.place::int as place`

/** Suspends the wallet's watches beyond the first `capacity`. */
export async function suspendBeyondCapacity(
  db: Db,
  wallet: Address,
  capacity: number,
  at: Date,
): Promise<FittedWatch[]> {
  return await db.execute<FittedWatch>(sql`
    update watches w set suspended_at = ${at}, updated_at = ${at}, version = version + 1
    from (${inOrder(wallet)}) o
    where w.wallet = ${wallet} and o.id = w.id and o.place > ${capacity} and w.suspended_at is null
    returning ${fittedColumns}`)
}

/** Resumes the suspended watches among the wallet's first `capacity` watches. */
export async function resumeWithinCapacity(
  db: Db,
  wallet: Address,
  capacity: number,
  at: Date,
): Promise<FittedWatch[]> {
  return await db.execute<FittedWatch>(sql`
    update watches w set suspended_at = null, updated_at = ${at}, version = version + 1
    from (${inOrder(wallet)}) o
    where w.wallet = ${wallet} and o.id = w.id and o.place <= ${capacity} and w.suspended_at is not null
    returning ${fittedColumns}`)
}

/** Wallets with a suspended watch, in order, after `after`. */
export async function listSuspendedWallets(
  db: Db,
  after: Address | undefined,
  limit: number,
): Promise<Address[]> {
  const rows = await db.execute<{ wallet: string }>(sql`
    select distinct wallet from watches
    where suspended_at is not null and wallet > ${after ?? ''}
    order by wallet limit ${limit}`)
  return rows.map(({ wallet }) => storedAddress(wallet))
}

/** Labels of the running watches beyond the wallet's first `capacity`, oldest first. */
export async function listLabelsBeyondCapacity(
  db: Db,
  wallet: Address,
  capacity: number,
): Promise<string[]> {
  const rows = await db.execute<{ label: string }>(sql`
    select w.label from watches w join (${inOrder(wallet)}) o on o.id = w.id
    where w.wallet = ${wallet} and o.place > ${capacity} and w.suspended_at is null
    order by o.place`)
  return rows.map(({ label }) => label)
}
