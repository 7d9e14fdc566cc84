/** Queries of alerts for the lists in a chat: each alert once, together with its recovery. */
import { and, count, desc, eq, gte, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { AlertState } from './model.ts'
import { type AlertPlace, type AlertRow, listNewest } from './store.ts'
import { alerts } from './tables.ts'

/** Filter of alerts; omitted properties do not restrict. `from` is inclusive, `before` exclusive. */
export interface LineFilter {
  readonly state?: AlertState | undefined
  readonly severity?: Severity | undefined
  readonly watchId?: number | undefined
  readonly from?: Date | undefined
  readonly before?: Date | undefined
}

/** Alerts of the wallet without recoveries, newest first, after the given position. */
export function listLines(
  db: Db,
  wallet: string,
  filter: LineFilter,
  { after, limit }: { readonly after: AlertPlace | undefined; readonly limit: number },
): Promise<AlertRow[]> {
  return listNewest(db, fits(wallet, filter), after, limit)
}

/** Number of alerts that `listLines` lists, counted up to `max`. */
export async function countLines(
  db: Db,
  wallet: string,
  filter: LineFilter,
  max: number,
): Promise<number> {
  const some = db
    .select({ id: alerts.id })
    .from(alerts)
    .where(fits(wallet, filter))
    .limit(max)
    .as('some')
  const [row] = await db.select({ count: count() }).from(some)
  return row?.count ?? 0
}

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

function fits(wallet: string, filter: LineFilter): SQL | undefined {
  const { state, severity, watchId, from, before } = filter
  return and(
    eq(alerts.wallet, wallet),
    isNull(alerts.recoveryOf),
    state === undefined ? undefined : eq(alerts.state, state),
    severity === undefined ? undefined : eq(alerts.severity, severity),
    watchId === undefined ? undefined : eq(alerts.watchId, watchId),
    from === undefined ? undefined : gte(alerts.firedAt, from),
    before === undefined ? undefined : lt(alerts.firedAt, before),
  )
}
