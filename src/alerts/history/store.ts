/** Query of muted alerts. */
import { and, desc, eq, isNotNull, isNull, notInArray, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { AlertRow } from '../store.ts'
import { alerts } from '../tables.ts'

/** Open alerts of the wallet that are muted until they recover, newest first, except those of some types. */
export function listMuted(
  db: Db,
  wallet: string,
  { limit, exceptTypes }: { readonly limit: number; readonly exceptTypes: readonly string[] },
): Promise<AlertRow[]> {
  return db
    .select()
    .from(alerts)
    .where(
      and(
        eq(alerts.wallet, wallet),
        sql`${alerts.isEpisode}`,
        isNull(alerts.recoveredAt),
        isNotNull(alerts.mutedAt),
        notInArray(alerts.type, [...exceptTypes]),
      ),
    )
    .orderBy(desc(alerts.firedAt), desc(alerts.id))
    .limit(limit)
}
