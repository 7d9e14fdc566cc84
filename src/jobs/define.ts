import type { MailDeps } from '#src/channels/email.ts'
import type { SyncedClock } from '#src/db/clock.ts'
import type { Fence } from '#src/db/lock.ts'
import type { Sending } from '#src/delivery/sending.ts'
import type { Tally } from '#src/delivery/tally.ts'
import type { HealthCheck } from '#src/kernel/health.ts'
import type { Role } from '#src/kernel/role.ts'
import type { App } from '#src/operations/define.ts'
import type { JobFigures } from './figures.ts'
import type { Heartbeat } from './heartbeat.ts'

/** Periodic work of the bot; does nothing before Telegram has introduced the bot. */
export interface BotWork {
  /** Makes the automatic changes of messages that are due. */
  followUp(signal: AbortSignal): Promise<void>
  /** Notifies chats of the outcome of their connect codes. */
  notifyConnected(signal: AbortSignal): Promise<void>
}

/** Dependencies of a job, beyond those of the verbs. */
export interface JobApp extends App {
  /** Longest time between two readings of the chain's tip. */
  readonly evaluationIntervalMs: number
  /** For mails that are not alerts. */
  readonly mail: MailDeps
  /** Counter of attempts to send. */
  readonly tally: Tally
  /** State of deliveries between runs. */
  readonly sending: Sending
  /** Runs of jobs in this process. */
  readonly jobFigures: JobFigures
  /** Checks of the service's dependencies. */
  readonly health: readonly HealthCheck[]
  /** The operator's monitor; undefined without one. */
  readonly heartbeat: Heartbeat | undefined
  /** Absent without a bot token. */
  readonly bot?: BotWork
  /** Clock of the deliveries: the database's, or that of a test. */
  readonly deliveryClock: SyncedClock
}

/** A task that runs periodically. */
export interface Job {
  readonly name: string
  /** Role of the processes that run it. */
  readonly role: Role
  /** Runs in every process; otherwise in one at a time, taken over when that one dies. */
  readonly everywhere?: boolean
  /** Channel whose NOTIFY starts a run early. */
  readonly wakeOn?: string
  /** Milliseconds between the end of one run and the start of the next. */
  everyMs(app: JobApp): number
  /**
   * Runs once. A refusal of kind `upstream` is an unavailable dependency: the next run tries again.
   *
   * @param news payloads of the NOTIFYs since the last run; undefined when some may have been missed: at
   * the start, when the interval has passed, after a failure
   * @param fence the right to write as the only process that runs the job; undefined where it runs
   * everywhere
   */
  run(
    app: JobApp,
    signal: AbortSignal,
    news: ReadonlySet<string> | undefined,
    fence?: Fence,
  ): Promise<void>
}
