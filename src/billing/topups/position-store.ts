/** Times of this room that are taken from blocks, and how they are put back if they are ahead. */
import { sql } from 'drizzle-orm'
import { isLater, type LaterRows, stamp, timesOf } from '#src/db/later-times.ts'
import { paymentCursors, topupPayments } from './tables.ts'

export const LATER_ROWS: readonly LaterRows[] = [
  {
    // A payment is not later than the moment at which it was seen.
    table: 'topup_payments',
    putBack: ({ now, latest }) => sql`
      update ${topupPayments} set block_at = least(${topupPayments.seenAt}, ${stamp(now)})
      where ${isLater([topupPayments.blockAt], latest)}`,
  },
  timesOf('payment_cursors', paymentCursors, [paymentCursors.sinceAt]),
]
