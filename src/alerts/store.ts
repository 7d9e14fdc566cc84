import { and, count, desc, eq, gte, inArray, lt, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES, type Severity } from '#src/kernel/facts.ts'
import type { Address } from '#src/kernel/units.ts'
import type { Raised } from '#src/watches/evaluate.ts'
import type { AlertFilter } from './model.ts'
import { alerts } from './tables.ts'

export type AlertRow = typeof alerts.$inferSelect

/** Which firing an inserted alert came from, by the key that makes it unique. */
export interface InsertedAlert {
  readonly id: number
  readonly key: string
}

/** The key that makes an alert unique: watch, signal, event, position. */
export function alertKey(of: {
  readonly watchId: number
  readonly signal: string | null
  readonly event: string
  readonly position: number
}): string {
  return [of.watchId, of.signal ?? '', of.event, of.position].join(' ')
}

/** Writes alerts; those that exist already (a replayed observation) are passed over and not given back. */
export async function insertAlerts(
  db: Db,
  raised: readonly Raised[],
  createdAt: Date,
): Promise<InsertedAlert[]> {
  if (raised.length === 0) return []
  const rows = await db
    .insert(alerts)
    .values(
      raised.map((one) => ({
        wallet: one.watch.wallet,
        watchId: one.watch.id,
        watchLabel: one.watch.label,
        type: one.type,
        signal: one.signal,
        group: one.group,
        event: one.event,
        severity: one.severity,
        state: one.isRecovery ? 'recovered' : 'firing',
        data: one.data,
        position: one.position,
        firedAt: one.firedAt,
        recoveredAt: one.isRecovery ? one.firedAt : null,
        createdAt,
      })),
    )
    .onConflictDoNothing()
    .returning({
      id: alerts.id,
      watchId: alerts.watchId,
      signal: alerts.signal,
      event: alerts.event,
      position: alerts.position,
    })
  return rows.map((row) => ({ id: row.id, key: alertKey(row) }))
}

/**
 * Closes the open alerts of a signal and names them in its recovery, if it has an alert of its own.
 *
 * @returns how bad the closed ones were
 */
export async function closeEpisode(
  db: Db,
  input: {
    readonly watchId: number
    readonly signal: string
    readonly recoveredAt: Date
    /** The recovery's: what fired before it is closed. */
    readonly position: number
    readonly recoveryId: number | undefined
  },
): Promise<Severity[]> {
  const closed = await db
    .update(alerts)
    .set({ state: 'recovered', recoveredAt: input.recoveredAt })
    .where(
      and(
        eq(alerts.watchId, input.watchId),
        eq(alerts.signal, input.signal),
        sql`${alerts.recoveredAt} is null`,
        lt(alerts.position, input.position),
      ),
    )
    .returning({ id: alerts.id, severity: alerts.severity })
  const severities = closed.map(({ severity }) => z.enum(SEVERITIES).parse(severity))
  const recoveryOf = Math.min(...closed.map(({ id }) => id))
  if (input.recoveryId !== undefined && closed.length > 0) {
    await db.update(alerts).set({ recoveryOf }).where(eq(alerts.id, input.recoveryId))
  }
  return severities
}

/** Alerts of the wallet, newest first, after the given place. */
export function listAlerts(
  db: Db,
  wallet: Address,
  filter: AlertFilter,
  after: { readonly firedAt: Date; readonly id: number } | undefined,
  limit: number,
): Promise<AlertRow[]> {
  const isAfter =
    after === undefined
      ? undefined
      : or(
          lt(alerts.firedAt, after.firedAt),
          and(eq(alerts.firedAt, after.firedAt), lt(alerts.id, after.id)),
        )
  return db
    .select()
    .from(alerts)
    .where(and(fits(wallet, filter), isAfter))
    .orderBy(desc(alerts.firedAt), desc(alerts.id))
    .limit(limit)
}

/** Deletes up to `limit` of the wallet's alerts that fit. @returns how many */
export async function deleteAlerts(
  db: Db,
  wallet: Address,
  {
    ids,
    before,
    ...filter
  }: AlertFilter & { ids?: number[] | undefined; before?: Date | undefined },
  limit: number,
): Promise<number> {
  const chosen = db
    .select({ id: alerts.id })
    .from(alerts)
    .where(
      and(
        fits(wallet, filter),
        ids && inArray(alerts.id, ids),
        before && lt(alerts.firedAt, before),
      ),
    )
    .limit(limit)
  const gone = await db
    .delete(alerts)
    .where(inArray(alerts.id, chosen))
    .returning({ id: alerts.id })
  return gone.length
}

function fits(wallet: Address, filter: AlertFilter): SQL | undefined {
  const { watchId, type, group, signal, event, severity, state, from, to } = filter
  return and(
    eq(alerts.wallet, wallet),
    watchId === undefined ? undefined : eq(alerts.watchId, watchId),
    type === undefined ? undefined : eq(alerts.type, type),
    group === undefined ? undefined : eq(alerts.group, group),
    signal === undefined ? undefined : eq(alerts.signal, signal),
    event === undefined ? undefined : eq(alerts.event, event),
    severity === undefined ? undefined : eq(alerts.severity, severity),
    state === undefined ? undefined : eq(alerts.state, state),
    from === undefined ? undefined : gte(alerts.firedAt, from),
    to === undefined ? undefined : lt(alerts.firedAt, to),
  )
}

/** One alert, whoever owns it: the caller has proved a right to it. */
export async function findAlert(db: Db, id: number): Promise<AlertRow | undefined> {
  const [found] = await db.select().from(alerts).where(eq(alerts.id, id))
  return found
}

/** Alerts of all wallets recorded since then. */
export async function countSince(db: Db, since: Date): Promise<number> {
  const [row] = await db.select({ count: count() }).from(alerts).where(gte(alerts.createdAt, since))
  return row?.count ?? 0
}
