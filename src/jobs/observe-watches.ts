import * as alerts from '#src/alerts/service.ts'
import { observeWatches as observe } from '#src/watches/observe/observe.ts'
import type { Job } from './define.ts'

export const observeWatches: Job = {
  name: 'observe-watches',
  role: 'watcher',
  everyMs: ({ evaluationIntervalMs }) => evaluationIntervalMs,
  run: (app, signal, _notified, fence) =>
    observe({ ...app, fence, raise: (tx, raised) => alerts.raise(app, tx, raised) }, signal),
}
