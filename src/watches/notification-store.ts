import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { EndedMute, WatchForNotification } from './notification-model.ts'

/** A watch that is not deleted, as notifications need it. */
export interface NotificationRow
  extends Omit<WatchForNotification, 'off'>,
    Record<string, unknown> {
  readonly type: string
  /** The watch's signal choices, encoded. */
  readonly signals: unknown
}

/** Watches by id; deleted ones are missing. Disabled signals with an open episode are included. */
export async function listForNotification(
  db: Db,
  ids: readonly number[],
): Promise<readonly NotificationRow[]> {
  return await db.execute<NotificationRow>(sql`
    select w.id, w.type, w.signals, w.wallet, w.label, w.recipient_ids as "recipientIds",
      w.min_severity as "minSeverity", w.muted_until as "mutedUntil",
      w.escalate_after_minutes as "escalateAfterMinutes", w.escalate_to as "escalateTo",
      w.status = 'active' and w.suspended_at is null as "isJudged",
      coalesce((select array_agg(s.signal order by s.signal) from signal_states s
        where s.watch_id = w.id and s.phase = 'firing'), '{}'::text[]) as firing
    from watches w where w.id = any(${sql.param([...ids])}::int[]) order by w.id`)
}

/** Running watches whose mutes have ended, the longest ended first. */
export async function listEndedMutes(db: Db, now: Date, limit: number): Promise<number[]> {
  const rows = await db.execute<{ id: number }>(sql`
    select id from watches
    where muted_until <= ${now} and status = 'active' and suspended_at is null
    order by muted_until, id limit ${limit}`)
  return rows.map(({ id }) => id)
}

/**
 * Removes ended mutes from these watches. Rows that another transaction is changing are left for the next
 * run.
 */
export async function endMutes(
  tx: Db,
  watchIds: readonly number[],
  now: Date,
): Promise<EndedMute[]> {
  return await tx.execute<EndedMute & Record<string, unknown>>(sql`
    update watches w set muted_until = null, muted_since = null
    from (
      select id, muted_since from watches
      where id = any(${sql.param([...watchIds])}::int[]) and muted_until <= ${now}
      order by id for update skip locked
    ) over
    where w.id = over.id
    returning w.id as "watchId", over.muted_since as since`)
}
