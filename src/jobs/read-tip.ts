import * as alerts from '#src/alerts/service.ts'
import { publishTipAndOutages } from '#src/watches/observe/publish-tip.ts'
import type { Job } from './define.ts'

/** Publishes the newest confirmed block to all processes that observe, and fires alerts about outages of the chain. */
export const readTip: Job = {
  name: 'read-tip',
  role: 'watcher',
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
