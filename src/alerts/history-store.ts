/** Query of muted alerts. */
import { and, desc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { AlertRow } from './store.ts'
import { alerts } from './tables.ts'

/** Open alerts of the wallet that are muted until they recover, newest first. */
export function listMuted(db: Db, wallet: string, limit: number): Promise<AlertRow[]> {
  return db
    .select()
    .from(alerts)
    .where(
      and(
        eq(alerts.wallet, wallet),
        sql`${alerts.isEpisode}`,
        isNull(alerts.recoveredAt),
        isNotNull(alerts.mutedAt),
      ),
    )
    .orderBy(desc(alerts.firedAt), desc(alerts.id))
    .limit(limit)
}
