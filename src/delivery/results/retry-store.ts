/** Retries that are made due before their time, because their destination or channel may work again. */
import { sql } from 'drizzle-orm'
import type { ChannelKey } from '#src/channels/index.ts'
import { ANY_LENGTH } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { DUE_HEAD_COLUMNS, type DueHead, markDue } from '../claims/head-store.ts'

/** Maximum number of retries that are made due at once. */
export const WOKEN_MAX = 500
/** Maximum number of them of one recipient. */
const WOKEN_OF_RECIPIENT_MAX = 200
const GAP = sql.raw(`interval '10 milliseconds'`)
const WAIT_MIN = sql.raw(`interval '10 seconds'`)
/** Heads that are searched for partitions without an answer. */
const SILENT_MAX = 1000

/** Condition: an unfinished delivery `d` waits for a retry that may be made due early. */
function mayBeEarly(now: Date) {
  // Times in subqueries: a plan for known times would look a little cheaper than the kept one, and be made each time.
  return sql`d.status = 'retrying' and d.planned_at is null
    and d.next_attempt_at > (select ${now}::timestamptz + ${WAIT_MIN})
    and (d.leased_until is null or d.leased_until <= (select ${now}::timestamptz))`
}

/**
 * Makes retries of these recipients due, spaced out, a limited number at once. They keep their planned times. Retries that
 * were already made early in this step, and mandatory waits, keep their time.
 *
 * @param ofEachMax maximum number of each recipient
 * @returns whether there were any
 */
export async function wakeRetries(
  tx: Db,
  recipientIds: readonly number[],
  now: Date,
  ofEachMax = WOKEN_OF_RECIPIENT_MAX,
): Promise<boolean> {
  if (recipientIds.length === 0) return false
  // One recipient after the other, in the order of the index.
  const woken = await tx.execute<DueHead>(sql`
    with waking as (
      select d.id from delivery_queue d
      where d.id = any(array(
          select found.id
          from rows from (unnest(${sql.param([...recipientIds])}::int[]), ${ANY_LENGTH})
            as asked(recipient_id, nothing)
          cross join lateral (
            select d.id, d.next_attempt_at from delivery_queue d
            where d.recipient_id = asked.recipient_id and ${mayBeEarly(now)}
            order by d.urgency desc, d.next_attempt_at, d.id
            limit ${ofEachMax}::int
          ) found
          order by found.next_attempt_at, found.id
          limit ${WOKEN_MAX}))
        and ${mayBeEarly(now)}
      for update skip locked
    )
    update delivery_queue d
    set planned_at = d.next_attempt_at, next_attempt_at = ${now}::timestamptz + w.place * ${GAP}
    from (select id, row_number() over (order by id) - 1 as place from waking) w
    where d.id = w.id
    returning ${DUE_HEAD_COLUMNS}`)
  await markDue(
    tx,
    woken.map((mark) => ({ ...mark, isSilent: false })),
  )
  return woken.length > 0
}

/** Recipients of a channel that did not answer and have a retry that may be made due early, at most `WOKEN_MAX`. */
export async function listSilentRecipients(
  db: Db,
  channel: ChannelKey,
  now: Date,
): Promise<readonly number[]> {
  const rows = await db.execute<{ recipientId: number }>(sql`
    select h.recipient_id as "recipientId" from delivery_heads h
    cross join lateral (
      select from delivery_queue d
      where d.recipient_id = h.recipient_id and ${mayBeEarly(now)}
      limit 1) d
    where h.channel = ${channel} and h.is_silent
    order by h.due_at limit ${WOKEN_MAX}`)
  return rows.map(({ recipientId }) => recipientId)
}

/** Partitions of a channel's recipients that did not answer, from a bounded number of them. */
export async function listSilentPartitions(
  db: Db,
  channel: ChannelKey,
): Promise<readonly string[]> {
  const rows = await db.execute<{ partitionKey: string }>(sql`
    select distinct partition_key as "partitionKey" from (
      select h.partition_key from delivery_heads h
      where h.channel = ${channel} and h.is_silent
      order by h.due_at limit ${SILENT_MAX}
    ) silent`)
  return rows.map(({ partitionKey }) => partitionKey)
}
