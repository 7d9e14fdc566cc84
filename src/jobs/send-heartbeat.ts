import { MINUTE_MS } from '#src/kernel/durations.ts'
import { findProblems } from '#src/kernel/health.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Job } from './define.ts'

/**
 * Calls the operator's monitor once a minute with success or the list of problems. Without a database this job
 * cannot run, and the monitor notices the missing calls.
 */
export const sendHeartbeat: Job = {
  name: 'send-heartbeat',
  role: 'watcher',
  sends: true,
  everyMs: () => MINUTE_MS,
  run: async ({ heartbeat, health, log }, signal) => {
    if (heartbeat === undefined) return
    const call = async (work: Promise<void>) => {
      try {
        await work
      } catch (error) {
        // The next run calls again. The monitor reports calls that are missing.
        log.warn({ problem: loggableError(error) }, 'heartbeat could not be sent')
      }
    }
    // The monitor measures the time from this call to the next, and so notices checks that hang.
    await call(heartbeat.start(signal))
    const found = await findProblems(health)
    const problems = found.map(({ name, problem }) => `${name}: ${problem}`)
    await call(problems.length === 0 ? heartbeat.succeed(signal) : heartbeat.fail(problems, signal))
  },
}
