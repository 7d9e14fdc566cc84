import * as topups from '#src/billing/topups/positions.ts'
import { BLOCK_AHEAD_MS_MAX } from '#src/chain/blocks/block-header.ts'
import { putBackRows } from '#src/db/later-times.ts'
import { transactUnder } from '#src/db/leases.ts'
import * as rounds from '#src/fsp/indexer/positions.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import * as watches from '#src/watches/positions.ts'
import type { Job } from './define.ts'

/** Blocks by which a position may be ahead of the newest block of the endpoint that answers. */
const BLOCKS_AHEAD_MAX = 1000
/** The highest number that the database stores. */
const BLOCK_NUMBER_MAX = 2 ** 31 - 1
const LATER_ROWS = [...watches.LATER_ROWS, ...rounds.LATER_ROWS, ...topups.LATER_ROWS]

/**
 * Puts stored positions back that are later than the clock: whoever continues from one would wait until the clock
 * reaches it. The newest block proves that the clock is not merely behind, because no block is believed that is
 * ahead of it.
 */
export const putBackPositions: Job = {
  name: 'put-back-positions',
  role: 'watcher',
  everyMs: () => HOUR_MS,
  run: async ({ db, chain, clock, log, confirmations }, signal, _, fence) => {
    const head = await chain.confirmedBlock(confirmations, signal)
    const changed = await transactUnder(fence, db, async (tx) => {
      // Read after the wait for a connection, in which others may have gone on.
      const now = clock.now()
      const latest = new Date(now.getTime() + BLOCK_AHEAD_MS_MAX)
      const isRecent = now.getTime() - head.at.getTime() <= BLOCK_AHEAD_MS_MAX
      // An endpoint that is still behind says nothing about how far the chain is.
      const highest = isRecent ? head.number + BLOCKS_AHEAD_MAX : BLOCK_NUMBER_MAX
      const present = { now, latest, head, highest }
      return putBackRows(tx, LATER_ROWS, present)
    })
    for (const { table, rows } of changed) {
      log.error({ table, rows }, 'stored positions were later than the clock and are put back')
    }
  },
}
