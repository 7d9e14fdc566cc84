import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { type Address, Instant, JsonObject, storedAddress } from '#src/kernel/units.ts'
import type { EpisodeEnd, OpenAlert } from './episodes.ts'
import { alerts } from './tables.ts'

/** A signal of a watch; the name is null for alerts that no signal raised. */
export interface SignalKey {
  readonly watchId: number
  readonly signal: string | null
}

/** Open alerts of these wallets' episodes, oldest first. */
export async function listOpenAlerts(db: Db, wallets: readonly Address[]): Promise<OpenAlert[]> {
  const rows = await db
    .select()
    .from(alerts)
    .where(
      and(
        sql`${alerts.wallet} = any(${sql.param([...wallets])}::text[])`,
        sql`${alerts.isEpisode}`,
        isNull(alerts.recoveredAt),
      ),
    )
    .orderBy(alerts.position, alerts.id)
  return rows.map((row) => ({
    ...row,
    wallet: storedAddress(row.wallet),
    // A row that cannot be parsed must not prevent others from changing.
    severity: z.enum(SEVERITIES).catch('warning').parse(row.severity),
    data: JsonObject.catch({}).parse(row.data),
  }))
}

/** Wallets above `after` with inhibited open alerts, in order. */
export async function listWalletsWithInhibited(
  db: Db,
  after: string,
  limit: number,
): Promise<Address[]> {
  const rows = await db
    .selectDistinct({ wallet: alerts.wallet })
    .from(alerts)
    .where(and(gt(alerts.wallet, after), isNull(alerts.notifiedAt), isNull(alerts.recoveredAt)))
    .orderBy(alerts.wallet)
    .limit(limit)
  return rows.map(({ wallet }) => storedAddress(wallet))
}

/** Records the ends of episodes, and ends the reminders of their alerts. */
export async function endEpisodes(db: Db, ends: readonly EpisodeEnd[]): Promise<void> {
  const rows = ends.flatMap(({ alertIds, at }) =>
    alertIds.map((id) => ({ id, at: at.toISOString() })),
  )
  if (rows.length === 0) return
  await db.execute(sql`
    update alerts a set state = 'recovered', recovered_at = r.at,
      remind_at = null
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id int, at timestamptz)
    where a.id = r.id and a.recovered_at is null`)
}

/** Columns of a new alert that depend on its episode. Omitted values stay unchanged. */
export interface EpisodeColumns {
  readonly id: number
  readonly recoveryOf?: number
  readonly startedAt?: Date
  readonly increaseOf?: number
  readonly episodeSeverity?: Severity
  /** Null if another alert inhibits the alert. */
  readonly notifiedAt?: Date | null
  readonly mutedAt?: Date | undefined
  /** Set if the episode was escalated before; then the new alert counts as escalated, too. */
  readonly escalatedAt?: Date | undefined
  readonly escalatedTo?: readonly number[]
  readonly flappingAlertId?: number | undefined
  readonly remindAt?: Date | undefined
}

/** Writes the columns of new alerts, in one statement. */
export async function saveEpisodeColumns(db: Db, marks: readonly EpisodeColumns[]): Promise<void> {
  if (marks.length === 0) return
  const rows = marks.map(({ notifiedAt, ...mark }) => ({
    ...mark,
    notifiedAt,
    unnotified: notifiedAt === null,
  }))
  await db.execute(sql`
    update alerts a set
      recovery_of = coalesce(r."recoveryOf", a.recovery_of),
      started_at = coalesce(r."startedAt", a.started_at),
      increase_of = coalesce(r."increaseOf", a.increase_of),
      episode_severity = coalesce(r."episodeSeverity", a.episode_severity),
      notified_at = case when r.unnotified then null else coalesce(r."notifiedAt", a.notified_at) end,
      muted_at = coalesce(r."mutedAt", a.muted_at),
      escalated_at = coalesce(r."escalatedAt", a.escalated_at),
      escalated_to = coalesce(r."escalatedTo", a.escalated_to),
      escalate_at = case when r."escalatedAt" is null then a.escalate_at end,
      flapping_alert_id = coalesce(r."flappingAlertId", a.flapping_alert_id),
      remind_at = coalesce(r."remindAt", a.remind_at)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id int, "recoveryOf" int,
      "startedAt" timestamptz, "increaseOf" int, "episodeSeverity" text, unnotified boolean, "notifiedAt" timestamptz,
      "mutedAt" timestamptz, "escalatedAt" timestamptz, "escalatedTo" int[], "flappingAlertId" int,
      "remindAt" timestamptz)
    where a.id = r.id`)
}

/**
 * Marks inhibited alerts as notified.
 * @returns the ids that no concurrent call has marked
 */
export async function markUninhibited(
  db: Db,
  rows: readonly {
    readonly id: number
    readonly notifiedAt: Date
    readonly remindAt: Date | undefined
  }[],
): Promise<number[]> {
  if (rows.length === 0) return []
  const marked = await db.execute<{ id: number }>(sql`
    update alerts a set notified_at = r."notifiedAt", remind_at = r."remindAt"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id int, "notifiedAt" timestamptz,
      "remindAt" timestamptz)
    where a.id = r.id and a.notified_at is null and a.recovered_at is null
    returning a.id`)
  return marked.map(({ id }) => id)
}

/** Number of changes of a signal. */
export interface SignalChanges extends SignalKey {
  readonly changes: number
  /** Time of the first change. */
  readonly since: Date
}

/**
 * Counts the firings and recoveries of each of these signals after an instant; severity increases do not
 * count.
 */
export async function countSignalChanges(
  db: Db,
  keys: readonly (SignalKey & { readonly after: Date })[],
): Promise<readonly SignalChanges[]> {
  const rows = keys.map(({ watchId, signal, after }) => ({ watchId, signal: signal ?? '', after }))
  return await db.execute<SignalChanges & Record<string, unknown>>(sql`
    select a.watch_id as "watchId", a.signal, min(a.fired_at) as since,
      sum(case when a.is_episode then 1 + (a.recovered_at is not null)::int
        when a.started_at <= k.after then 1 else 0 end)::int as changes
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as k("watchId" int, signal text,
      after timestamptz)
    join alerts a on a.watch_id = k."watchId" and coalesce(a.signal, '') = k.signal
      and a.fired_at > k.after and a.increase_of is null
    group by a.watch_id, a.signal`)
}

/** State of a flapping signal from the time at which its message shows the changes. */
export const FlappingState = z.object({
  changes: z.int(),
  since: Instant,
  /** Null while the signal fires. */
  recoveredAt: Instant.nullable(),
})
export type FlappingState = z.output<typeof FlappingState>

/**
 * Finds for each flapping signal the alert whose message shows its changes: the alert that already shows
 * changes, or else the newest after an instant. The given alerts are excluded.
 */
export async function findFlappingAnchors(
  db: Db,
  keys: readonly (SignalKey & { readonly after: Date })[],
  without: readonly number[],
): Promise<
  readonly (SignalKey & { readonly id: number; readonly flapping: FlappingState | null })[]
> {
  const rows = keys.map(({ watchId, signal, after }) => ({
    watchId,
    signal: signal ?? '',
    after: after.toISOString(),
  }))
  const anchors = await db.execute<{
    id: number
    watchId: number
    signal: string | null
    flapping: unknown
  }>(sql`
    select b.id, b.watch_id as "watchId", b.signal, b.flapping
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as k("watchId" int, signal text, after timestamptz)
    cross join lateral (
      select coalesce(a.flapping_alert_id, a.id) as id from alerts a
      where a.watch_id = k."watchId" and a.fired_at > k.after
        and coalesce(a.signal, '') = k.signal and a.is_episode and a.notified_at is not null
        and a.id <> all(${sql.param([...without])}::int[])
      order by a.position desc, a.id desc limit 1
    ) newest
    join alerts b on b.id = newest.id`)
  return anchors.map((row) => ({
    ...row,
    flapping: FlappingState.nullable().catch(null).parse(row.flapping),
  }))
}

/** Stores the flapping state that a message shows. */
export async function saveFlapping(db: Db, id: number, flapping: FlappingState): Promise<void> {
  await db
    .update(alerts)
    .set({ flapping: z.encode(FlappingState, flapping) })
    .where(eq(alerts.id, id))
}

/** Records in the flapping state of a message that the signal has recovered. */
export async function markSettled(db: Db, id: number, recoveredAt: Date): Promise<void> {
  const at = sql`to_jsonb(${recoveredAt.toISOString()}::text)`
  await db
    .update(alerts)
    .set({ flapping: sql`jsonb_set(${alerts.flapping}, '{recoveredAt}', ${at})` })
    .where(and(eq(alerts.id, id), sql`${alerts.flapping} is not null`))
}
