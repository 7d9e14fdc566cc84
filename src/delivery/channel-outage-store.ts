/** Deliveries that had no response during an outage of their channel. */
import { sql } from 'drizzle-orm'
import type { ChannelKey } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { isSamePartitionKey } from '#src/db/partitions.ts'
import { EARLY_RETRY_GAP, EARLY_RETRY_MIN_WAIT } from './store.ts'

/** Most unanswered deliveries that are resumed at once when a channel works again. */
const RESUMED_MAX = 500

function isUnanswered(channel: ChannelKey, now: Date) {
  return sql`d.channel = ${channel} and d.unanswered and d.status = 'retrying'
    and d.planned_at is null and d.next_attempt_at > ${now}::timestamptz + ${EARLY_RETRY_MIN_WAIT}
    and (d.leased_until is null or d.leased_until <= ${now})`
}

/**
 * Makes unanswered deliveries of a channel due, longest waiting first, spaced out. They keep their planned
 * times.
 *
 * @returns whether there may be more
 */
export async function resumeUnanswered(db: Db, channel: ChannelKey, now: Date): Promise<boolean> {
  const woken = await db.execute(sql`
    with waking as (
      select d.id, d.created_at from deliveries d
      where ${isUnanswered(channel, now)}
      order by d.next_attempt_at
      limit ${RESUMED_MAX}
      for update skip locked
    )
    update deliveries d
    set planned_at = d.next_attempt_at, unanswered = false,
      next_attempt_at = ${now}::timestamptz + w.place * ${EARLY_RETRY_GAP}
    from (select id, row_number() over (order by created_at, id) - 1 as place from waking) w
    where d.id = any(array(select id from waking)) and ${isSamePartitionKey('d.id', 'w.id')}
    returning d.id`)
  return woken.length === RESUMED_MAX
}

/** Deliveries that are searched for partitions without a response. */
const RECALLED_MAX = 1000

/**
 * Partitions of a channel's unanswered deliveries that are to be retried, from a bounded number of them.
 */
export async function listUnansweredPartitions(
  db: Db,
  channel: ChannelKey,
): Promise<readonly string[]> {
  const rows = await db.execute<{ partitionKey: string }>(sql`
    select distinct partition_key as "partitionKey" from (
      select d.partition_key from deliveries d
      where d.channel = ${channel} and d.unanswered and d.status = 'retrying'
      order by d.next_attempt_at limit ${RECALLED_MAX}
    ) waiting`)
  return rows.map(({ partitionKey }) => partitionKey)
}

/** Deliveries from which an early try is chosen. */
const PROBES_MAX = 50

/**
 * Makes one unanswered delivery due, in order to find out whether the channel works again.
 *
 * @param random from 0 to below 1
 */
export async function probeUnanswered(
  db: Db,
  channel: ChannelKey,
  { now, random }: { readonly now: Date; readonly random: number },
): Promise<void> {
  const ids = await db.execute<{ id: string }>(sql`
    select d.id from deliveries d where ${isUnanswered(channel, now)}
    order by d.next_attempt_at limit ${PROBES_MAX}`)
  const chosen = ids[Math.floor(random * ids.length)]
  if (chosen === undefined) return
  await db.execute(sql`
    update deliveries d set planned_at = d.next_attempt_at, next_attempt_at = ${now}
    where d.id = ${chosen.id} and ${isUnanswered(channel, now)}`)
}
