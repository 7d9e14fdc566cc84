/** Claims and releases due deliveries. */
import { sql } from 'drizzle-orm'
import { uuidArray } from '#src/db/arrays.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { type deliveryQueue, isReady } from '../tables.ts'
import { DUE_HEAD_COLUMNS, type DueHead, markDue } from './head-store.ts'

/** A delivery that a worker has leased. `attempts` includes the current one. */
export type ClaimedRow = Pick<
  typeof deliveryQueue.$inferSelect,
  | 'id'
  | 'wallet'
  | 'alertId'
  | 'recipientId'
  | 'partitionKey'
  | 'orderKey'
  | 'envelope'
  | 'attempts'
  | 'plannedAt'
  | 'lastError'
  | 'createdAt'
  | 'kind'
  | 'recovery'
>

/** Columns that a worker reads of a leased delivery, besides the id. */
export const CLAIMED_COLUMNS =
  sql.raw(`d.wallet, d.alert_id as "alertId", d.recipient_id as "recipientId",
  d.partition_key as "partitionKey", d.order_key as "orderKey", d.envelope, d.attempts, d.planned_at as "plannedAt",
  d.last_error as "lastError", d.created_at as "createdAt", d.kind, d.recovery`)

/**
 * Claims due deliveries for one attempt each; deliveries that another worker has claimed are missing. A
 * delivery whose key has an earlier unfinished delivery is not claimed; its id is in `blocked`.
 */
export async function claimDueDeliveries(
  db: Db,
  ids: readonly string[],
  { now, leasedUntil }: { readonly now: Date; readonly leasedUntil: Date },
): Promise<{ readonly claimed: ClaimedRow[]; readonly blocked: string[] }> {
  if (ids.length === 0) return { claimed: [], blocked: [] }
  const rows = await db.execute<ClaimedRow & { blocked: boolean }>(sql`
    with chosen as (
      select d.id, exists (
        select from delivery_queue e
        where e.order_key = d.order_key
          and (e.fired_at, e.position, e.id) < (d.fired_at, d.position, d.id)
      ) as blocked
      from delivery_queue d
      where d.id = any(${uuidArray(ids)}) and ${isReady(now)}
      for update skip locked
    ),
    claimed as (
      update delivery_queue d set leased_until = ${leasedUntil}, attempts = d.attempts + 1
      where d.id = any(array(select id from chosen where not blocked))
      returning d.*
    )
    select c.id, c.blocked, ${CLAIMED_COLUMNS} from chosen c left join claimed d on d.id = c.id`)
  return {
    claimed: rows.filter(({ blocked }) => !blocked),
    blocked: rows.filter(({ blocked }) => blocked).map(({ id }) => id),
  }
}

/** Extends the leases of deliveries that this process still works on. */
export async function extendLeases(
  db: Db,
  ids: readonly string[],
  leasedUntil: Date,
): Promise<void> {
  await db.execute(sql`
    update delivery_queue d set leased_until = ${leasedUntil}
    where id = any(${sql.param([...ids])}::uuid[]) and leased_until is not null`)
}

/**
 * Makes deliveries that wait for an earlier delivery of their key not due, until `finishDeliveries` frees the key.
 * Meanwhile the earlier delivery is locked, so that it cannot finish unnoticed. If another transaction has
 * locked one of the two, the delivery stays due and is read again.
 */
export async function parkBlocked(db: Db, ids: readonly string[]): Promise<void> {
  await db.execute(sql`
    with blocked as (
      select d.id
      from delivery_queue d cross join lateral (
        select e.id from delivery_queue e
        where e.order_key = d.order_key
          and (e.fired_at, e.position, e.id) < (d.fired_at, d.position, d.id)
        order by e.fired_at desc, e.position desc, e.id desc
        limit 1
        for share of e skip locked
      ) earlier
      where d.id = any(${sql.param([...ids])}::uuid[])
      for update of d skip locked
    )
    update delivery_queue d set next_attempt_at = null where d.id = any(array(select id from blocked))`)
}

/** Releases deliveries whose attempt was aborted, so that they are due again. */
export async function releaseAbortedDeliveries(
  db: Db,
  rows: readonly { readonly id: string; readonly attempt: number }[],
): Promise<void> {
  await transact(db, async (tx) => {
    const released = await tx.execute<DueHead>(sql`
      update delivery_queue d set leased_until = null, attempts = d.attempts - 1
      from json_to_recordset(${JSON.stringify(rows)}::json) as r(id uuid, attempt int)
      where d.id = r.id and d.attempts = r.attempt
      returning ${DUE_HEAD_COLUMNS}`)
    await markDue(tx, released)
  })
}
