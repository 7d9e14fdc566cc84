import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import * as store from './store.ts'

/** Days for which a transaction that was submitted for a top-up is stored if it contains no payment. */
const SUBMISSIONS_KEPT_DAYS = 30
/** Days for which an unpaid quote is stored. A later payment is recorded as unmatched. */
const QUOTES_KEPT_DAYS = 90

/**
 * Deletes submitted transactions without a payment, and unpaid quotes, after their retention. Payments are
 * never deleted.
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
  await store.deleteUnpaidQuotes(db, ago(QUOTES_KEPT_DAYS))
}
