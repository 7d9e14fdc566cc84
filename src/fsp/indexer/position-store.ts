/** Positions of this room that are taken from blocks, and how they are put back if they are ahead. */
import { sql } from 'drizzle-orm'
import { isLater, type LaterRows, stamp, timesOf } from '#src/db/later-times.ts'
import { fspProgress, fspRounds, voteSignatures } from '../tables.ts'
import { deleteCountedRounds } from './daily-store.ts'

/** Blocks before the last round that is kept in which the rounds that were open then began. */
const BLOCKS_BACK = 400

/** The counts of the reward epoch (`epoch-state.ts`), from the records of the last round that is kept; null without one. */
const EPOCH_COUNTS = sql`
  select jsonb_build_object('rewardEpoch', last.reward_epoch, 'round', last.round,
    'judged', max((p.value #>> '{e,0,2}')::int), 'updates', max((p.value #>> '{e,3,1}')::int),
    'providers', jsonb_object_agg(p.key, jsonb_build_object(
      'anchors', p.value #> '{e,1}', 'fdc', p.value #> '{e,2}', 'updates', p.value #> '{e,3,0}')))
  from (select * from ${fspRounds} order by round desc limit 1) as last,
    jsonb_each(last.providers) as p
  where jsonb_typeof(p.value -> 'e') = 'array'
  group by last.reward_epoch, last.round`

export const LATER_ROWS: readonly LaterRows[] = [
  {
    // Rounds that a block completed before its time. They are judged again.
    table: 'fsp_rounds',
    putBack: ({ latest }) =>
      deleteCountedRounds(isLater([fspRounds.blockAt, fspRounds.startsAt], latest)),
  },
  {
    table: 'fsp_progress',
    putBack: ({ head, latest }) => sql`
      update ${fspProgress} set block_number = kept.block_number, block_hash = kept.block_hash,
        block_at = kept.block_at,
        resume_from = greatest(0, least(${fspProgress.resumeFrom}, kept.block_number - ${BLOCKS_BACK})),
        state = ${fspProgress.state} || jsonb_build_object('readSince', null, 'registrationsSince', null, 'pollsTo', null,
          'recentUpdates', '{}'::jsonb, 'epochCounts', (${EPOCH_COUNTS}))
      from (
        select * from (
          select block_number, block_hash, block_at from ${fspRounds} order by round desc limit 1
        ) as last
        union all select ${head.number}, ${head.hash}, ${stamp(head.at)}
        limit 1
      ) as kept
      where ${isLater([fspProgress.blockAt], latest)}`,
  },
  timesOf('vote_signatures', voteSignatures, [voteSignatures.signedAt]),
]
