import type { Heads } from '#src/chain/blocks/heads.ts'
import type { MailDeps } from '#src/channels/mail/email.ts'
import type { MailServer } from '#src/channels/mail/mailer.ts'
import type { Db } from '#src/db/connection.ts'
import type { Fence, Leases } from '#src/db/leases.ts'
import type { Slices } from '#src/db/slices.ts'
import type { AttemptCounter } from '#src/delivery/sending/attempt-counter.ts'
import type { SendingState } from '#src/delivery/sending/sending-state.ts'
import type { HealthCheck } from '#src/kernel/health.ts'
import type { Role } from '#src/kernel/role.ts'
import type { App } from '#src/operations/define.ts'
import type { TypePauses } from '#src/watches/observe/type-pauses.ts'
import type { HeartbeatMonitor } from './heartbeat.ts'

/** Periodic work of the bot. Does nothing before getMe has succeeded. */
export interface BotWork {
  /**
   * Changes the live messages that are due, and those of subjects that have just changed.
   * @param handles of the changed subjects
   */
  showLive(signal: AbortSignal, handles: ReadonlySet<string>): Promise<void>
}

/** Dependencies of jobs: `App`, which verbs get, and what only jobs need. */
export interface JobApp extends App {
  /** Maximum time between two polls of the chain's tip, and between two runs of jobs that follow the chain. */
  readonly evaluationIntervalMs: number
  /** Subscription to new heads. A new head makes `read-tip` run before its next poll is due. */
  readonly heads: Heads
  /** Mail transport for mails other than alerts. */
  readonly mail: MailDeps
  /** The mail server; undefined if e-mail is not configured. */
  readonly mailServer: MailServer | undefined
  /** Counter of attempts to send. */
  readonly attemptCounter: AttemptCounter
  /** State of deliveries between runs. */
  readonly sending: SendingState
  /** Pool of claims of deliveries. */
  readonly claimsDb: Db
  /** Checks of the service's dependencies. */
  readonly health: readonly HealthCheck[]
  /** The operator's monitor; undefined if there is none. */
  readonly heartbeat: HeartbeatMonitor | undefined
  /** The bot; absent if there is no bot token. */
  readonly bot?: BotWork
  /** Leases of this process: of the jobs that one process does. */
  readonly leases: Leases
  /** Slices of targets that this process observes and judges. */
  readonly slices: Slices
  /** Pauses of watch types that fail. */
  readonly typePauses: TypePauses
  /** Milliseconds by which this host's clock is ahead of the database's, negative if it is behind. */
  hostAheadMs(): Promise<number>
}

/** Notifications (NOTIFY) since the last run that succeeded. */
export interface JobWakeUps {
  readonly payloads: ReadonlySet<string>
  /**
   * Whether notifications may have been missed: at the start, after a failure, and when the interval has
   * passed.
   */
  readonly mayHaveMissed: boolean
}

/** Wake-ups for a run that checks everything, because changes are unknown. */
export const CHECK_EVERYTHING: JobWakeUps = { payloads: new Set(), mayHaveMissed: true }

/** A task that runs periodically. */
export interface Job {
  readonly name: string
  /** Role of the processes that run the job. */
  readonly role: Role
  /**
   * Whether the job runs in every process. Otherwise it runs in one process at a time; when that process
   * dies, another takes over.
   */
  readonly everywhere?: boolean
  /** Channel, or channels, whose NOTIFY starts a run early. */
  readonly wakeOn?: string | readonly string[]
  /**
   * Minimum milliseconds between the starts of two runs. Notifications that come meanwhile share the next run. By
   * default a run starts as soon as the run before it has ended.
   */
  readonly gapMs?: number
  /** Called at each NOTIFY on the channel `wakeOn`, even during a run. */
  onNotify?(app: JobApp, payload: string): void
  /** Calls `wake` to start a run early by other means than NOTIFY, until the returned function is called. */
  wakeBy?(app: JobApp, wake: () => void): () => void
  /**
   * Whether a run charges, ends or deletes something by the clock. It is skipped, with an error in the log, while this host's
   * clock and the database's differ by more than five minutes: the one that the service follows may be the wrong one.
   */
  readonly needsAgreedClocks?: boolean
  /** Whether the job sends something to somebody. It does not run in a process that sends nothing. */
  readonly sends?: boolean
  /** Maximum pause after failures; 30 seconds by default. */
  readonly pauseMsMax?: number
  /** Milliseconds between the end of one run and the start of the next. */
  everyMs(app: JobApp): number
  /**
   * Runs once. An AppError of kind `upstream` means that a dependency is unavailable; the next run tries again.
   *
   * @param fence fence of the only process that runs the job; undefined where the job runs everywhere
   */
  run(app: JobApp, signal: AbortSignal, notified: JobWakeUps, fence?: Fence): Promise<void>
}
