import type { MailDeps } from '#src/channels/email.ts'
import type { SyncedClock } from '#src/db/clock.ts'
import type { Fence } from '#src/db/lock.ts'
import type { Sending } from '#src/delivery/sending.ts'
import type { Tally } from '#src/delivery/tally.ts'
import type { Role } from '#src/kernel/role.ts'
import type { App } from '#src/operations/define.ts'

/** What a job needs beside the verbs' dependencies. */
export interface JobApp extends App {
  /** Longest time between two looks at the chain tip. */
  readonly evaluationIntervalMs: number
  /** For mails that are not alerts. */
  readonly mail: MailDeps
  /** Counts attempts to send. */
  readonly tally: Tally
  /** What is remembered of deliveries from run to run. */
  readonly sending: Sending
  /** What deliveries go by: the database's clock, or the one that a test gives. */
  readonly deliveryClock: SyncedClock
}

/** Something that runs every so often. */
export interface Job {
  readonly name: string
  /** The role of a process that runs it. */
  readonly role: Role
  /** Runs in every process at once; otherwise in one at a time, taken over when that one dies. */
  readonly everywhere?: boolean
  /** A NOTIFY channel that starts a run early. */
  readonly wakeOn?: string
  /** Milliseconds between the end of one run and the start of the next. */
  everyMs(app: JobApp): number
  /**
   * One run. A refusal of kind `upstream` is a dependency that is down: the next run tries again.
   *
   * @param news the payloads it was woken with since its last run; undefined when something may have
   *   happened that nobody told: at the start, when its time has passed, after a failure
   * @param fence the right to write as the one process that runs the job; undefined where it runs everywhere
   */
  run(
    app: JobApp,
    signal: AbortSignal,
    news: ReadonlySet<string> | undefined,
    fence?: Fence,
  ): Promise<void>
}
