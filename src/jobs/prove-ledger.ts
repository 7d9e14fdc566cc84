import { proveNightly } from '#src/billing/account/proof.ts'
import type { Job } from './define.ts'

const TEN_MINUTES_MS = 600_000

/** Looks whether tonight's proof has been made. */
export const proveLedger: Job = {
  name: 'prove-ledger',
  role: 'watcher',
  everyMs: () => TEN_MINUTES_MS,
  run: (app, signal) => proveNightly(app, signal),
}
