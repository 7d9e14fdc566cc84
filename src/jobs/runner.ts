import { setTimeout as wait } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { listen } from '#src/db/listen.ts'
import { whileHolding } from '#src/db/lock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Job, JobApp } from './define.ts'

/** Jobs at work. */
export interface RunningJobs {
  /** Lets runs in hand come to their end, then starts no more. */
  stop(): Promise<void>
}

/** Longest wait after failures in a row, in milliseconds. */
const BACKOFF_MS_MAX = 30_000

/**
 * Starts jobs: each runs, waits its time or to be woken, and runs again; never two runs at once.
 *
 * A failing run is logged and tried again, after longer and longer waits while it keeps failing.
 */
export async function startJobs(app: JobApp, sql: Sql, jobs: readonly Job[]): Promise<RunningJobs> {
  const stop = new AbortController()
  const started = await Promise.all(jobs.map((job) => startJob(app, sql, job, stop.signal)))
  return {
    stop: async () => {
      stop.abort()
      await Promise.all(started.map(({ ended }) => ended))
    },
  }
}

async function startJob(
  app: JobApp,
  sql: Sql,
  job: Job,
  signal: AbortSignal,
): Promise<{ readonly ended: Promise<void> }> {
  const waker = createWaker()
  const stopListening = job.wakeOn && (await listen(sql, job.wakeOn, waker.wake))
  const work = (inner: AbortSignal) => loop(app, job, waker, inner)
  const running = job.everywhere ? work(signal) : whileHolding(sql, `job ${job.name}`, signal, work)
  const ended = running.then(async () => {
    if (stopListening) await stopListening()
  })
  return { ended }
}

async function loop(app: JobApp, job: Job, waker: Waker, signal: AbortSignal): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    try {
      await job.run(app, signal)
      if (failures > 0) app.log.info({ job: job.name, failures }, 'job works again')
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      report(app, job, error, failures)
    }
    const backoffMs = failures === 0 ? 0 : Math.min(2 ** failures * 250, BACKOFF_MS_MAX)
    await waker.sleep(Math.max(job.everyMs(app), backoffMs), signal)
  }
}

/** A dependency that is down is said once; a bug every time. */
function report(app: JobApp, job: Job, error: unknown, failures: number): void {
  const isUpstream = error instanceof AppError && error.kind === 'upstream'
  const cause = isUpstream ? error.cause : error
  const fields = {
    job: job.name,
    failures,
    error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
  }
  if (!isUpstream) app.log.error(fields, 'job failed')
  else if (failures === 1) app.log.warn(fields, 'job waits for a dependency')
}

interface Waker {
  wake(): void
  /** Ends after the time, when woken, or at once if woken since the last sleep. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

function createWaker(): Waker {
  let isWoken = false
  let alarm: AbortController | undefined
  return {
    wake() {
      isWoken = true
      alarm?.abort()
    },
    async sleep(ms, signal) {
      if (!isWoken) {
        alarm = new AbortController()
        const either = AbortSignal.any([signal, alarm.signal])
        await wait(ms, undefined, { signal: either }).catch(() => undefined)
      }
      isWoken = false
    },
  }
}
