import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { storedAddress } from '#src/kernel/units.ts'
import type { EvaluatedWatch, StoredState } from '../model.ts'
import { StoredStates } from '../state-store.ts'
import { NO_SIGNAL } from '../store.ts'

/** A watch whose owner is notified of a chain outage. */
export interface ChainOutageWatch
  extends Pick<
    EvaluatedWatch,
    'id' | 'wallet' | 'label' | 'recipientIds' | 'minSeverity' | 'mutedUntil'
  > {
  /** State after the last notification. */
  readonly state: StoredState | undefined
}

const ChainOutageRow = z.object({
  id: z.int(),
  wallet: z.string().transform(storedAddress),
  label: z.string(),
  recipientIds: z.array(z.int()).nullable(),
  minSeverity: z.enum(SEVERITIES),
  mutedUntil: z.date().nullable(),
  states: StoredStates,
})

const columns = sql`
  w.id, w.wallet, w.label, w.recipient_ids as "recipientIds", w.min_severity as "minSeverity",
  w.muted_until as "mutedUntil",
  case when s.watch_id is null then '[]'::jsonb else jsonb_build_array(jsonb_build_object(
    'signal', s.signal, 'state', s.state, 'phase', s.phase, 'since', s.since, 'streak', s.streak,
    'severity', s.severity, 'lastEvidenceAt', s.last_evidence_at, 'lastFiredAt', s.last_fired_at
  )) end as states`

/** Running watches of a type, with an id above `after`, that were not notified of this severity yet. */
export function listUnnotified(
  db: Db,
  type: string,
  severity: Severity,
  after: number,
  limit: number,
): Promise<ChainOutageWatch[]> {
  const isUnnotified = sql`w.status = 'active' and w.suspended_at is null
    and (s.watch_id is null or s.severity <> ${severity})`
  return list(db, { type, after, limit, condition: isUnnotified })
}

/** Watches of a type, with an id above `after`, that were notified. */
export function listNotified(
  db: Db,
  type: string,
  after: number,
  limit: number,
): Promise<ChainOutageWatch[]> {
  return list(db, { type, after, limit, condition: sql`s.watch_id is not null` })
}

/** Deletes the states of notified watches. */
export async function deleteNotified(db: Db, watchIds: readonly number[]): Promise<void> {
  if (watchIds.length === 0) return
  await db.execute(sql`
    delete from signal_states
    where signal = ${NO_SIGNAL} and watch_id = any(${sql.param([...watchIds])}::int[])`)
}

/** Watches of a type with their states of outages, in the order of their ids. */
async function list(
  db: Db,
  page: {
    readonly type: string
    readonly after: number
    readonly limit: number
    readonly condition: ReturnType<typeof sql>
  },
): Promise<ChainOutageWatch[]> {
  const rows = await db.execute(sql`
    select ${columns} from watches w
      left join signal_states s on s.watch_id = w.id and s.signal = ${NO_SIGNAL}
    where w.type = ${page.type} and w.id > ${page.after} and ${page.condition}
    order by w.id limit ${page.limit}`)
  return rows.map((found) => {
    const { states, ...watch } = ChainOutageRow.parse(found)
    return { ...watch, state: states[0] }
  })
}
