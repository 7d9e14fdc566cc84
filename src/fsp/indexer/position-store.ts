/** Positions of this room that are taken from blocks, and how they are put back if they are ahead. */
import { sql } from 'drizzle-orm'
import { isLater, type LaterRows, stamp, timesOf } from '#src/db/later-times.ts'
import { fspProgress, fspRounds, voteSignatures } from '../tables.ts'
import { deleteCountedRounds } from './daily-store.ts'

/** Blocks before the last round that is kept in which the rounds that were open then began. */
const BLOCKS_BACK = 400

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
        state = ${fspProgress.state} || jsonb_build_object('readSince', null, 'registrationsSince', null, 'pollsTo', null)
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
