import * as alerts from '#src/alerts/service.ts'
import { observeSlices } from '#src/watches/observe/observe.ts'
import type { Job } from './define.ts'

/** Observes and judges the targets in the slices of this process, up to the block that `read-tip` published. */
export const observeWatches: Job = {
  name: 'observe-watches',
  role: 'watcher',
  everywhere: true,
  wakeOn: 'blocks',
  everyMs: ({ evaluationIntervalMs }) => evaluationIntervalMs,
  run: (app, signal) =>
    observeSlices(
      { ...app, recordAlerts: (tx, candidates) => alerts.recordAlerts(app, tx, candidates) },
      signal,
    ),
}
