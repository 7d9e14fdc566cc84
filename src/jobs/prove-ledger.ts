import { proveNightly } from '#src/billing/account/proof.ts'
import type { Job } from './define.ts'

const TEN_MINUTES_MS = 600_000

/** Proves the ledger if the proof of this night is missing. */
export const proveLedger: Job = {
  name: 'prove-ledger',
  role: 'watcher',
  everyMs: () => TEN_MINUTES_MS,
  needsAgreedClocks: true,
  run: (app, signal) => proveNightly(app, signal),
}
