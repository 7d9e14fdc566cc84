import { renewDue } from '#src/billing/subscriptions/renewal.ts'
import type { Job } from './define.ts'

export const renewSubscriptions: Job = {
  name: 'renew-subscriptions',
  role: 'watcher',
  everyMs: () => 30_000,
  run: (app, signal) => renewDue(app, signal),
}
