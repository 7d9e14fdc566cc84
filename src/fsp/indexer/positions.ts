import type { Db } from '#src/db/connection.ts'
import { type Present, type PutBack, putBackRows } from '#src/db/later-times.ts'
import { LATER_ROWS } from './position-store.ts'

/** Puts back the times of rounds and votes that are later than the clock. */
export async function putBackPositions(db: Db, present: Present): Promise<readonly PutBack[]> {
  // Sent without waiting for each other: a connection runs them in this order.
  const changed = LATER_ROWS.map((rows) => putBackRows(db, rows, present))
  return (await Promise.all(changed)).filter(({ rows }) => rows > 0)
}
