/** Positions of this room that are taken from blocks, and how they are put back if they are ahead. */
import { sql } from 'drizzle-orm'
import { isLater, type LaterRows, rowsOf, stamp } from '#src/db/later-times.ts'
import {
  feedPoints,
  observationCursors,
  publishedBlocks,
  signalStates,
  sliceCursors,
  targets,
} from './tables.ts'
import { CHAIN_WATCH_TYPES } from './types/index.ts'

/** Types whose positions are block numbers. */
const CHAIN_TYPES = sql`${sql.param(CHAIN_WATCH_TYPES.map(({ name }) => name))}::text[]`

/**
 * A cursor goes to the newest block. Its targets keep what was observed of them, so that no change since then is
 * missed.
 */
function cursorsOf(
  name: string,
  table: typeof observationCursors | typeof sliceCursors,
): LaterRows {
  const { blockNumber, blockAt } = table
  return {
    table: name,
    putBack: ({ head, latest, highest }) => sql`
      update ${table} set block_number = least(${blockNumber}, ${head.number}), block_at = ${stamp(head.at)}
      where ${isLater([blockAt], latest)} or ${blockNumber} > ${highest}`,
  }
}

export const LATER_ROWS: readonly LaterRows[] = [
  cursorsOf('observation_cursors', observationCursors),
  cursorsOf('slice_cursors', sliceCursors),
  {
    table: 'published_blocks',
    putBack: ({ head, latest, highest }) => sql`
      update ${publishedBlocks} set block_number = ${head.number}, block_hash = ${head.hash},
        block_at = ${stamp(head.at)}
      where ${isLater([publishedBlocks.blockAt], latest)} or ${publishedBlocks.blockNumber} > ${highest}`,
  },
  {
    table: 'targets',
    putBack: ({ now, latest, head, highest }) => sql`
      update ${targets} set observed_at = ${stamp(now)}, summary = null, must_judge = true,
        observation = observation || jsonb_build_object('at', ${now.toISOString()}::text,
          'position', case when (observation ->> 'position')::numeric > ${highest} and type = any(${CHAIN_TYPES})
            then to_jsonb(${head.number}::int) else observation -> 'position' end)
      where ${isLater([targets.observedAt], latest)} and jsonb_typeof(observation) = 'object'`,
  },
  {
    // Without the times of its alerts no cooldown withholds the next one.
    table: 'signal_states',
    putBack: ({ now, latest }) => sql`
      update ${signalStates} set since = least(${signalStates.since}, ${stamp(now)}),
        last_evidence_at = least(${signalStates.lastEvidenceAt}, ${stamp(now)}),
        last_fired_at = case when ${isLater([signalStates.lastFiredAt], latest)} then null else ${signalStates.lastFiredAt} end,
        changes = case when ${stamp(latest)} < any(${signalStates.changes}) then '{}' else ${signalStates.changes} end,
        cooldown_until = case when ${isLater([signalStates.lastFiredAt], latest)} then null else ${signalStates.cooldownUntil} end,
        state = case when jsonb_typeof(${signalStates.state}) = 'object' then (
          select jsonb_object_agg(key, case
            when jsonb_typeof(value) = 'string' and value #>> '{}' ~ '^\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z$'
              and (value #>> '{}')::timestamptz > ${stamp(latest)}
            then to_jsonb(${now.toISOString()}::text) else value end)
          from jsonb_each(${signalStates.state})) else ${signalStates.state} end
      where ${isLater([signalStates.since, signalStates.lastEvidenceAt, signalStates.lastFiredAt], latest)}`,
  },
  rowsOf('feed_points', feedPoints, feedPoints.at),
]
