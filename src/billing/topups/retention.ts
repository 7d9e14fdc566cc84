import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import * as store from './store.ts'

/** How long it is kept what a named transaction came to. */
const SUBMISSIONS_KEPT_DAYS = 30
/** How long a quote that nobody paid is kept; a payment after that is kept as unmatched. */
const QUOTES_KEPT_DAYS = 90

/** Forgets named transactions and quotes that came to nothing long ago. Payments are never forgotten. */
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
