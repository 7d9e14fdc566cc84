/** Unfinished deliveries of chats and mailboxes, by recipient. */
import { sql } from 'drizzle-orm'
import { ANY_LENGTH, uuidArray } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { CLAIMED_COLUMNS, type ClaimedRow } from '../claims/claim-store.ts'
import { LEASE_SECONDS } from '../model.ts'
import { IS_GROUPED, isUnleased } from '../tables.ts'
import type { WaitingDelivery } from './grouping.ts'

/** Maximum number of due or leased deliveries of one recipient that are read. */
const DUE_MAX = 500
/** Maximum number of deliveries of one recipient in one plan: the first of each key, in order. */
const PLANNED_MAX = 1000
/** Seconds after a claim within which its message is expected to be sent. */
const FRESH_SECONDS = 5

/** A delivery that is due, or leased by a worker. */
export interface DueOrLeasedRow extends Record<string, unknown> {
  readonly id: string
  readonly recipientId: number
  readonly orderKey: string
}

/** Due or leased deliveries of these recipients, in the order they fired. */
export async function listDueOrLeased(
  db: Db,
  recipientIds: readonly number[],
  now: Date,
): Promise<DueOrLeasedRow[]> {
  return await db.execute<DueOrLeasedRow>(sql`
    select w.* from rows from (unnest(${sql.param([...recipientIds])}::int[]), ${ANY_LENGTH})
      as r(id, nothing)
    cross join lateral (
      select d.id, d.recipient_id as "recipientId", d.order_key as "orderKey"
      from delivery_queue d
      where d.recipient_id = r.id and ${IS_GROUPED} and d.next_attempt_at is not null
        and (d.next_attempt_at <= ${now} or d.leased_until > ${now})
      order by d.fired_at, d.position, d.id
      limit ${DUE_MAX}
    ) w`)
}

/** A delivery for the plan, with its recipient. */
export type WaitingRow = WaitingDelivery & { readonly recipientId: number }

/**
 * Unfinished deliveries of these order keys, from the first of each key on, per recipient in the order in
 * which they fired.
 */
export async function listUnfinishedDeliveries(
  db: Db,
  due: readonly DueOrLeasedRow[],
  now: Date,
): Promise<WaitingRow[]> {
  const keys = new Map(due.map(({ orderKey, recipientId }) => [orderKey, recipientId]))
  const counts = new Map<number, number>()
  for (const id of keys.values()) counts.set(id, (counts.get(id) ?? 0) + 1)
  const maxima = [...keys.values()].map((id) =>
    Math.max(2, Math.floor(PLANNED_MAX / (counts.get(id) ?? 1))),
  )
  const freshUntil = new Date(now.getTime() + (LEASE_SECONDS - FRESH_SECONDS) * 1000)
  return await db.execute<WaitingRow & Record<string, unknown>>(sql`
    select w.* from rows from (
      unnest(${sql.param([...keys.keys()])}::text[], ${sql.param(maxima)}::int[]), ${ANY_LENGTH}
    ) as k(order_key, most, nothing)
    cross join lateral (
      select d.id, d.recipient_id as "recipientId", d.order_key as "orderKey",
        d.watch_id as "watchId", d.incident_id as "incidentId", d.urgency, d.kind, d.recovery, d.test, d.answers,
        d.created_at as "createdAt", d.next_attempt_at as "dueAt",
        case when not ${isUnleased(now)} then
            case when d.leased_until > ${freshUntil} then 'now' else 'later' end
          when d.next_attempt_at > ${now} then 'later'
          else 'free' end as taken,
        d.fired_at, d.position
      from delivery_queue d
      where d.order_key = k.order_key
      order by d.fired_at, d.position, d.id
      limit k.most
    ) w
    order by w.fired_at, w.position, w.id`)
}

/** Order keys of the deliveries in these messages. */
export async function listOrderKeys(
  db: Db,
  ids: readonly string[],
): Promise<{ readonly carriedBy: string; readonly orderKey: string }[]> {
  return await db.execute<{ carriedBy: string; orderKey: string }>(sql`
    select distinct carried_by as "carriedBy", order_key as "orderKey" from delivery_log
    where carried_by = any(${sql.param([...ids])}::uuid[])`)
}

/** Claims deliveries for one attempt. Deliveries that another worker has claimed are not returned. */
export async function claimDeliveries(
  db: Db,
  ids: readonly string[],
  { now, leasedUntil }: { readonly now: Date; readonly leasedUntil: Date },
): Promise<ClaimedRow[]> {
  return await db.execute<ClaimedRow>(sql`
    update delivery_queue d set leased_until = ${leasedUntil}, attempts = d.attempts + 1
    where d.id = any(array(
      select d.id from delivery_queue d
      where d.id = any(${uuidArray(ids)})
        and (d.next_attempt_at is null or d.next_attempt_at <= ${now})
        and ${isUnleased(now)}
      for update skip locked))
    returning d.id, ${CLAIMED_COLUMNS}`)
}

/** Postpones due deliveries until a time. */
export async function postponeDeliveries(
  db: Db,
  ids: readonly string[],
  { until, now }: { readonly until: Date; readonly now: Date },
): Promise<void> {
  await db.execute(sql`
    update delivery_queue d set next_attempt_at = ${until}
    where d.id = any(${sql.param([...ids])}::uuid[]) and d.next_attempt_at < ${until} and ${isUnleased(now)}`)
}
