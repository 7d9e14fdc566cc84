/** Reads selected alerts of a wallet in parts: one statement looks at a bounded number of alerts. */
import {
  and,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  lt,
  lte,
  not,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { ANY_LENGTH } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { unplannedLimit } from '#src/db/plans.ts'
import { type AlertFilter, STATES_IN_ORDER } from '../model.ts'
import type { AlertCursor, AlertRow } from '../store.ts'
import { alerts } from '../tables.ts'

/** Alerts that one statement looks at. A filter that few of many alerts match has no index. */
export const PART_ALERTS = 4000

/** Filter of alerts; omitted properties do not restrict. `from` is inclusive, `to` and `before` exclusive. */
export type AlertSelector = AlertFilter & {
  readonly ids?: readonly number[] | undefined
  readonly before?: Date | undefined
  /** Highest id of the selected alerts. */
  readonly newestId?: number | undefined
  /** Watch types whose alerts are left out. */
  readonly exceptTypes?: readonly string[] | undefined
  /**
   * Whether the first parts of incidents are selected, instead of alerts and recoveries. The conditions on an alert are
   * then those on any alert of the incident.
   */
  readonly incidents?: true | undefined
  /** Only parts of this incident. */
  readonly incidentId?: number | undefined
}

/** A part of a selection, newest first. */
export interface AlertPart {
  readonly rows: AlertRow[]
  /** Position after which the next part begins; undefined at the end of the selection. */
  readonly next: AlertCursor | undefined
}

/**
 * The next selected alerts of the wallet, newest first, after the given position. They may be fewer than
 * `limit`, or none, although there are more: then `next` is the position of the last alert that was looked at.
 */
export async function listAlertPart(
  db: Db,
  wallet: string,
  selection: AlertSelector,
  after: AlertCursor | undefined,
  limit: number,
): Promise<AlertPart> {
  const looked = lookedAt(db, wallet, selection, after)
  const found = await db
    .select()
    .from(looked)
    // The last one tells where the next part begins.
    .where(or(sql`${looked.matches}`, eq(looked.place, PART_ALERTS)))
    .orderBy(desc(looked.firedAt), desc(looked.id))
    .limit(limit)
  const last = found.at(-1)
  const hasMore = found.length === limit || last?.place === PART_ALERTS
  const rows = found.flatMap(({ place: _, matches, ...row }) => (matches === true ? [row] : []))
  return { rows, next: hasMore ? last && { firedAt: last.firedAt, id: last.id } : undefined }
}

/**
 * Number of matches among the alerts that one part looks at.
 * @returns `next` as `listAlertPart`
 */
export async function countAlertPart(
  db: Db,
  wallet: string,
  selection: AlertSelector,
  after: AlertCursor | undefined,
): Promise<{
  readonly count: number
  readonly newestId: number
  readonly next: AlertCursor | undefined
}> {
  const looked = lookedAt(db, wallet, selection, after)
  const isLast = eq(looked.place, PART_ALERTS)
  const [row] = await db
    .select({
      count: sql<number>`(count(*) filter (where ${looked.matches}))::int`,
      newestId: sql<number | null>`max(${looked.id}) filter (where ${looked.matches})`,
      firedAt: sql<Date | null>`max(${looked.firedAt}) filter (where ${isLast})`.mapWith(
        alerts.firedAt,
      ),
      id: sql<number | null>`max(${looked.id}) filter (where ${isLast})`,
    })
    .from(looked)
  const { count = 0, firedAt = null, id = null, newestId } = row ?? {}
  return {
    count,
    newestId: newestId ?? 0,
    next: firedAt === null || id === null ? undefined : { firedAt, id },
  }
}

/** A deleted alert. */
interface DeletedAlert {
  readonly id: number
  readonly wallet: string
  readonly incidentId: number
  /** Whether it was waiting for its recovery. */
  readonly isOpen: boolean
}

/**
 * Deletes the matches among the alerts that one part looks at.
 *
 * @param tx must be a transaction
 * @returns `next` as `listAlertPart`
 */
export async function deleteAlertPart(
  tx: Db,
  wallet: string,
  selection: AlertSelector,
  after: AlertCursor | undefined,
): Promise<{ readonly gone: readonly DeletedAlert[]; readonly next: AlertCursor | undefined }> {
  const { rows, next } = await listAlertPart(tx, wallet, selection, after, PART_ALERTS)
  const [newest, oldest] = [rows.at(0), rows.at(-1)]
  if (newest === undefined || oldest === undefined) return { gone: [], next }
  const ids = sql.param(rows.map(({ id }) => id))
  const gone = await tx
    .delete(alerts)
    .where(
      and(
        eq(alerts.wallet, wallet),
        sql`${alerts.id} in (select r.id from rows from (unnest(${ids}::int[]), ${ANY_LENGTH}) as r(id, nothing))`,
        // Only the partitions of this time are searched.
        gte(alerts.firedAt, oldest.firedAt),
        lte(alerts.firedAt, newest.firedAt),
        // Whether an alert matches may have changed since it was read.
        matches(selection),
      ),
    )
    .returning({
      id: alerts.id,
      wallet: alerts.wallet,
      incidentId: alerts.incidentId,
      isFirst: alerts.opensIncident,
      isOpen: sql<boolean>`${alerts.isEpisode} and ${alerts.recoveredAt} is null`,
    })
  const headless = gone.flatMap(({ incidentId, isFirst }) => (isFirst ? [incidentId] : []))
  await giveFirstPart(tx, wallet, headless)
  return { gone, next }
}

/** Gives incidents whose first part was deleted the place of the first one that is left, if one is. */
async function giveFirstPart(
  tx: Db,
  wallet: string,
  incidentIds: readonly number[],
): Promise<void> {
  if (incidentIds.length === 0) return
  await tx.execute(sql`
    update alerts a set opens_incident = true
    where a.wallet = ${wallet} and a.id = any(array(
      select distinct on (p.incident_id) p.id from alerts p
      where p.wallet = ${wallet} and p.incident_id = any(${sql.param([...incidentIds])}::int[])
      order by p.incident_id, p.fired_at, p.id))`)
}

/** The alerts that a part looks at, each with its place from 1, and whether it matches. */
function lookedAt(
  db: Db,
  wallet: string,
  selection: AlertSelector,
  after: AlertCursor | undefined,
) {
  const { watchId, incidentId, ids, from, to, before } = selection
  return db
    .select({
      ...getTableColumns(alerts),
      matches: sql<boolean | null>`${matches(selection) ?? sql`true`}`.as('matches'),
      place:
        sql<number>`(row_number() over (order by ${alerts.firedAt} desc, ${alerts.id} desc))::int`.as(
          'place',
        ),
    })
    .from(alerts)
    .where(
      and(
        // Not by the index of wallets where the watch or the ids restrict more.
        (watchId === undefined && ids === undefined) || incidentId !== undefined
          ? eq(alerts.wallet, wallet)
          : sql`${alerts.wallet} is not distinct from ${wallet}`,
        watchId === undefined ? undefined : eq(alerts.watchId, watchId),
        incidentId === undefined ? undefined : eq(alerts.incidentId, incidentId),
        ids && inArray(alerts.id, [...ids]),
        from && gte(alerts.firedAt, from),
        to && lt(alerts.firedAt, to),
        before && lt(alerts.firedAt, before),
        // Compared as a row, so that the index begins there.
        after &&
          sql`(${alerts.firedAt}, ${alerts.id}) < (${sql.param(after.firedAt, alerts.firedAt)}, ${after.id})`,
      ),
    )
    .orderBy(desc(alerts.firedAt), desc(alerts.id))
    .limit(unplannedLimit(PART_ALERTS))
    .as('looked')
}

/** Conditions that no index answers. */
function matches(selection: AlertSelector): SQL | undefined {
  const { type, group, signal, event, severity, state } = selection
  const { exceptTypes, newestId } = selection
  const ofAll = [
    newestId === undefined ? undefined : lte(alerts.id, newestId),
    type === undefined ? undefined : eq(alerts.type, type),
    exceptTypes && notInArray(alerts.type, [...exceptTypes]),
  ]
  if (selection.incidents) return and(sql`${alerts.opensIncident}`, ...ofAll, hasPart(selection))
  return and(
    ...ofAll,
    group === undefined ? undefined : eq(alerts.group, group),
    signal === undefined ? undefined : eq(alerts.signal, signal),
    event === undefined ? undefined : eq(alerts.event, event),
    severity === undefined ? undefined : eq(alerts.severity, severity),
    state === undefined ? undefined : eq(alerts.state, state),
  )
}

/** Whether an alert of the incident has these properties, and the incident this state. */
function hasPart({ group, signal, event, severity, state }: AlertSelector): SQL | undefined {
  const anyPart = (...conditions: readonly (SQL | undefined)[]) => {
    const all = conditions.filter((condition) => condition !== undefined)
    const part = sql`select from alerts p
      where p.wallet = ${alerts.wallet} and p.incident_id = ${alerts.incidentId}`
    return sql`exists (${sql.join([part, ...all], sql` and `)})`
  }
  const properties = [
    group === undefined ? undefined : sql`p."group" = ${group}`,
    signal === undefined ? undefined : sql`p.signal = ${signal}`,
    event === undefined ? undefined : sql`p.event = ${event}`,
    severity === undefined ? undefined : sql`p.severity = ${severity}`,
  ]
  // An incident is in the state of its alert that is furthest from its end. Alerts that nothing ends count where there
  // are no others.
  const counts = sql`(p.is_episode or not ${anyPart(sql`p.is_episode`)})`
  const before = state === undefined ? [] : STATES_IN_ORDER.slice(0, STATES_IN_ORDER.indexOf(state))
  return and(
    properties.every((property) => property === undefined) ? undefined : anyPart(...properties),
    state === undefined ? undefined : anyPart(sql`p.state = ${state}`, counts),
    ...before.map((earlier) => not(anyPart(sql`p.state = ${earlier}`, counts))),
  )
}
