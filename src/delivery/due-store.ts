/** Claims and releases due deliveries. */
import { type SQL, sql } from 'drizzle-orm'
import type { ChannelKey } from '#src/channels/index.ts'
import { uuidArray } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { isSamePartitionKey } from '#src/db/partitions.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import type { FullDestinations } from './concurrency-limiter.ts'
import * as messages from './message-store.ts'
import { LEASE_SECONDS } from './model.ts'
import { RETRY_SECONDS } from './rules.ts'
import { type deliveries, IS_RETRY, IS_UNFINISHED } from './tables.ts'

/** Maximum number of due rows of one urgency that one claim reads. */
export const OLDEST_READ_MAX = 256
/** Maximum number of due rows of one recipient's backlog that one claim reads, per urgency. */
const BACKLOG_READ_MAX = 4
/** Maximum number of the newest due rows of one urgency that a claim reads beside the oldest. */
const NEWEST_READ_MAX = 64
/** Number of due rows of one urgency from which on its queue is long. */
export const LONG_QUEUE_MIN = 10_000
/** Seconds after which the oldest due rows of a long queue are moved into the backlogs of their recipients. */
const LATE_SECONDS = 30
/** A lease that ends later than this, in seconds from now, was written before the clock was set back. */
const LEASE_SECONDS_MAX = LEASE_SECONDS + 120
/** A time further in the future than this, in seconds, was written before the clock was set back. */
const AHEAD_SECONDS = 120

/** A delivery that a worker has leased. `attempts` includes the current one. */
export type ClaimedRow = Pick<
  typeof deliveries.$inferSelect,
  | 'id'
  | 'wallet'
  | 'alertId'
  | 'recipientId'
  | 'partitionKey'
  | 'orderKey'
  | 'envelope'
  | 'attempts'
  | 'plannedAt'
  | 'createdAt'
  | 'kind'
  | 'recovery'
>

/** A due delivery, with the columns that the selection needs. */
export interface DueDelivery extends Record<string, unknown> {
  readonly id: string
  readonly recipientId: number
  readonly partitionKey: string
  readonly orderKey: string
  readonly urgency: number
  readonly firedAt: Date
  readonly position: number
  readonly backlog: boolean
}

const DUE_DELIVERY_COLUMNS =
  sql.raw(`d.id, d.recipient_id as "recipientId", d.lane as "partitionKey", d.order_key as "orderKey",
  d.urgency, d.fired_at as "firedAt", d.position::float8 as position, d.backlog`)

/** Whether no worker has a lease. A lease longer than possible is ignored. */
export function isUnleased(now: Date): SQL {
  const latest = new Date(now.getTime() + LEASE_SECONDS_MAX * 1000)
  return sql`(d.leased_until is null or d.leased_until <= ${now} or d.leased_until > ${latest})`
}

/** Whether a row can be claimed now. */
function isDue(now: Date): SQL {
  return sql`d.status in ('pending', 'retrying') and ${isReady(now)}`
}

/** Condition on an unfinished delivery `d`: it is due, and no worker has leased it. */
function isReady(now: Date): SQL {
  return sql`d.next_attempt_at <= ${now} and ${isUnleased(now)}`
}

function isOpen(full: FullDestinations): SQL {
  return sql`${isOpenPartition(full)} and d.recipient_id not in ${fullRecipients(full)}`
}

// A kept plan compares a row with each element of an array, but looks it up in the hash of a subquery.
function isOpenPartition({ partitions }: FullDestinations): SQL {
  return sql`d.lane not in (select unnest(${sql.param([...partitions])}::text[]))`
}

function fullRecipients({ recipients }: FullDestinations): SQL {
  return sql`(select unnest(${sql.param([...recipients])}::int[]))`
}

/**
 * Due deliveries of a channel outside backlogs, by urgency, then by age: the oldest of each urgency, at most
 * `OLDEST_READ_MAX`, or the newest.
 */
export async function listDueDeliveries(
  db: Db,
  channel: ChannelKey,
  {
    full,
    now,
    newest = false,
  }: { readonly full: FullDestinations; readonly now: Date; readonly newest?: boolean },
): Promise<DueDelivery[]> {
  const first = newest
    ? sql`order by d.next_attempt_at desc, d.id desc limit ${NEWEST_READ_MAX}`
    : sql`order by d.next_attempt_at, d.id limit ${OLDEST_READ_MAX}`
  const ofUrgency = (urgency: number) => sql`(
    select d.* from deliveries d
    where d.channel = ${channel} and d.urgency = ${urgency} and not d.backlog and ${isDue(now)}
      and ${isOpen(full)}
    ${first})`
  const urgencies = SEVERITIES.map((_severity, urgency) => ofUrgency(urgency))
  return await db.execute<DueDelivery>(sql`
    select ${DUE_DELIVERY_COLUMNS} from (${sql.join(urgencies, sql` union all `)}) d
    order by d.urgency desc, d.next_attempt_at, d.id`)
}

const IN_BACKLOG = sql.raw(
  `d.status in ('pending', 'retrying') and d.backlog and d.next_attempt_at is not null`,
)

/**
 * Due deliveries in the backlogs of the next recipients of a channel, by id, above `after`: per recipient
 * by urgency, then by age.
 *
 * @returns `last`: the last recipient that was read; undefined if there are none above it
 */
export async function listDueInBacklogs(
  db: Db,
  channel: ChannelKey,
  of: {
    readonly after: number
    readonly recipientsMax: number
    readonly full: FullDestinations
    readonly now: Date
  },
): Promise<{ readonly candidates: DueDelivery[]; readonly last: number | undefined }> {
  const { after, recipientsMax, full, now } = of
  const nextAbove = (id: SQL) => sql`
    select d.recipient_id from deliveries d
    where d.channel = ${channel} and ${IN_BACKLOG} and d.recipient_id > ${id}
    order by d.recipient_id limit 1`
  const queryOfUrgency = SEVERITIES.map(
    (_severity, urgency) => sql`(
      select d.* from deliveries d
      where d.channel = ${channel} and ${IN_BACKLOG} and d.recipient_id = hop.recipient_id
        and hop.recipient_id not in ${fullRecipients(full)}
        and d.urgency = ${urgency} and ${isDue(now)} and ${isOpenPartition(full)}
      order by d.next_attempt_at, d.id limit ${BACKLOG_READ_MAX})`,
  )
  const rows = await db.execute<DueDelivery & { hop: number }>(sql`
    with recursive hop(recipient_id, place) as (
      select (${nextAbove(sql`${after}::int`)}), 1
      union all
      select (${nextAbove(sql`hop.recipient_id`)}), hop.place + 1
      from hop where hop.recipient_id is not null and hop.place < ${recipientsMax}
    )
    select hop.recipient_id as hop, ${DUE_DELIVERY_COLUMNS}
    from hop left join lateral (${sql.join(queryOfUrgency, sql` union all `)}) d on true
    where hop.recipient_id is not null
    order by hop.place, d.urgency desc, d.next_attempt_at, d.id`)
  const count = new Set(rows.map(({ hop }) => hop)).size
  return {
    candidates: rows.filter(({ id }) => id !== null),
    last: count < recipientsMax ? undefined : rows.at(-1)?.hop,
  }
}

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
        select from deliveries e
        where e.order_key = d.order_key and e.status in ('pending', 'retrying')
          and (e.fired_at, e.position, e.id) < (d.fired_at, d.position, d.id)
      ) as blocked
      from deliveries d
      where d.id = any(${uuidArray(ids)}) and ${IS_UNFINISHED} and ${isReady(now)}
      for update skip locked
    ),
    claimed as (
      update deliveries d set leased_until = ${leasedUntil}, attempts = d.attempts + 1
      where d.id = any(array(select id from chosen where not blocked))
      returning d.*
    )
    select c.id, c.blocked, ${CLAIMED_COLUMNS} from chosen c left join claimed d on d.id = c.id`)
  return {
    claimed: rows.filter(({ blocked }) => !blocked),
    blocked: rows.filter(({ blocked }) => blocked).map(({ id }) => id),
  }
}

/** Moves due deliveries that could not be claimed into the backlogs of their recipients. */
export async function moveToBacklog(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db.execute(sql`
    update deliveries d set backlog = true
    where d.id = any(array(
      select id from deliveries d
      where id = any(${sql.param([...ids])}::uuid[]) and ${IS_UNFINISHED} and not backlog
      for update skip locked))`)
}

/**
 * Ids of deliveries outside backlogs that hold up a long queue, by urgency, among its oldest `LONG_QUEUE_MIN`. They are
 * the deliveries to destinations that are stuck, which each claim reads and skips, and those that have waited for more
 * than `LATE_SECONDS`. Empty for an urgency whose queue is not long.
 */
export async function listStuckInLongQueues(
  db: Db,
  channel: ChannelKey,
  { stuck, now }: { readonly stuck: FullDestinations; readonly now: Date },
): Promise<readonly string[]> {
  const late = new Date(now.getTime() - LATE_SECONDS * 1000)
  const ofUrgency = (urgency: number) => sql`
    select unnest(array_agg(d.id) filter (
      where d.next_attempt_at <= ${late} or not (${isOpen(stuck)}))) as id
    from (
      select d.id, d.lane, d.recipient_id, d.next_attempt_at from deliveries d
      where d.channel = ${channel} and d.urgency = ${urgency} and not d.backlog and ${isDue(now)}
      order by d.next_attempt_at, d.id
      limit ${LONG_QUEUE_MIN}) d
    having count(*) = ${LONG_QUEUE_MIN}`
  const urgencies = SEVERITIES.map((_severity, urgency) => ofUrgency(urgency))
  const rows = await db.execute<{ id: string }>(sql`${sql.join(urgencies, sql` union all `)}`)
  return rows.map(({ id }) => id)
}

/** Extends the leases of deliveries that this process still works on. */
export async function extendLeases(
  db: Db,
  ids: readonly string[],
  leasedUntil: Date,
): Promise<void> {
  await db.execute(sql`
    update deliveries d set leased_until = ${leasedUntil}
    where id = any(${sql.param([...ids])}::uuid[]) and ${IS_UNFINISHED}
      and leased_until is not null`)
}

/**
 * Makes deliveries due that were written before the clock was set back, and would otherwise wait until the
 * clock reaches that time.
 */
export async function repairDueTimes(db: Db, now: Date): Promise<void> {
  const ahead = new Date(now.getTime() + AHEAD_SECONDS * 1000)
  await db.execute(sql`
    update deliveries d set next_attempt_at = ${now}
    where d.id = any(array(
      select d.id from deliveries d
      where d.created_at > ${ahead} and ${IS_UNFINISHED} and d.next_attempt_at > ${ahead}
      limit 1000
      for update skip locked))`)
}

/** Longest step of the retries, in seconds. */
const RETRY_SECONDS_MAX = Math.max(...RETRY_SECONDS) * 1.5

/**
 * Like `repairDueTimes`, for retries that are further away than the longest step, and for messages to be changed.
 */
export async function repairRetryTimes(db: Db, now: Date): Promise<void> {
  const ahead = new Date(now.getTime() + RETRY_SECONDS_MAX * 1000)
  const sentMax = new Date(now.getTime() + AHEAD_SECONDS * 1000)
  await messages.repairMessageTimes(db, now, { sentMax, waitMax: ahead })
  await db.execute(sql`
    update deliveries d set next_attempt_at = ${now}
    where d.id = any(array(
      select d.id from deliveries d
      where ${IS_RETRY} and d.next_attempt_at > ${ahead}
      limit 10000
      for update skip locked))`)
}

/** Columns that a worker reads of a leased delivery, besides the id. */
export const CLAIMED_COLUMNS =
  sql.raw(`d.wallet, d.alert_id as "alertId", d.recipient_id as "recipientId",
  d.lane as "partitionKey", d.order_key as "orderKey", d.envelope, d.attempts, d.planned_at as "plannedAt",
  d.created_at as "createdAt", d.kind, d.recovery`)

/**
 * Makes deliveries that wait for an earlier delivery of their key not due, until `finishDeliveries` frees the key.
 * Meanwhile the earlier delivery is locked, so that it cannot finish unnoticed. If another transaction has
 * locked one of the two, the delivery stays due and is read again.
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
      where d.id = any(${sql.param([...ids])}::uuid[]) and ${IS_UNFINISHED}
      for update of d skip locked
    )
    update deliveries d set next_attempt_at = null where d.id = any(array(select id from blocked))`)
}

/** Releases deliveries whose attempt was aborted, so that they are due again. */
export async function releaseAbortedDeliveries(
  db: Db,
  rows: readonly { readonly id: string; readonly attempt: number }[],
): Promise<void> {
  await db.execute(sql`
    update deliveries d set leased_until = null, attempts = d.attempts - 1
    from json_to_recordset(${JSON.stringify(rows)}::json) as r(id uuid, attempt int)
    where d.id = any(${uuidArray(rows.map(({ id }) => id))}) and ${isSamePartitionKey('d.id', 'r.id')}
      and d.attempts = r.attempt and ${IS_UNFINISHED}`)
}
