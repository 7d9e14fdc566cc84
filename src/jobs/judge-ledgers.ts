import * as alerts from '#src/alerts/service.ts'
import { judgeLedgers as judge } from '#src/watches/evaluate/judge-ledgers.ts'
import type { Job } from './define.ts'

/**
 * Every metered call wakes this job in every process. Without a gap between runs, each further process would add
 * as many runs as there are calls.
 */
const GAP_MS = 200

/**
 * Judges ledger entries of the wallets in the slices of this process. Every ledger entry wakes the job with its
 * wallet as payload. The interval of a minute is for missed wake-ups.
 */
export const judgeLedgers: Job = {
  name: 'judge-ledgers',
  role: 'watcher',
  everywhere: true,
  wakeOn: 'ledger',
  gapMs: GAP_MS,
  everyMs: () => 60_000,
  run: (app, signal, { payloads: wallets, mayHaveMissed }) =>
    judge(
      {
        ...app,
        slices: app.slices.hold(),
        recordAlerts: (tx, candidates) => alerts.recordAlerts(app, tx, candidates),
      },
      mayHaveMissed ? undefined : wallets,
      signal,
    ),
}
