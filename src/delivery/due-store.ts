/** Lists due deliveries. */
import { type SQL, sql } from 'drizzle-orm'
import type { ChannelKey } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import type { FullDestinations } from './concurrency-limiter.ts'

/** Maximum number of due rows of one urgency that one claim reads. */
export const OLDEST_READ_MAX = 256
/** Number of due rows of one urgency that one claim looks at, at most, to find those with a free place. */
export const QUEUE_SCAN_MAX = 1024
/** Maximum number of due rows of one recipient's backlog that one claim reads, per urgency. */
const BACKLOG_READ_MAX = 4
/** Maximum number of the newest due rows of one urgency that a claim reads beside the oldest. */
const NEWEST_READ_MAX = 64
/** Number of due rows of one urgency from which on its queue is long. */
export const LONG_QUEUE_MIN = 10_000
/** Seconds after which the oldest due rows of a long queue are moved into the backlogs of their recipients. */
const LATE_SECONDS = 30

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
  sql.raw(`d.id, d.recipient_id as "recipientId", d.partition_key as "partitionKey", d.order_key as "orderKey",
  d.urgency, d.fired_at as "firedAt", d.position::float8 as position, d.backlog`)

/** Whether no worker has a lease. */
export function isUnleased(now: Date): SQL {
  return sql`(d.leased_until is null or d.leased_until <= ${now})`
}

/** Whether a row can be claimed now. */
function isDue(now: Date): SQL {
  return sql`d.status in ('pending', 'retrying') and ${isReady(now)}`
}

/** Condition on an unfinished delivery `d`: it is due, and no worker has leased it. */
export function isReady(now: Date): SQL {
  return sql`d.next_attempt_at <= ${now} and ${isUnleased(now)}`
}

function isOpen(full: FullDestinations): SQL {
  return sql`${isOpenPartition(full)} and d.recipient_id not in ${fullRecipients(full)}`
}

// A kept plan compares a row with each element of an array, but looks it up in the hash of a subquery.
function isOpenPartition({ partitions }: FullDestinations): SQL {
  return sql`d.partition_key not in (select unnest(${sql.param([...partitions])}::text[]))`
}

function fullRecipients({ recipients }: FullDestinations): SQL {
  return sql`(select unnest(${sql.param([...recipients])}::int[]))`
}

/** Position of a delivery in the order of its urgency's queue, behind which the queue is read. */
export interface QueueCursor {
  /** Time at which it is due, as PostgreSQL writes it: to the microsecond. */
  readonly dueAt: string
  readonly id: string
}

/** Due deliveries of a channel outside backlogs, by urgency, then by age. */
export interface DuePage {
  readonly rows: readonly DueDelivery[]
  /**
   * Per urgency the last delivery that was looked at, if `QUEUE_SCAN_MAX` were, and fewer than wanted have a free place.
   */
  readonly ends: ReadonlyMap<number, QueueCursor>
}

/** Before each delivery, and behind each delivery. */
const QUEUE_START: QueueCursor = { dueAt: '-infinity', id: '00000000-0000-0000-0000-000000000000' }
const QUEUE_END: QueueCursor = { ...QUEUE_START, dueAt: 'infinity' }

/**
 * The oldest due deliveries of each urgency, at most `OLDEST_READ_MAX` among the oldest `QUEUE_SCAN_MAX`: a full
 * destination with a long queue does not make each claim read all of it.
 *
 * @param after per urgency the cursor behind which they are read; nothing is read of the others. Without it, all are read
 * from the front.
 */
export function listDueDeliveries(
  db: Db,
  channel: ChannelKey,
  of: {
    readonly full: FullDestinations
    readonly now: Date
    readonly after?: ReadonlyMap<number, QueueCursor>
  },
): Promise<DuePage> {
  const { after } = of
  return listDuePage(db, channel, of, {
    first: sql`order by d.next_attempt_at, d.id`,
    countMax: OLDEST_READ_MAX,
    and: (urgency) => {
      const cursor = after === undefined ? QUEUE_START : (after.get(urgency) ?? QUEUE_END)
      return sql`and (d.next_attempt_at, d.id) > (${cursor.dueAt}::timestamptz, ${cursor.id}::uuid)`
    },
  })
}

/** The newest due deliveries of each urgency, at most `NEWEST_READ_MAX` among the newest `QUEUE_SCAN_MAX`. */
export async function listNewestDeliveries(
  db: Db,
  channel: ChannelKey,
  of: { readonly full: FullDestinations; readonly now: Date },
): Promise<readonly DueDelivery[]> {
  const { rows } = await listDuePage(db, channel, of, {
    first: sql`order by d.next_attempt_at desc, d.id desc`,
    countMax: NEWEST_READ_MAX,
  })
  return rows
}

async function listDuePage(
  db: Db,
  channel: ChannelKey,
  { full, now }: { readonly full: FullDestinations; readonly now: Date },
  of: {
    readonly first: SQL
    readonly countMax: number
    /** Condition on a delivery `d`. */
    readonly and?: (urgency: number) => SQL
  },
): Promise<DuePage> {
  const ofUrgency = (urgency: number) => sql`(
    select * from (
      select d.*, ${isOpen(full)} as open from (
        select ${DUE_DELIVERY_COLUMNS}, d.recipient_id, d.partition_key, d.next_attempt_at,
          row_number() over (${of.first}) as place
        from deliveries d
        where d.channel = ${channel} and d.urgency = ${urgency} and not d.backlog and ${isDue(now)}
          ${of.and?.(urgency)}
        ${of.first} limit ${QUEUE_SCAN_MAX}) d) d
    where d.open or d.place = ${QUEUE_SCAN_MAX}
    ${of.first} limit ${of.countMax})`
  const urgencies = SEVERITIES.map((_severity, urgency) => ofUrgency(urgency))
  const found = await db.execute<DueDelivery & { open: boolean; endsAt: string | null }>(sql`
    select d.id, d."recipientId", d."partitionKey", d."orderKey", d.urgency, d."firedAt", d.position, d.backlog, d.open,
      case when d.place = ${QUEUE_SCAN_MAX} then d.next_attempt_at::text end as "endsAt"
    from (${sql.join(urgencies, sql` union all `)}) d
    order by d.urgency desc, d.next_attempt_at, d.id`)
  return {
    rows: found.filter(({ open }) => open),
    ends: new Map(
      found.flatMap(({ urgency, id, endsAt: dueAt }) =>
        dueAt === null ? [] : [[urgency, { dueAt, id }] as const],
      ),
    ),
  }
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
      select d.id, d.partition_key, d.recipient_id, d.next_attempt_at from deliveries d
      where d.channel = ${channel} and d.urgency = ${urgency} and not d.backlog and ${isDue(now)}
      order by d.next_attempt_at, d.id
      limit ${LONG_QUEUE_MIN}) d
    having count(*) = ${LONG_QUEUE_MIN}`
  const urgencies = SEVERITIES.map((_severity, urgency) => ofUrgency(urgency))
  const rows = await db.execute<{ id: string }>(sql`${sql.join(urgencies, sql` union all `)}`)
  return rows.map(({ id }) => id)
}
