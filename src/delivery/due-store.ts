/** Taking what is due, and giving it back. */
import { type SQL, sql } from 'drizzle-orm'
import type { ChannelKey } from '#src/channels/define.ts'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES } from '#src/kernel/facts.ts'
import type { Room } from './lanes.ts'
import type { deliveries } from './tables.ts'

/**
 * Due rows looked at for one claim. A lane that has them all and room for few is full afterwards, and
 * left out of the next look.
 */
const SCAN_MAX = 256

/** A delivery as a worker holds it. `attempts` counts the one it holds it for. */
export type ClaimedRow = Pick<
  typeof deliveries.$inferSelect,
  | 'id'
  | 'wallet'
  | 'alertId'
  | 'recipientId'
  | 'lane'
  | 'orderKey'
  | 'envelope'
  | 'attempts'
  | 'plannedAt'
  | 'createdAt'
>

/** What can be taken now. */
function isDue(now: Date): SQL {
  return sql`d.status in ('pending', 'retrying') and d.next_attempt_at <= ${now}
    and (d.leased_until is null or d.leased_until <= ${now})`
}

/**
 * The due deliveries of a channel to be looked at: the most urgent, of those the oldest; none of lanes
 * that are full.
 */
export function dueOf(channel: ChannelKey, room: Room, now: Date, more = sql`true`): SQL {
  const full = Object.entries(room.lanes).flatMap(([lane, free]) => (free === 0 ? [lane] : []))
  const ofUrgency = (urgency: number) => sql`(
    select d.id, d.recipient_id, d.lane, d.urgency, d.next_attempt_at from deliveries d
    where d.channel = ${channel} and d.urgency = ${urgency} and ${isDue(now)}
      and d.lane <> all(${sql.param(full)}::text[]) and ${more}
    order by d.next_attempt_at, d.id
    limit ${SCAN_MAX})`
  const urgencies = SEVERITIES.map((_severity, urgency) => ofUrgency(urgency))
  return sql`(
    select * from (${sql.join(urgencies, sql` union all `)}) d
    order by d.urgency desc, d.next_attempt_at, d.id
    limit ${SCAN_MAX})`
}

/** Of each lane, how many places it has. */
export function placesOf(room: Room, lane: SQL): SQL {
  return sql`coalesce((${JSON.stringify(room.lanes)}::jsonb ->> ${lane})::int, ${room.perLane}::int)`
}

/**
 * Takes due deliveries of a channel for one attempt each, the most urgent and then the oldest first, as
 * far as there is room in the channel and in each lane. Never one whose key has an earlier unfinished
 * delivery: the ids of such ones are given as `blocked`.
 */
export async function claimDue(
  db: Db,
  channel: ChannelKey,
  {
    room,
    now,
    leasedUntil,
  }: { readonly room: Room; readonly now: Date; readonly leasedUntil: Date },
): Promise<{ readonly claimed: ClaimedRow[]; readonly blocked: string[] }> {
  const rows = await db.execute<ClaimedRow & { blocked: boolean }>(sql`
    with due as (
      select d.id, d.lane,
        row_number() over (
          partition by d.lane order by d.urgency desc, d.next_attempt_at, d.id
        ) as place
      from ${dueOf(channel, room, now)} d
    ),
    chosen as (
      select d.id, exists (
        select from deliveries e
        where e.order_key = d.order_key and e.status in ('pending', 'retrying')
          and (e.fired_at, e.position, e.id) < (d.fired_at, d.position, d.id)
      ) as blocked
      from due join deliveries d on d.id = due.id
      where ${isDue(now)} and due.place <= ${placesOf(room, sql`due.lane`)}
      order by d.urgency desc, d.next_attempt_at, d.id
      limit ${room.free}
      for update of d skip locked
    ),
    claimed as (
      update deliveries d set leased_until = ${leasedUntil}, attempts = d.attempts + 1
      from chosen c where c.id = d.id and not c.blocked
      returning d.*
    )
    select c.id, c.blocked, ${CLAIMED} from chosen c left join claimed d on d.id = c.id`)
  return {
    claimed: rows.filter(({ blocked }) => !blocked),
    blocked: rows.filter(({ blocked }) => blocked).map(({ id }) => id),
  }
}

/** What a worker reads of a delivery it holds, beside the id. */
export const CLAIMED = sql.raw(`d.wallet, d.alert_id as "alertId", d.recipient_id as "recipientId",
  d.lane, d.order_key as "orderKey", d.envelope, d.attempts, d.planned_at as "plannedAt",
  d.created_at as "createdAt"`)

/**
 * Takes deliveries that wait for an earlier one of their key out of the due ones, until `finish` frees
 * the key. Holds the earlier one meanwhile, so that it cannot be finished unseen; where somebody else
 * holds one of the two, the delivery stays due and is looked at again.
 */
export async function parkBlocked(db: Db, ids: readonly string[]): Promise<void> {
  await db.execute(sql`
    with blocked as (
      select d.id
      from deliveries d cross join lateral (
        select e.id from deliveries e
        where e.order_key = d.order_key and e.status in ('pending', 'retrying')
          and (e.fired_at, e.position, e.id) < (d.fired_at, d.position, d.id)
        order by e.fired_at desc, e.position desc, e.id desc
        limit 1
        for share of e skip locked
      ) earlier
      where d.id = any(${sql.param([...ids])}::uuid[]) and d.status in ('pending', 'retrying')
      for update of d skip locked
    )
    update deliveries d set next_attempt_at = null from blocked b where d.id = b.id`)
}

/** Gives deliveries back whose attempt was broken off: they are due as before. */
export async function release(
  db: Db,
  rows: readonly { readonly id: string; readonly attempt: number }[],
): Promise<void> {
  await db.execute(sql`
    update deliveries d set leased_until = null, attempts = d.attempts - 1
    from json_to_recordset(${JSON.stringify(rows)}::json) as r(id uuid, attempt int)
    where d.id = r.id and d.attempts = r.attempt and d.status in ('pending', 'retrying')`)
}
