import {
  and,
  asc,
  count,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  notInArray,
  sql,
} from 'drizzle-orm'
import { ANY_LENGTH, joinedJson } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { withoutSequentialScans } from '#src/db/plans.ts'
import { CANARY_WALLET } from '#src/kernel/canary.ts'
import type { Address } from '#src/kernel/units.ts'
import type { PlacedCandidate } from './incidents/place.ts'
import { hasRecovery } from './rules.ts'
import { alerts, type During, incidentNumbers } from './tables.ts'

export type AlertRow = typeof alerts.$inferSelect

/** An inserted alert's id, with the key that identifies its firing. */
export interface InsertedAlert {
  readonly id: number
  readonly incidentId: number
  readonly key: string
}

/** A candidate with the maintenance in which it fired. */
export type HeldCandidate = PlacedCandidate & { readonly during: During | null }

/** Unique key of an alert: watch, signal, event, position. */
export function alertKey(of: {
  readonly watchId: number
  readonly signal: string | null
  readonly event: string
  readonly position: number
}): string {
  return [of.watchId, of.signal ?? '', of.event, of.position].join(' ')
}

/**
 * Inserts alerts, in one statement; existing alerts (of a replayed observation) are skipped and not
 * returned.
 *
 * @param tx must be a transaction, because the statement switches off table scans for its transaction
 */
export async function insertAlerts(
  tx: Db,
  candidates: readonly HeldCandidate[],
  createdAt: Date,
): Promise<InsertedAlert[]> {
  if (candidates.length === 0) return []
  const column = <T>(read: (candidate: HeldCandidate) => T) => sql.param(candidates.map(read))
  const insert = sql`
    insert into alerts (wallet, watch_id, watch_label, type, signal, "group", event, severity, data,
      position, fired_at, state, recovered_at, is_episode, escalate_at, notified_at, reminders_sent, created_at,
      cooldown_until, incident_id, opens_incident, during)
    select r.wallet, r.watch_id, r.watch_label, r.type, r.signal, r.group, r.event, r.severity,
      r.data, r.position, r.fired_at, case when r.is_recovery then 'recovered' else 'firing' end,
      case when r.is_recovery then r.fired_at end, r.is_episode,
      ${createdAt}::timestamptz + r.escalate_minutes * interval '1 minute', ${createdAt}, 0, ${createdAt},
      r.cooldown_until, r.incident_id, r.opens_incident, r.during
    from rows from (unnest(
      ${column(({ watch }) => watch.wallet)}::text[],
      ${column(({ watch }) => watch.id)}::int[],
      ${column(({ watch }) => watch.label)}::text[],
      ${column(({ type }) => type)}::text[],
      ${column(({ signal }) => signal)}::text[],
      ${column(({ group }) => group)}::text[],
      ${column(({ event }) => event)}::text[],
      ${column(({ severity }) => severity)}::text[],
      string_to_array(${joinedJson(candidates.map(({ data }) => data))}, e'\\x1f')::jsonb[],
      ${column(({ position }) => position)}::bigint[],
      ${column(({ firedAt }) => firedAt)}::timestamptz[],
      ${column(({ isRecovery }) => isRecovery)}::bool[],
      ${column(({ isRecovery, event }) => !isRecovery && hasRecovery(event))}::bool[],
      ${column(escalationMinutes)}::int[],
      ${column(({ cooldownUntil }) => cooldownUntil ?? null)}::timestamptz[],
      ${column(({ incidentId }) => incidentId)}::int[],
      ${column(({ opensIncident }) => opensIncident)}::bool[],
      ${column(({ during }) => during)}::text[]
    ), ${ANY_LENGTH}) as r(wallet, watch_id, watch_label, type, signal, "group", event, severity,
      data, position, fired_at, is_recovery, is_episode, escalate_minutes, cooldown_until,
      incident_id, opens_incident, during, nothing)
    -- What is known is left out before it takes a number: numbers end, and a history may be replayed often.
    left join lateral (
      select true as is_known from alerts a
      where a.watch_id = r.watch_id and coalesce(a.signal, '') = coalesce(r.signal, '')
        and a.event = r.event and a.position = r.position and a.fired_at = r.fired_at
      limit 1
    ) known on true
    where known.is_known is null
    -- Named, so that the other unique index, that of the number, is not searched first.
    on conflict (watch_id, coalesce(signal, ''), event, position, fired_at) do nothing
    returning id, incident_id as "incidentId", watch_id as "watchId", signal, event, position`
  const rows = await withoutSequentialScans(tx, () => tx.execute<InsertedRow>(insert))
  return rows.map(({ id, incidentId, position, ...row }) => ({
    id,
    incidentId,
    key: alertKey({ ...row, position: Number(position) }),
  }))
}

/**
 * Minutes after which an alert is escalated; null if it never is, such as alerts of severity info, and alerts that are
 * never sent because they fired during maintenance and nothing ends them.
 */
function escalationMinutes({
  watch,
  event,
  severity,
  isRecovery,
  during,
}: HeldCandidate): number | null {
  const isNeverSent = during !== null && !hasRecovery(event)
  return isRecovery || isNeverSent || severity === 'info'
    ? null
    : (watch.escalateAfterMinutes ?? null)
}

interface InsertedRow extends Record<string, unknown> {
  readonly id: number
  readonly incidentId: number
  readonly watchId: number
  readonly signal: string | null
  readonly event: string
  /** A bigint is returned as text. */
  readonly position: string
}

/** Position of an alert in a list. */
export type AlertCursor = Pick<AlertRow, 'firedAt' | 'id'>

/** One alert of any wallet. The caller must have verified the right to read it. */
export async function findAlert(db: Db, id: number): Promise<AlertRow | undefined> {
  const [row] = await db.select().from(alerts).where(eq(alerts.id, id))
  return row
}

/** Alerts of any wallet by id; deleted alerts are missing. */
export function listAlertsByIds(db: Db, ids: readonly number[]): Promise<AlertRow[]> {
  return db
    .select()
    .from(alerts)
    .where(sql`${alerts.id} = any(${sql.param([...ids])}::int[])`)
    .orderBy(asc(alerts.id))
}

/** The recovery of each of these alerts, by alert; alerts without a recorded recovery are missing. */
export async function listRecoveries(
  db: Db,
  over: readonly AlertRow[],
): Promise<ReadonlyMap<number, AlertRow>> {
  if (over.length === 0) return new Map()
  const firstOf = ({ increaseOf, id }: AlertRow) => increaseOf ?? id
  const each = <T>(read: (row: AlertRow) => T) => [...new Set(over.map(read))]
  const rows = await db
    .select()
    .from(alerts)
    .where(
      and(
        inArray(
          alerts.wallet,
          each(({ wallet }) => wallet),
        ),
        inArray(
          alerts.watchId,
          each(({ watchId }) => watchId),
        ),
        // A recovery ends the episode at the time at which the recovery fired.
        inArray(
          alerts.firedAt,
          each(({ recoveredAt }) => recoveredAt).filter((at) => at !== null),
        ),
        inArray(alerts.recoveryOf, each(firstOf)),
      ),
    )
  const byFirst = new Map(rows.map((row) => [row.recoveryOf, row]))
  return new Map(
    over.flatMap((row) => {
      const recovery = byFirst.get(firstOf(row))
      return recovery === undefined ? [] : [[row.id, recovery] as const]
    }),
  )
}

/** Notified open alerts of these watches' episodes, oldest first. */
export function listOpenOfWatches(db: Db, watchIds: readonly number[]): Promise<AlertRow[]> {
  return db
    .select()
    .from(alerts)
    .where(
      and(
        sql`${alerts.watchId} = any(${sql.param([...watchIds])}::int[])`,
        sql`${alerts.isEpisode}`,
        isNull(alerts.recoveredAt),
        isNotNull(alerts.notifiedAt),
      ),
    )
    .orderBy(asc(alerts.position), asc(alerts.id))
}

/** Number of alerts of all wallets recorded in a time span. A span without an end lasts until now. */
export async function countAlertsInSpan(
  db: Db,
  since: Date,
  until: Date | undefined,
): Promise<number> {
  const { createdAt } = alerts
  const isWithin = and(
    ne(alerts.wallet, CANARY_WALLET),
    gte(createdAt, since),
    until === undefined ? undefined : lt(createdAt, until),
  )
  const [row] = await db.select({ count: count() }).from(alerts).where(isWithin)
  return row?.count ?? 0
}

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

/** The other account of a transfer that a watch reports. */
interface Counterparty {
  readonly wallet: Address
  readonly watchId: number
  readonly address: string
}

/** Number of the newest alerts of a watch that are searched for an account. */
const RECENT_ALERTS_MAX = 50

/** Whether each of these accounts is in one of the newest alerts of its watch. */
export async function areInRecentAlerts(
  tx: Db,
  counterparties: readonly Counterparty[],
): Promise<readonly boolean[]> {
  // `between` with equal bounds instead of `=`, and the wallet only in the outer query: PostgreSQL then reads the
  // index on watch and time and stops at the limit. With `=` it reads and sorts all alerts of the watch or wallet.
  const rows = await tx.execute<{ readonly wasSeen: boolean }>(sql`
    select exists (
      select from (
        select a.wallet, a.data from alerts a
        where a.watch_id between asked.watch_id and asked.watch_id
        order by a.watch_id desc, a.fired_at desc limit ${RECENT_ALERTS_MAX}
      ) newest
      where newest.wallet = asked.wallet and newest.data ->> 'counterparty' = asked.address
    ) as "wasSeen"
    from unnest(
      ${sql.param(counterparties.map(({ wallet }) => wallet))}::text[],
      ${sql.param(counterparties.map(({ watchId }) => watchId))}::int[],
      ${sql.param(counterparties.map(({ address }) => address))}::text[]
    ) with ordinality as asked (wallet, watch_id, address, place)
    order by asked.place`)
  return rows.map(({ wasSeen }) => wasSeen)
}

/** Deletes every alert of the wallet, and the number of its newest incident. */
export async function deleteAlertsOf(tx: Db, wallet: Address): Promise<void> {
  await tx.delete(alerts).where(eq(alerts.wallet, wallet))
  await tx.delete(incidentNumbers).where(eq(incidentNumbers.wallet, wallet))
}
