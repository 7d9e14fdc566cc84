import * as alerts from '#src/alerts/service.ts'
import { publishTipAndOutages } from '#src/watches/observe/publish-tip.ts'
import type { Job } from './define.ts'

/** Publishes the newest confirmed block to all processes that observe, and fires alerts about outages of the chain. */
export const readTip: Job = {
  name: 'read-tip',
  role: 'watcher',
  // Processes of earlier releases, which do not know slices, observe all targets under this lock. While one of them
  // holds it, this job does not run, no block is published, and processes of this release observe nothing.
  lock: 'job observe-watches',
  wakeBy: ({ heads }, wake) => heads.follow(wake),
  everyMs: ({ heads }) => heads.nextMs(),
  run: async (app, signal, _notified, fence) => {
    const { number } = await publishTipAndOutages(
      { ...app, fence, recordAlerts: (tx, candidates) => alerts.recordAlerts(app, tx, candidates) },
      signal,
    )
    app.heads.read(number)
  },
}
