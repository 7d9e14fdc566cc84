import { asc, gte, inArray, sql } from 'drizzle-orm'
import type { ChannelKey } from '#src/channels/define.ts'
import type { Db } from '#src/db/connection.ts'
import type { Room } from './lanes.ts'
import type { DeliveryStatus, NewDelivery } from './model.ts'
import { deliveries } from './tables.ts'

/** Rows written by one statement. */
const ROWS_MAX = 1000
/**
 * Due rows looked at for one claim. A lane that has them all and room for few is full afterwards, and
 * left out of the next look.
 */
const SCAN_MAX = 256

/** A delivery as a worker holds it. `attempts` counts the one it holds it for. */
export type ClaimedRow = Pick<
  typeof deliveries.$inferSelect,
  'id' | 'wallet' | 'recipientId' | 'lane' | 'orderKey' | 'envelope' | 'attempts'
>

/** Writes deliveries, a thousand a statement, and wakes whoever sends. */
export async function insertDeliveries(db: Db, all: readonly NewDelivery[]): Promise<void> {
  for (let start = 0; start < all.length; start += ROWS_MAX) {
    const rows = all.slice(start, start + ROWS_MAX)
    const column = <T>(read: (row: NewDelivery) => T) => sql.param(rows.map(read))
    // One array per column: envelopes pass as they are, while a recordset would unpack their texts.
    await db.execute(sql`
      insert into deliveries (id, wallet, alert_id, recipient_id, channel, lane, order_key, fired_at,
        position, envelope, status, created_at, next_attempt_at, attempts)
      select r.*, case when r.status = 'pending' then r.created_at end, 0
      from unnest(
        ${column(({ id }) => id)}::uuid[],
        ${column(({ wallet }) => wallet)}::text[],
        ${column(({ alertId }) => alertId)}::int[],
        ${column(({ recipientId }) => recipientId)}::int[],
        ${column(({ channel }) => channel)}::text[],
        ${column(({ lane }) => lane)}::text[],
        ${column(({ orderKey }) => orderKey)}::text[],
        ${column(({ firedAt }) => firedAt)}::timestamptz[],
        ${column(({ position }) => position)}::bigint[],
        ${column(({ envelope }) => JSON.stringify(envelope))}::json[],
        ${column(({ status }) => status)}::text[],
        ${column(({ createdAt }) => createdAt)}::timestamptz[]
      ) as r(id, wallet, alert_id, recipient_id, channel, lane, order_key, fired_at, position,
        envelope, status, created_at)`)
  }
  const isAnyDue = all.some(({ status }) => status === 'pending')
  if (isAnyDue) await db.execute(sql`select pg_notify('deliveries', '')`)
}

/** Writes a delivery that is over already: a test that was sent at once. */
export async function insertFinished(
  db: Db,
  row: Omit<NewDelivery, 'status'> & {
    readonly status: DeliveryStatus
    readonly statusCode: number | null
    readonly error: string | null
    readonly deliveredAt: Date | null
  },
): Promise<void> {
  await db.insert(deliveries).values({
    ...row,
    attempts: 1,
    nextAttemptAt: null,
    leasedUntil: null,
    lastStatusCode: row.statusCode,
    lastError: row.error,
  })
}

/**
 * Takes due deliveries of a channel for one attempt each, oldest first, as far as there is room in the
 * channel and in each lane. Never one whose key has an earlier unfinished delivery: the ids of such
 * ones are given as `blocked`.
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
  const full = Object.entries(room.lanes).flatMap(([lane, free]) => (free === 0 ? [lane] : []))
  const isDue = sql`d.status in ('pending', 'retrying') and d.next_attempt_at <= ${now}
    and (d.leased_until is null or d.leased_until <= ${now})`
  const rows = await db.execute<ClaimedRow & { blocked: boolean }>(sql`
    with due as (
      select d.id, d.lane,
        row_number() over (partition by d.lane order by d.next_attempt_at, d.id) as place
      from (
        select * from deliveries d
        where d.channel = ${channel} and ${isDue} and d.lane <> all(${sql.param(full)}::text[])
        order by d.next_attempt_at, d.id
        limit ${SCAN_MAX}
      ) d
    ),
    chosen as (
      select d.id, exists (
        select from deliveries e
        where e.order_key = d.order_key and e.status in ('pending', 'retrying')
          and (e.fired_at, e.position, e.id) < (d.fired_at, d.position, d.id)
      ) as blocked
      from due join deliveries d on d.id = due.id
      where ${isDue}
        and due.place <= coalesce((${JSON.stringify(room.lanes)}::jsonb ->> due.lane)::int,
          ${room.perLane}::int)
      order by d.next_attempt_at, d.id
      limit ${room.free}
      for update of d skip locked
    ),
    claimed as (
      update deliveries d set leased_until = ${leasedUntil}, attempts = d.attempts + 1
      from chosen c where c.id = d.id and not c.blocked
      returning d.id, d.wallet, d.recipient_id, d.lane, d.order_key, d.envelope, d.attempts
    )
    select c.id, c.blocked, d.wallet, d.recipient_id as "recipientId", d.lane,
      d.order_key as "orderKey", d.envelope, d.attempts
    from chosen c left join claimed d on d.id = c.id`)
  return {
    claimed: rows.filter(({ blocked }) => !blocked),
    blocked: rows.filter(({ blocked }) => blocked).map(({ id }) => id),
  }
}

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

/** How an attempt ended. */
export interface FinishedRow {
  readonly id: string
  /** The attempt this is about; a worker whose lease ran out speaks of an earlier one. */
  readonly attempt: number
  readonly orderKey: string
  readonly status: Extract<DeliveryStatus, 'retrying' | 'delivered' | 'failed' | 'disabled'>
  readonly attempts: number
  readonly nextAttemptAt: Date | null
  readonly statusCode: number | null
  readonly error: string | null
  readonly deliveredAt: Date | null
}

/**
 * Writes how attempts ended and makes the next delivery of each key that is free now due at `now`.
 *
 * What another worker has taken over since is left to it, but a success always counts.
 */
export async function finish(tx: Db, rows: readonly FinishedRow[], now: Date): Promise<void> {
  await tx.execute(sql`
    update deliveries d set status = r.status, attempts = r.attempts, leased_until = null,
      next_attempt_at = r."nextAttemptAt", last_status_code = r."statusCode",
      last_error = r.error, delivered_at = r."deliveredAt"
    from json_to_recordset(${JSON.stringify(rows)}::json) as r(id uuid, attempt int, status text,
      attempts int, "nextAttemptAt" timestamptz, "statusCode" int, error text,
      "deliveredAt" timestamptz)
    where d.id = r.id and d.status in ('pending', 'retrying')
      and (d.attempts = r.attempt or r.status = 'delivered')`)
  const keys = rows.filter(({ status }) => status !== 'retrying').map(({ orderKey }) => orderKey)
  if (keys.length === 0) return
  await tx.execute(sql`
    update deliveries d set next_attempt_at = ${now}
    from unnest(${sql.param(keys)}::text[]) as freed(order_key)
    cross join lateral (
      select e.id from deliveries e
      where e.order_key = freed.order_key and e.status in ('pending', 'retrying')
      order by e.fired_at, e.position, e.id
      limit 1
    ) head
    where d.id = head.id and d.next_attempt_at is null`)
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

/** The deliveries of alerts, in the order of the recipients. */
export function listOfAlerts(db: Db, alertIds: readonly number[]) {
  return db
    .select({
      alertId: deliveries.alertId,
      deliveryId: deliveries.id,
      recipientId: deliveries.recipientId,
      channel: deliveries.channel,
      status: deliveries.status,
      attempts: deliveries.attempts,
      lastStatusCode: deliveries.lastStatusCode,
      lastError: deliveries.lastError,
      nextAttemptAt: deliveries.nextAttemptAt,
      deliveredAt: deliveries.deliveredAt,
    })
    .from(deliveries)
    .where(inArray(deliveries.alertId, [...alertIds]))
    .orderBy(asc(deliveries.recipientId), asc(deliveries.id))
}

/** Deliveries of all wallets since then, and how the finished ones ended. */
export async function countSince(db: Db, since: Date) {
  const { status, createdAt } = deliveries
  const [row] = await db
    .select({
      sent: sql`count(*) filter (where ${status} in ('delivered', 'failed', 'retrying'))`.mapWith(
        Number,
      ),
      delivered: sql`count(*) filter (where ${status} = 'delivered')`.mapWith(Number),
      failed: sql`count(*) filter (where ${status} = 'failed')`.mapWith(Number),
    })
    .from(deliveries)
    .where(gte(createdAt, since))
  return { sent: row?.sent ?? 0, delivered: row?.delivered ?? 0, failed: row?.failed ?? 0 }
}
