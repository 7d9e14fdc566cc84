import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import * as store from './store.ts'

/** Retention of named transactions without a payment. */
const SUBMISSIONS_KEPT_DAYS = 30
/** Retention of unpaid quotes; a later payment is stored as unmatched. */
const QUOTES_KEPT_DAYS = 90

/**
 * Deletes named transactions and quotes without payments after their retention. Payments are kept forever.
 */
export async function pruneTopups({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): Promise<void> {
  const ago = (days: number) => new Date(clock.now().getTime() - days * DAY_MS)
  await store.deleteSubmissionsBefore(db, ago(SUBMISSIONS_KEPT_DAYS))
  await store.deleteDeadQuotes(db, ago(QUOTES_KEPT_DAYS))
}
