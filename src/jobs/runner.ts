import type { Sql } from 'postgres'
import { EndpointsFailed } from '#src/chain/endpoints/failures.ts'
import type { Fence, Lease } from '#src/db/leases.ts'
import { listen } from '#src/db/listen.ts'
import { reportAnswer, reportOutage } from '#src/db/outage.ts'
import { backoffMs } from '#src/kernel/backoff.ts'
import { CLOCK_TOLERANCE_MS } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import { pause } from '#src/kernel/pause.ts'
import { createWaker, type Waker } from '#src/kernel/waker.ts'
import { CHECK_EVERYTHING, type Job, type JobApp, type JobWakeUps } from './define.ts'

/** Running jobs. */
export interface RunningJobs {
  /** Makes every job run now, or after its run in progress. These runs check everything. */
  runAll(): void
  /** Waits for the runs in progress, and starts no more. */
  stop(): Promise<void>
}

/**
 * Maximum number of payloads that are kept for the next run; if there are more, the run checks everything.
 */
const PAYLOADS_MAX = 5000
/** Time after which a failure that stays is logged again. */
const REPORT_AGAIN_MS = MINUTE_MS
const NO_WAKE_UPS: JobWakeUps = { payloads: new Set(), mayHaveMissed: false }

/**
 * Starts jobs. Each job runs, waits for its interval or a wake-up, and runs again; in one process a job never has
 * two runs at once.
 *
 * A failed run is soon retried, whatever the job's interval, with exponential back-off. A failure that stays is logged at
 * first and then once a minute, an unavailable dependency only once.
 */
export async function startJobs(app: JobApp, sql: Sql, jobs: readonly Job[]): Promise<RunningJobs> {
  const stop = new AbortController()
  const started = await Promise.all(jobs.map((job) => startJob(app, sql, job, stop.signal)))
  return {
    runAll: () => {
      for (const { wake } of started) wake()
    },
    stop: async () => {
      stop.abort()
      await Promise.all(started.map(({ ended }) => ended))
    },
  }
}

/** Runs a job once before the service starts. Skips it if another process is running the job. */
export async function runOnceBeforeStart(app: JobApp, job: Job): Promise<void> {
  const lease = await app.leases.tryTake(job.name)
  if (lease === undefined) return
  try {
    await runJob(app, job, [lease.signal, CHECK_EVERYTHING, lease.fence])
  } finally {
    await lease.release()
  }
}

async function startJob(
  app: JobApp,
  sql: Sql,
  job: Job,
  signal: AbortSignal,
): Promise<{ readonly ended: Promise<void>; wake(): void }> {
  const waker = createJobWaker()
  const onNotify = (payload: string) => {
    waker.wake(payload)
    job.onNotify?.(app, payload)
  }
  const channels = [job.wakeOn ?? []].flat()
  const listeners = await Promise.all(channels.map((channel) => listen(sql, channel, onNotify)))
  const work = async (inner: AbortSignal, lease?: Lease) => {
    const stopWaking = job.wakeBy?.(app, () => waker.wake(''))
    try {
      await loop(app, job, waker, inner, lease)
    } finally {
      stopWaking?.()
    }
  }
  const running = job.everywhere ? work(signal) : app.leases.whileHolding(job.name, signal, work)
  const ended = running.then(async () => {
    await Promise.all(listeners.map((stopListening) => stopListening()))
  })
  return { ended, wake: () => waker.wake('') }
}

async function loop(
  app: JobApp,
  job: Job,
  waker: JobWaker,
  signal: AbortSignal,
  lease: Lease | undefined,
): Promise<void> {
  let failures = 0
  const logged: Logged = new Map()
  let notified: JobWakeUps = { ...waker.take(), mayHaveMissed: true }
  let fullScanAt = performance.now()
  let startedAt = fullScanAt
  const count = (isSuccess: boolean) => {
    const seconds = (performance.now() - startedAt) / 1000
    app.meters.countJobRun(job.name, { isSuccess, seconds, at: app.clock.now() })
  }
  while (!signal.aborted) {
    try {
      if (notified.mayHaveMissed) fullScanAt = performance.now()
      startedAt = performance.now()
      await runJob(app, job, [signal, notified, lease?.fence])
      count(true)
      reportAnswer(app.log)
      if (logged.size > 0) app.log.info({ job: job.name, failures }, 'job works again')
      failures = 0
      logged.clear()
      notified = NO_WAKE_UPS
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      count(false)
      report(app, job, error, { failures, logged })
    }
    const everyMs = job.everyMs(app)
    const restMs = failures === 0 ? everyMs : backoffMs(failures, { max: job.pauseMsMax })
    await waker.sleep(restMs, signal)
    const earlyMs = startedAt + (job.gapMs ?? 0) - performance.now()
    if (earlyMs > 0) await pause(earlyMs, signal)
    const { payloads, mayHaveMissed } = waker.take(notified.payloads)
    const isTime = performance.now() - fullScanAt >= everyMs
    notified = { payloads, mayHaveMissed: mayHaveMissed || isTime || failures > 0 }
  }
}

/** Runs a job, unless it must not run now. */
async function runJob(
  app: JobApp,
  job: Job,
  [signal, notified, fence]: readonly [AbortSignal, JobWakeUps, Fence | undefined],
): Promise<void> {
  const aheadMs = job.needsAgreedClocks === true ? await app.hostAheadMs() : 0
  if (Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS) await job.run(app, signal, notified, fence)
  else
    app.log.error(
      { job: job.name, aheadMs },
      'clock of this host differs from that of the database',
    )
}

/**
 * Failures of a job that were logged since its last success: the first line of each, with the time in milliseconds of
 * `performance.now()`.
 */
type Logged = Map<string, number>
/** Most failures of a job that are remembered. */
const LOGGED_MAX = 20
const UNAVAILABLE = 'a dependency is unavailable'

/**
 * Logs a failure unless it was logged: a bug once a minute, an unavailable dependency only once. Failures of endpoints
 * of the chain and of the database that the log names already are not logged.
 */
function report(
  app: JobApp,
  job: Job,
  error: unknown,
  { failures, logged }: { readonly failures: number; readonly logged: Logged },
): void {
  const isUpstream = error instanceof AppError && error.kind === 'upstream'
  const cause = isUpstream ? error.cause : error
  if (isUpstream && cause instanceof EndpointsFailed && cause.isLogged) return
  if (reportOutage(app.log, cause)) return
  const text = loggableError(cause)
  // The calls below the first line may differ where the failure is the same.
  const name = isUpstream ? UNAVAILABLE : (text.split('\n')[0] ?? '')
  const before = logged.get(name)
  const now = performance.now()
  if (before !== undefined && (isUpstream || now - before < REPORT_AGAIN_MS)) return
  if (logged.size >= LOGGED_MAX) logged.clear()
  logged.set(name, now)
  const fields = { job: job.name, failures, error: text }
  if (isUpstream) app.log.warn(fields, `job failed: ${UNAVAILABLE}; the next run tries again`)
  else app.log.error(fields, 'job failed')
}

/** A waker that also collects the payloads of its wake-ups. */
interface JobWaker {
  /** Wakes the job. An empty payload means that notifications may have been missed. */
  wake(payload: string): void
  sleep: Waker['sleep']
  /**
   * Returns the wake-ups since the last call, and clears them. If there was no wake-up, notifications may have
   * been missed.
   *
   * @param also payloads that are added to the result
   */
  take(also?: ReadonlySet<string>): JobWakeUps
}

function createJobWaker(): JobWaker {
  const { wake, sleep, reset } = createWaker()
  let payloads = new Set<string>()
  return {
    wake(payload) {
      // While the job runs in another process, payloads are collected here and not taken, so their number is
      // limited.
      payloads.add(payloads.size < PAYLOADS_MAX ? payload : '')
      wake()
    },
    sleep,
    take(also = new Set()) {
      const woken = payloads
      payloads = new Set()
      reset()
      const all = [...also, ...woken].filter((payload) => payload !== '')
      const mayHaveMissed = woken.size === 0 || woken.has('') || all.length > PAYLOADS_MAX
      return { payloads: new Set(all.slice(0, PAYLOADS_MAX)), mayHaveMissed }
    },
  }
}
