import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { arrayLiteral, joinedJson } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { memoized } from '#src/kernel/memoized.ts'
import { storedAddress } from '#src/kernel/units.ts'
import { type EvaluatedWatch, SignalChoices, type StoredState } from './model.ts'
import { type signalStates, watches } from './tables.ts'

/** Columns of a watch that an evaluation needs. */
type WatchColumns = Pick<
  typeof watches.$inferSelect,
  | 'id'
  | 'targetId'
  | 'wallet'
  | 'label'
  | 'settings'
  | 'signals'
  | 'recipientIds'
  | 'minSeverity'
  | 'cooldownSeconds'
  | 'escalateAfterMinutes'
  | 'escalateTo'
  | 'mutedUntil'
> &
  Record<string, unknown>

const Phase = z.enum(['unknown', 'ok', 'pending', 'firing'])
const Worst = z.enum(SEVERITIES).nullable()
/** Schema of states as the queries return them. */
export const StoredStates = z.array(
  z.object({
    signal: z.string(),
    state: z.unknown(),
    phase: Phase,
    since: z.coerce.date(),
    streak: z.int().nullable(),
    severity: Worst,
    lastEvidenceAt: z.coerce.date(),
    lastFiredAt: z.coerce.date().nullable(),
    changes: z.array(z.coerce.date()),
    cooldownUntil: z.coerce.date().nullable(),
  }),
)

/** A watch with the target whose observations it is judged by. */
export type WatchOfTarget = EvaluatedWatch & { readonly targetId: number }

/** Start of a page: the watches of this target with a higher id than `after`, then those of the next targets. */
export interface TargetPage {
  readonly targetId: number
  readonly after: number
}

/** Watches, and the start of the page behind them; undefined if there are no more. */
export interface WatchPage {
  readonly watches: readonly WatchOfTarget[]
  readonly next: readonly TargetPage[] | undefined
}

/**
 * Watches on targets that are neither paused nor suspended, with their states, target by target in the given order,
 * each ordered by id. Rows that cannot be parsed are omitted.
 *
 * @param onUnreadable called with each omitted row
 */
export async function listEvaluatedWatches(
  db: Db,
  from: readonly TargetPage[],
  limit: number,
  onUnreadable: (watch: Pick<WatchOfTarget, 'id' | 'targetId'>, error: unknown) => void,
): Promise<WatchPage> {
  const column = (read: (page: TargetPage) => number) => sql.param(from.map(read))
  const rows = await db.execute<WatchColumns>(sql`
    select w.* from unnest(
        ${column(({ targetId }) => targetId)}::int[], ${column(({ after }) => after)}::int[]
      ) with ordinality as page(target_id, after, place)
      cross join lateral (
        select ${columns} from watches
        where target_id = page.target_id and id > page.after and ${isJudged()}
        order by id limit ${limit}
      ) w
    order by page.place, w.id limit ${limit}`)
  const last = rows.at(-1)
  const place = from.findIndex(({ targetId }) => targetId === last?.targetId)
  const isLast = last === undefined || rows.length < limit
  return {
    watches: await withStates(db, rows, onUnreadable),
    next: isLast
      ? undefined
      : [{ targetId: last.targetId, after: last.id }, ...from.slice(place + 1)],
  }
}

// Plain SQL: a move of a feed reads every watch on the feed, and mapping rows with Drizzle takes longer
// than reading them.
const columns = sql`
  id, target_id as "targetId", wallet, label, settings, signals, recipient_ids as "recipientIds",
  min_severity as "minSeverity", cooldown_seconds as "cooldownSeconds",
  escalate_after_minutes as "escalateAfterMinutes", escalate_to as "escalateTo",
  muted_until as "mutedUntil"`

async function withStates(
  db: Db,
  rows: readonly WatchColumns[],
  onUnreadable: (watch: Pick<WatchOfTarget, 'id' | 'targetId'>, error: unknown) => void,
): Promise<WatchOfTarget[]> {
  const states = await listStates(
    db,
    rows.map(({ id }) => id),
  )
  return rows.flatMap((row) => {
    try {
      return [
        {
          ...row,
          wallet: storedAddress(row.wallet),
          signals: SignalChoices.parse(row.signals),
          minSeverity: z.enum(SEVERITIES).parse(row.minSeverity),
          states: (states.get(row.id) ?? []).map(toState),
        },
      ]
    } catch (error) {
      onUnreadable(row, error)
      return []
    }
  })
}

/**
 * The states of watches, by watch. Uses a separate query, because building JSON for each watch is slower.
 */
async function listStates(
  db: Db,
  watchIds: readonly number[],
): Promise<ReadonlyMap<number, StateRow[]>> {
  if (watchIds.length === 0) return new Map()
  const rows = await db.execute<StateRow & { watchId: number }>(sql`
    select watch_id as "watchId", signal, state::text as text, phase, since, streak, severity,
      last_evidence_at as "lastEvidenceAt", last_fired_at as "lastFiredAt", changes,
      cooldown_until as "cooldownUntil"
    from signal_states where watch_id = any(${sql.param([...watchIds])}::int[])`)
  const states = new Map<number, StateRow[]>()
  for (const { watchId, ...row } of rows) {
    const others = states.get(watchId)
    if (others === undefined) states.set(watchId, [row])
    else others.push(row)
  }
  return states
}

/** State of a signal with an open episode, encoded. */
export interface FiringState {
  readonly watchId: number
  readonly signal: string
  readonly state: unknown
}

/** The states of the signals of these watches that fire. */
export async function listFiringStates(
  db: Db,
  watchIds: readonly number[],
): Promise<readonly FiringState[]> {
  const states = await listStates(db, watchIds)
  return [...states].flatMap(([watchId, rows]) =>
    rows
      .filter(({ phase }) => phase === 'firing')
      .map(({ signal, text }) => ({ watchId, signal, state: stateOf(text) })),
  )
}

type StateRow = Omit<typeof signalStates.$inferSelect, 'watchId' | 'state'> & {
  readonly text: string
}

/** Maximum number of different states that are parsed once. Most watches on a target have the same ones. */
const REMEMBERED_STATES = 2000
const stateOf = memoized(REMEMBERED_STATES, (text): unknown => JSON.parse(text))

function toState({ text, ...row }: StateRow): StoredState {
  const phase = Phase.parse(row.phase)
  return { ...row, state: stateOf(text), phase, severity: Worst.parse(row.severity) }
}

/** Writes states after an evaluation, in one statement. Watches deleted meanwhile are skipped. */
export async function saveStates(
  db: Db,
  rows: readonly { readonly watchId: number; readonly state: StoredState }[],
): Promise<void> {
  if (rows.length === 0) return
  const column = <T>(read: (state: StoredState) => T) =>
    sql.param(rows.map((row) => read(row.state)))
  await db.execute(sql`
    insert into signal_states (watch_id, signal, state, phase, since, streak, severity,
      last_evidence_at, last_fired_at, changes, cooldown_until)
    select r.watch_id, r.signal, r.state, r.phase, r.since, r.streak, r.severity, r.last_evidence_at,
      r.last_fired_at, r.changes::timestamptz[], r.cooldown_until
    from unnest(
      ${sql.param(rows.map(({ watchId }) => watchId))}::int[],
      ${column(({ signal }) => signal)}::text[],
      string_to_array(${joinedJson(rows.map(({ state }) => state.state))}, e'\\x1f')::jsonb[],
      ${column(({ phase }) => phase)}::text[],
      ${column(({ since }) => since)}::timestamptz[],
      ${column(({ streak }) => streak)}::int[],
      ${column(({ severity }) => severity)}::text[],
      ${column(({ lastEvidenceAt }) => lastEvidenceAt)}::timestamptz[],
      ${column(({ lastFiredAt }) => lastFiredAt)}::timestamptz[],
      ${column(({ changes }) => arrayLiteral(changes))}::text[],
      ${column(({ cooldownUntil }) => cooldownUntil)}::timestamptz[]
    ) as r(watch_id, signal, state, phase, since, streak, severity, last_evidence_at, last_fired_at, changes,
      cooldown_until)
    -- One look into the index for each; a join may be planned as a scan of all watches.
    cross join lateral (select from watches w where w.id = r.watch_id limit 1) w
    on conflict (watch_id, signal) do update set state = excluded.state, phase = excluded.phase,
      since = excluded.since, streak = excluded.streak, severity = excluded.severity,
      last_evidence_at = excluded.last_evidence_at, last_fired_at = excluded.last_fired_at,
      changes = excluded.changes, cooldown_until = excluded.cooldown_until`)
}

/** Condition: the watch is neither paused nor suspended. */
export function isJudged() {
  return and(eq(watches.status, 'active'), isNull(watches.suspendedAt))
}
