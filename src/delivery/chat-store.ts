/** What waits for chats and mailboxes, recipient by recipient. */
import { sql } from 'drizzle-orm'
import type { ChannelKey } from '#src/channels/define.ts'
import type { Db } from '#src/db/connection.ts'
import { CLAIMED, type ClaimedRow, dueOf, placesOf } from './due-store.ts'
import type { Waiting } from './grouping.ts'
import type { Room } from './lanes.ts'
import { LEASE_SECONDS } from './model.ts'

/** Unfinished deliveries looked at for one recipient; the rest follow when these are gone. */
const WAITING_MAX = 500
/** Taken so short a while ago that its message will be there at once. */
const FRESH_SECONDS = 5

/** Recipients to whom something is due, the most urgent first, as far as there is room in their lanes. */
export async function pickRecipients(
  db: Db,
  channel: ChannelKey,
  {
    room,
    busy,
    now,
  }: { readonly room: Room; readonly busy: readonly number[]; readonly now: Date },
): Promise<number[]> {
  const isIdle = sql`d.recipient_id <> all(${sql.param([...busy])}::int[])`
  const rows = await db.execute<{ recipientId: number }>(sql`
    with firsts as (
      select distinct on (d.recipient_id) d.*
      from ${dueOf(channel, room, now, isIdle)} d
      order by d.recipient_id, d.urgency desc, d.next_attempt_at, d.id
    ),
    placed as (
      select *, row_number() over (
        partition by lane order by urgency desc, next_attempt_at, id
      ) as place
      from firsts
    )
    select recipient_id as "recipientId" from placed
    where place <= ${placesOf(room, sql`lane`)}
    order by urgency desc, next_attempt_at, id
    limit ${room.free}`)
  return rows.map(({ recipientId }) => recipientId)
}

/** A delivery as the plan sees it, and whose it is. */
export type WaitingRow = Waiting & { readonly recipientId: number }

/** What is unfinished for these recipients, each in the order it fired. */
export async function listWaiting(
  db: Db,
  recipientIds: readonly number[],
  now: Date,
): Promise<WaitingRow[]> {
  const freshUntil = new Date(now.getTime() + (LEASE_SECONDS - FRESH_SECONDS) * 1000)
  return await db.execute<WaitingRow & Record<string, unknown>>(sql`
    select w.* from unnest(${sql.param([...recipientIds])}::int[]) as r(id)
    cross join lateral (
      select d.id, d.recipient_id as "recipientId", d.order_key as "orderKey",
        d.watch_id as "watchId", d.urgency, d.kind, d.recovery, d.test, d.answers,
        d.created_at as "createdAt", d.next_attempt_at as "dueAt",
        case when d.leased_until > ${freshUntil} then 'now'
          when d.leased_until > ${now} or d.next_attempt_at > ${now} then 'later'
          else 'free' end as taken
      from deliveries d
      where d.recipient_id = r.id and d.status in ('pending', 'retrying')
        and d.channel <> 'webhook'
      order by d.fired_at, d.position, d.id
      limit ${WAITING_MAX}
    ) w`)
}

/** Takes these for one attempt; those that somebody else has taken meanwhile are missing. */
export async function claimRows(
  db: Db,
  ids: readonly string[],
  { now, leasedUntil }: { readonly now: Date; readonly leasedUntil: Date },
): Promise<ClaimedRow[]> {
  return await db.execute<ClaimedRow>(sql`
    with chosen as (
      select d.id from deliveries d
      where d.id = any(${sql.param([...ids])}::uuid[]) and d.status in ('pending', 'retrying')
        and (d.next_attempt_at is null or d.next_attempt_at <= ${now})
        and (d.leased_until is null or d.leased_until <= ${now})
      order by d.id
      for update skip locked
    )
    update deliveries d set leased_until = ${leasedUntil}, attempts = d.attempts + 1
    from chosen c where d.id = c.id
    returning d.id, ${CLAIMED}`)
}

/** Lets due deliveries wait until then. */
export async function postpone(db: Db, ids: readonly string[], until: Date): Promise<void> {
  await db.execute(sql`
    update deliveries d set next_attempt_at = ${until}
    where d.id = any(${sql.param([...ids])}::uuid[]) and d.status in ('pending', 'retrying')
      and d.next_attempt_at < ${until} and d.leased_until is null`)
}
