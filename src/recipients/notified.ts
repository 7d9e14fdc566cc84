/** Which of a wallet's recipients the alerts of its watches reach. */
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { highestSeverity } from '#src/watches/evaluate/usual-severity.ts'
import type { UnaddressedWatch, Watch, WatchWarning } from '#src/watches/model.ts'
import { notifiedRecipients } from './rules.ts'
import * as store from './store.ts'

/**
 * Reads the recipients of a wallet, and returns a function that adds them to its watches: `notifies` and `warnings`.
 * It is one statement, however many watches there are.
 */
export async function readNotified(
  { db }: { readonly db: Db },
  { wallet }: Caller,
): Promise<(watch: UnaddressedWatch) => Watch> {
  const candidates = await store.listSettledCandidates(db, wallet)
  return (watch) => {
    const severity = highestSeverity(watch)
    const notifies =
      severity === undefined ? [] : notifiedRecipients(candidates, { ...watch, severity })
    return { ...watch, notifies, warnings: warningsOf(watch, notifies) }
  }
}

function warningsOf(
  { escalateAfterMinutes, escalateTo }: UnaddressedWatch,
  notifies: readonly number[],
): WatchWarning[] {
  const isEscalated = escalateAfterMinutes !== null && escalateTo.length > 0
  const isHeard = isEscalated && escalateTo.every((id) => notifies.includes(id))
  return [
    ...(notifies.length === 0 ? (['nobody_is_notified'] as const) : []),
    ...(isHeard ? (['escalation_is_heard_already'] as const) : []),
  ]
}
