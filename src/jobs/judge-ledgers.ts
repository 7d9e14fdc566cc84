import * as alerts from '#src/alerts/service.ts'
import { judgeLedgers as judge } from '#src/watches/evaluate/ledger.ts'
import type { Job } from './define.ts'

/**
 * Every process hears of every metered call, so that runs without a gap would cost more with each process.
 */
const GAP_MS = 200

/**
 * Judges ledger entries of the wallets in the slices of this process. Woken by every ledger entry with the wallet; the interval of a minute is for
 * missed wake-ups.
 */
export const judgeLedgers: Job = {
  name: 'judge-ledgers',
  role: 'watcher',
  everywhere: true,
  wakeOn: 'ledger',
  gapMs: GAP_MS,
  everyMs: () => 60_000,
  run: (app, signal, { payloads: wallets, mayMiss }) =>
    judge(
      {
        ...app,
        slices: app.slices.hold(),
        recordAlerts: (tx, candidates) => alerts.recordAlerts(app, tx, candidates),
      },
      mayMiss ? undefined : wallets,
      signal,
    ),
}
