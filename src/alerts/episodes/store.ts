import { and, gt, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { type Address, JsonObject, storedAddress } from '#src/kernel/units.ts'
import { alerts, type During } from '../tables.ts'
import type { EpisodeEnd, OpenAlert } from './episodes.ts'

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
  /** Planned maintenance in which the alert fired. */
  readonly during?: During
  /** Null if another alert or maintenance holds the alert back. */
  readonly notifiedAt?: Date | null
  readonly mutedAt?: Date | undefined
  /** Set if the episode was escalated before; then the new alert counts as escalated, too. */
  readonly escalatedAt?: Date | undefined
  readonly escalatedTo?: readonly number[]
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
      during = coalesce(r.during, a.during),
      muted_at = coalesce(r."mutedAt", a.muted_at),
      escalated_at = coalesce(r."escalatedAt", a.escalated_at),
      escalated_to = coalesce(r."escalatedTo", a.escalated_to),
      escalate_at = case when r."escalatedAt" is null then a.escalate_at end,
      remind_at = coalesce(r."remindAt", a.remind_at)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id int, "recoveryOf" int,
      "startedAt" timestamptz, "increaseOf" int, "episodeSeverity" text, unnotified boolean, "notifiedAt" timestamptz, during text,
      "mutedAt" timestamptz, "escalatedAt" timestamptz, "escalatedTo" int[], "remindAt" timestamptz)
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
