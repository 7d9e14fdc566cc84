import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { storedAddress } from '#src/kernel/units.ts'
import type { EvaluatedWatch, StoredState } from '../model.ts'
import { StoredStates } from '../state-store.ts'
import { OUTAGE_STATE_KEY } from '../store.ts'

/** A watch whose owner is notified that it has no data. */
export interface OutageWatch
  extends Pick<
    EvaluatedWatch,
    'id' | 'wallet' | 'label' | 'recipientIds' | 'minSeverity' | 'mutedUntil'
  > {
  /** State after the last notification, or since the watch itself cannot be judged. */
  readonly state: StoredState | undefined
  /** Time since which its own target could not be read. */
  readonly noDataSince: Date | null
}

/** Watches in the order of their ids; watches that cannot be parsed are left out. */
export interface OutageWatchPage {
  readonly watches: readonly OutageWatch[]
  /** The last id, also of a watch that was left out; undefined on an empty page. */
  readonly lastId: number | undefined
}

/** Called with each watch, or state of a watch, that cannot be parsed. */
type OnUnreadable = (watchId: number, error: unknown) => void

/** Type and start of a page of watches. */
interface OutagePageRequest {
  readonly type: string
  /** The page begins after this id. */
  readonly after: number
  readonly limit: number
  readonly onUnreadable: OnUnreadable
}

const OutageWatchRow = z.object({
  id: z.int(),
  wallet: z.string().transform(storedAddress),
  label: z.string(),
  recipientIds: z.array(z.int()).nullable(),
  minSeverity: z.enum(SEVERITIES),
  mutedUntil: z.date().nullable(),
  noDataSince: z.date().nullable(),
})

/**
 * Columns of a watch `w`, of its target `t` and of `s`, the state of its outage signal: at most one state, in an array for
 * `StoredStates`.
 */
const WATCH_WITH_STATE = sql`
  w.id, w.wallet, w.label, w.recipient_ids as "recipientIds", w.min_severity as "minSeverity",
  w.muted_until as "mutedUntil", t.no_data_since as "noDataSince",
  case when s.watch_id is null then '[]'::jsonb else jsonb_build_array(jsonb_build_object(
    'signal', s.signal, 'state', s.state, 'phase', s.phase, 'since', s.since, 'streak', s.streak,
    'severity', s.severity, 'lastEvidenceAt', s.last_evidence_at, 'lastFiredAt', s.last_fired_at,
    'changes', s.changes, 'cooldownUntil', s.cooldown_until
  )) end as states`

/** Types of which a watch was notified or cannot be judged, or a target has no data. */
export async function listConcernedTypes(db: Db): Promise<ReadonlySet<string>> {
  const rows = await db.execute<{ type: string }>(sql`
    select w.type from signal_states s join watches w on w.id = s.watch_id
    where s.signal = ${sql.raw(`'${OUTAGE_STATE_KEY}'`)}
    union select type from targets where no_data_since is not null`)
  return new Set(rows.map(({ type }) => type))
}

const isRunning = sql`w.status = 'active' and w.suspended_at is null`
/** See `unjudged-store.ts`. */
const isUnjudged = sql`(s.phase = 'unknown')`

/** Running watches of a type whose owners were not notified of this severity yet. */
export function listUnnotifiedWatches(
  db: Db,
  severity: Severity,
  page: OutagePageRequest,
): Promise<OutageWatchPage> {
  return list(db, sql`${isRunning} and s.severity is distinct from ${severity}`, page)
}

/**
 * Running watches of a type that themselves, or whose own targets, have had no data since `before`, and whose owners were
 * not notified yet.
 */
export function listWatchesWithoutData(
  db: Db,
  before: Date,
  page: OutagePageRequest,
): Promise<OutageWatchPage> {
  const isWithout = sql`(t.no_data_since <= ${before} or (${isUnjudged} and s.since <= ${before}))`
  return list(db, sql`${isRunning} and s.severity is null and ${isWithout}`, page)
}

/**
 * Watches of a type with a state of an outage, which are judged again and whose own targets have data. The state of an
 * outage of which the owner was not notified has no severity.
 */
export function listWatchesWithDataAgain(
  db: Db,
  page: OutagePageRequest,
): Promise<OutageWatchPage> {
  return list(
    db,
    sql`s.watch_id is not null and t.no_data_since is null and not ${isUnjudged}`,
    page,
  )
}

/** Deletes the states of the outage of these watches. */
export async function deleteStates(db: Db, watchIds: readonly number[]): Promise<void> {
  if (watchIds.length === 0) return
  await db.execute(sql`
    delete from signal_states
    where signal = ${OUTAGE_STATE_KEY} and watch_id = any(${sql.param([...watchIds])}::int[])`)
}

/** Watches of a type with their targets and their states of outages. */
async function list(
  db: Db,
  condition: SQL,
  { type, after, limit, onUnreadable }: OutagePageRequest,
): Promise<OutageWatchPage> {
  const rows = await db.execute<{ id: number; states: unknown }>(sql`
    select ${WATCH_WITH_STATE} from watches w join targets t on t.id = w.target_id
      left join signal_states s on s.watch_id = w.id and s.signal = ${OUTAGE_STATE_KEY}
    where w.type = ${type} and w.id > ${after} and ${condition}
    order by w.id limit ${limit}`)
  const watches = rows.flatMap((row) => {
    const watch = OutageWatchRow.safeParse(row)
    if (!watch.success) {
      onUnreadable(row.id, watch.error)
      return []
    }
    // A state that cannot be parsed counts as missing; the next notification replaces it.
    const states = StoredStates.safeParse(row.states)
    if (!states.success) onUnreadable(row.id, states.error)
    return [{ ...watch.data, state: states.data?.[0] }]
  })
  return { watches, lastId: rows.at(-1)?.id }
}
