/**
 * Heads: when a recipient's next delivery may be due. What makes deliveries due says so with `markDue`; workers take due
 * heads and give them back with the true next time.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { ChannelKey } from '#src/channels/index.ts'
import { ANY_LENGTH } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { writeLast } from '#src/db/transaction-scope.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { PLACES_PER_LOWER } from '../rules.ts'
import { isReady, isUnleased } from '../tables.ts'
import type { FullDestinations } from './concurrency-limiter.ts'

/** A recipient with a delivery that is due at a time. */
export type DueHead = {
  readonly recipientId: number
  readonly channel: ChannelKey
  readonly partitionKey: string
  readonly urgency: number
  readonly dueAt: Date
  /** Whether the last attempt got no answer; null or absent if that has not changed. */
  readonly isSilent?: boolean | null
}

/** Columns of a delivery `d` that becomes due, as a `DueHead`. */
export const DUE_HEAD_COLUMNS = sql.raw(`d.recipient_id as "recipientId", d.channel,
  d.partition_key as "partitionKey", d.urgency, d.next_attempt_at as "dueAt"`)

/**
 * Marks deliveries as due, with the last statement of the transaction that makes them due. One that is no longer due
 * needs nothing.
 */
export function markDue(db: Db, marks: readonly DueHead[]): Promise<void> {
  return writeLast(db, writeHeads, marks)
}

/** One row for each recipient, in the order of their ids, so that two transactions never wait for each other. */
function writeHeads(marks: readonly DueHead[]): SQL {
  const ofRecipient = new Map<number, DueHead>()
  for (const mark of marks) {
    const known = ofRecipient.get(mark.recipientId) ?? mark
    const urgency = Math.max(known.urgency, mark.urgency)
    const dueAt = known.dueAt < mark.dueAt ? known.dueAt : mark.dueAt
    const isSilent = mark.isSilent ?? known.isSilent ?? null
    ofRecipient.set(mark.recipientId, { ...mark, urgency, dueAt, isSilent })
  }
  const heads = [...ofRecipient.values()].toSorted((a, b) => a.recipientId - b.recipientId)
  const column = <T>(read: (head: DueHead) => T) => sql.param(heads.map(read))
  return sql`
    insert into delivery_heads as h (recipient_id, channel, partition_key, urgency, due_at, is_silent, version)
    select r.recipient_id, r.channel, r.partition_key, r.urgency, r.due_at, coalesce(r.is_silent, k.is_silent, false), 0
    from unnest(
      ${column(({ recipientId }) => recipientId)}::int[],
      ${column(({ channel }) => channel)}::text[],
      ${column(({ partitionKey }) => partitionKey)}::text[],
      ${column(({ urgency }) => urgency)}::smallint[],
      ${column(({ dueAt }) => dueAt)}::timestamptz[],
      ${column(({ isSilent = null }) => isSilent)}::bool[]
    ) as r(recipient_id, channel, partition_key, urgency, due_at, is_silent)
    left join delivery_heads k on k.recipient_id = r.recipient_id
    order by r.recipient_id
    on conflict (recipient_id) do update set
      channel = excluded.channel, partition_key = excluded.partition_key,
      urgency = case when h.due_at is null then excluded.urgency else greatest(h.urgency, excluded.urgency) end,
      due_at = least(h.due_at, excluded.due_at),
      is_silent = excluded.is_silent,
      version = h.version + 1`
}

/** A head that a worker has taken. */
export type TakenHead = {
  readonly recipientId: number
  readonly version: number
}

/** A due delivery, with the columns that the selection needs. */
export interface DueDelivery {
  readonly id: string
  readonly recipientId: number
  readonly partitionKey: string
  readonly orderKey: string
  readonly urgency: number
  readonly firedAt: Date
  readonly position: number
  /** Number of earlier attempts. */
  readonly attempts: number
}

/** Time of a claim, and end of its lease. */
export interface Claim {
  readonly now: Date
  readonly leasedUntil: Date
}

/**
 * Takes due heads, the most urgent first and of one urgency the one that has been due longest, but of each urgency a share
 * at least, and reads the first due deliveries of each. A head stays taken until `returnHeads`, or until the lease ends.
 *
 * @param of `full`: destinations whose heads are left; `headsMax`: maximum number of heads; `rowsMax`: maximum number of
 * deliveries, shared among the heads, but `rowsOfHeadMin` of each
 * @returns `heads`: all taken ones; `due`: their deliveries by recipient, the first head first
 */
export async function takeDueHeads(
  db: Db,
  channel: ChannelKey,
  of: Claim & {
    readonly full: FullDestinations
    readonly headsMax: number
    readonly rowsMax: { readonly ofAll: number; readonly ofHead: number }
    readonly rowsOfHeadMin: number
  },
): Promise<{ readonly heads: readonly TakenHead[]; readonly due: readonly DueDelivery[] }> {
  const { now, leasedUntil, headsMax } = of
  const ofUrgency = (_severity: string, urgency: number) => sql`(
    select f.*, row_number() over (order by f.due_at, f.recipient_id) as place from (
      select h.recipient_id, h.urgency, h.due_at from delivery_heads h
      where h.channel = ${channel} and h.urgency = ${urgency} and h.due_at <= ${now} and ${isOpen(of.full)}
      order by h.due_at, h.recipient_id limit ${headsMax}) f)`
  const rows = await db.execute<TakenHead & Record<string, unknown>>(sql`
    with chosen as materialized (
      select h.recipient_id, h.urgency, h.due_at from delivery_heads h
      where h.recipient_id = any(array(
          select c.recipient_id from (${sql.join(SEVERITIES.map(ofUrgency), sql` union all `)}) c
          order by c.place > ${Math.floor(headsMax / PLACES_PER_LOWER)}::int, c.urgency desc, c.due_at, c.recipient_id
          limit ${headsMax}))
        and h.due_at <= ${now}
      for update skip locked
    ), taken as (
      update delivery_heads h set due_at = ${leasedUntil}
      where h.recipient_id = any(array(select recipient_id from chosen))
      returning h.recipient_id, h.version
    )
    select t.recipient_id as "recipientId", t.version, d.id, d.partition_key as "partitionKey",
      d.order_key as "orderKey", d.urgency, d.fired_at as "firedAt", d.position::float8 as position, d.attempts
    from taken t join chosen c on c.recipient_id = t.recipient_id
    left join lateral (
      select * from delivery_queue d
      where d.recipient_id = t.recipient_id and ${isReady(now)}
      order by d.urgency desc, d.next_attempt_at, d.id
      limit least(${of.rowsMax.ofHead}::int, greatest(${of.rowsOfHeadMin}::int,
        ${of.rowsMax.ofAll}::int / (select greatest(1, count(*))::int from chosen)))
    ) d on true
    order by c.urgency desc, c.due_at, c.recipient_id, d.urgency desc, d.next_attempt_at, d.id`)
  const heads = new Map(rows.map(({ recipientId, version }) => [recipientId, version]))
  return {
    heads: [...heads].map(([recipientId, version]) => ({ recipientId, version })),
    // Safe: only a head without due deliveries has a row without an id.
    due: rows.filter((row) => row['id'] !== null) as unknown as readonly DueDelivery[],
  }
}

// A kept plan compares a row with each element of an array, but looks it up in the hash of a subquery.
function isOpen({ partitions, recipients }: FullDestinations): SQL {
  return sql`h.partition_key not in (select unnest(${sql.param([...partitions])}::text[]))
    and h.recipient_id not in (select unnest(${sql.param([...recipients])}::int[]))`
}

/**
 * Gives heads back with the true next times of their recipients: now if a delivery is due, else the first time at which one
 * is due, or at which the lease of one ends. A head that was marked meanwhile is due now: what became due since may not be
 * seen here.
 *
 * @param all `notBefore`: earliest time at which those that are due now are looked at again; null for at once
 */
export async function returnHeads(
  db: Db,
  all: readonly (TakenHead & { readonly notBefore: Date | null })[],
  now: Date,
): Promise<void> {
  if (all.length === 0) return
  const column = <T>(read: (head: (typeof all)[number]) => T) => sql.param(all.map(read))
  await db.execute(sql`
    with asked as materialized (
      select a.* from rows from (
        unnest(${column(({ recipientId }) => recipientId)}::int[], ${column(({ version }) => version)}::int[],
          ${column(({ notBefore }) => notBefore)}::timestamptz[]), ${ANY_LENGTH}
      ) as a(recipient_id, version, not_before, nothing)
    ), locked as materialized (
      select h.recipient_id, a.not_before, h.version = a.version as is_same
      from delivery_heads h join asked a on a.recipient_id = h.recipient_id
      where h.recipient_id = any(array(select recipient_id from asked))
      order by h.recipient_id for update of h
    )
    update delivery_heads h set
      due_at = case when a.is_same then n.due_at else least(h.due_at, ${now}) end,
      urgency = case when a.is_same then coalesce(n.urgency, h.urgency) else h.urgency end,
      is_silent = h.is_silent and (n.due_at is not null or not a.is_same)
    from locked a cross join lateral (${nextOf(sql`a.recipient_id`, now, sql`a.not_before`)}) n
    where h.recipient_id = a.recipient_id`)
}

/** All urgencies, the highest first. Each is asked for alone, in the order of the index. */
const URGENCIES = sql.raw(
  `(values ${SEVERITIES.map((_severity, urgency) => `(${urgency})`).toReversed()}) as u(urgency)`,
)

/** Query for one row: the true next time of a recipient, and the urgency that is due then; nulls if nothing waits. */
function nextOf(recipientId: SQL, now: Date, notBefore: SQL = sql`null::timestamptz`): SQL {
  const first = (time: SQL, condition: SQL) => sql`
    select u.urgency, ${time} as at from ${URGENCIES} cross join lateral (
      select d.next_attempt_at, d.leased_until from delivery_queue d
      where d.recipient_id = ${recipientId} and d.urgency = u.urgency and ${condition}
      order by d.next_attempt_at limit 1) d`
  return sql`
    select min(p.at) as due_at, (array_agg(p.urgency order by p.at, p.urgency desc))[1] as urgency from (
      (select p.urgency, p.at from (
        (${first(sql`greatest(${now}::timestamptz, ${notBefore})`, isReady(now))} limit 1)
        union all
        (select (array_agg(d.urgency order by d.leased_until, d.urgency desc))[1] as urgency, min(d.leased_until) as at
          from delivery_queue d
          where d.recipient_id = ${recipientId} and d.next_attempt_at <= ${now}
            and not ${isUnleased(now)}
          having count(*) > 0)
        ) p limit 1)
      union all
      (${first(sql`d.next_attempt_at`, sql`d.next_attempt_at > ${now}`)})
      ) p`
}

/** Deletes the heads of deleted recipients. */
export async function deleteHeads(tx: Db, recipientIds: readonly number[]): Promise<void> {
  await tx.execute(sql`
    delete from delivery_heads where recipient_id = any(array(
      select recipient_id from delivery_heads where recipient_id = any(${sql.param([...recipientIds])}::int[])
      order by recipient_id for update))`)
}

/**
 * Finds recipients, by id, above `after`, whose head is missing or later than their next delivery; heads that a worker may
 * have taken are not late.
 *
 * @returns `last`: the last recipient that was looked at; undefined if there are none above it
 */
export async function findLateHeads(
  db: Db,
  of: Claim & { readonly after: number; readonly recipientsMax: number },
): Promise<{ readonly late: readonly DueHead[]; readonly last: number | undefined }> {
  const { now, leasedUntil, after, recipientsMax } = of
  const nextAbove = (id: SQL) => sql`
    select d.recipient_id from delivery_queue d where d.next_attempt_at is not null and d.recipient_id > ${id}
    order by d.recipient_id limit 1`
  const rows = await db.execute<DueHead & { isLate: boolean }>(sql`
    with recursive hop(recipient_id, place) as (
      select (${nextAbove(sql`${after}::int`)}), 1
      union all
      select (${nextAbove(sql`hop.recipient_id`)}), hop.place + 1
      from hop where hop.recipient_id is not null and hop.place < ${recipientsMax}
    )
    select hop.recipient_id as "recipientId", d.channel, d.partition_key as "partitionKey", n.urgency, n.due_at as "dueAt",
      coalesce(n.due_at < coalesce(h.due_at, 'infinity')
        and coalesce(h.due_at, 'infinity') > ${leasedUntil}, false) as "isLate"
    from hop
    cross join lateral (
      select d.channel, d.partition_key from delivery_queue d
      where d.recipient_id = hop.recipient_id and d.next_attempt_at is not null limit 1) d
    cross join lateral (${nextOf(sql`hop.recipient_id`, now)}) n
    left join delivery_heads h on h.recipient_id = hop.recipient_id
    where hop.recipient_id is not null
    order by hop.recipient_id`)
  return {
    late: rows.filter(({ isLate }) => isLate),
    last: rows.length < recipientsMax ? undefined : rows.at(-1)?.recipientId,
  }
}
