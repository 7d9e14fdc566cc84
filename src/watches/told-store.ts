import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { ToldWatch } from './told.ts'

/** Watches that are not deleted, as those who tell of them need them. */
export async function listTold(db: Db, ids: readonly number[]): Promise<readonly ToldWatch[]> {
  return await db.execute<ToldWatch & Record<string, unknown>>(sql`
    select w.id, w.wallet, w.label, w.recipient_ids as "recipientIds",
      w.min_severity as "minSeverity", w.muted_until as "mutedUntil",
      w.status = 'active' and w.suspended_at is null as "isJudged",
      coalesce((select array_agg(s.signal order by s.signal) from signal_states s
        where s.watch_id = w.id and s.phase = 'firing'), '{}'::text[]) as firing
    from watches w where w.id = any(${sql.param([...ids])}::int[]) order by w.id`)
}

/**
 * Takes mutes that are over off their watches, the longest over first. Ones that somebody is changing
 * are left for the next time.
 */
export async function endMutes(db: Db, now: Date, limit: number): Promise<number[]> {
  const rows = await db.execute<{ id: number }>(sql`
    update watches w set muted_until = null
    from (
      select id from watches where muted_until <= ${now}
      order by muted_until limit ${limit} for update skip locked
    ) over
    where w.id = over.id
    returning w.id`)
  return rows.map(({ id }) => id)
}
