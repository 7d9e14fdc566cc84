/** Records results of attempts, and keeps results that cannot be recorded yet. */

import { setTimeout as wait } from 'node:timers/promises'
import { loggableError } from '#src/kernel/loggable-error.ts'
import { pause } from '#src/kernel/pause.ts'
import { createLastSuccesses } from '#src/recipients/last-successes.ts'
import { logAttemptResult } from '../log/log-lines.ts'
import { LEASE_SECONDS } from '../model.ts'
import type { SendTaskResult } from '../sending/send-task.ts'
import type { UnrecordedResult } from '../sending/sending-state.ts'
import type { RecordDeps } from './record-deps.ts'
import { type RecordingOutcome, recordResults } from './record-results.ts'

/**
 * Minimum interval between two transactions, so that each records many results: recording one result costs the
 * database about as much as recording a dozen.
 */
const RECORD_GAP_MS = 20
/** Number of results that wait to be recorded at which nothing more is to be sent. */
const RESULTS_MAX = 1000
/**
 * Waits before a failed recording is repeated: the first, doubled up to the longest. A result that failed alone waits
 * for the longest.
 */
const RECORD_RETRY_MS = { first: 50, max: 2000 } as const

/** Results that a worker has not recorded yet. */
export interface ResultQueue {
  add(result: SendTaskResult): void
  /** Queues results again that failed alone and have waited, and drops those that failed for `LEASE_SECONDS`. */
  retry(): void
  /** Whether no result waits or is being recorded. Results that failed alone wait for `retry` and do not count. */
  isIdle(): boolean
  /**
   * Whether so many results wait that no more deliveries are to be claimed. A delivery whose result waits for longer
   * than its lease is sent again by another process.
   */
  isFull(): boolean
  /** Waits until everything is recorded. */
  finish(): Promise<void>
  /** Stops waiting for the database: a batch that fails now is dropped. */
  giveUp(): void
}

/**
 * Creates an empty queue of results. Long because collecting, writing and retrying share the pending
 * results.
 *
 * @param unrecorded results whose recording failed, which outlive the queue
 * @param on `recorded`: called after each recording, with whether other deliveries may have become due; `release`:
 * called for every result that is recorded or dropped; `idle`: called when nothing waits to be recorded
 */
export function createResultQueue(
  recordDeps: RecordDeps,
  unrecorded: UnrecordedResult[],
  on: {
    readonly release: (result: SendTaskResult) => void
    readonly recorded: (batch: readonly SendTaskResult[], madeDue: boolean) => void
    readonly idle: () => void
  },
): ResultQueue {
  const lastSuccesses = createLastSuccesses(recordDeps)
  const deps = { ...recordDeps, lastSuccesses }
  const stopped = new AbortController()
  /** Time until which failed recordings are repeated. */
  const untilOf = new WeakMap<SendTaskResult, number>()
  let waiting: SendTaskResult[] = []
  /** Number of results in the recording in progress. */
  let inRecording = 0
  let recording: Promise<void> | undefined
  let recordedAt = Number.NEGATIVE_INFINITY

  /** Runs one transaction after another, each with all results since the previous one. */
  async function recordAll(): Promise<void> {
    let againMs: number = RECORD_RETRY_MS.first
    while (waiting.length > 0) {
      const earlyMs = recordedAt + RECORD_GAP_MS - performance.now()
      if (earlyMs > 0) await wait(earlyMs)
      recordedAt = performance.now()
      const batch = waiting
      waiting = []
      inRecording = batch.length
      const recorded = await tryRecord(batch)
      inRecording = 0
      if (recorded === undefined) {
        // Nothing was recorded. The results keep their order and are tried again.
        waiting = [...batch, ...waiting]
        await pause(againMs, stopped.signal)
        againMs = Math.min(2 * againMs, RECORD_RETRY_MS.max)
        continue
      }
      againMs = RECORD_RETRY_MS.first
      for (const result of batch) if (!recorded.unrecorded.includes(result)) on.release(result)
      on.recorded(batch, recorded.madeDue)
    }
    recording = undefined
    on.idle()
  }

  /**
   * @returns undefined if a failure that concerns no single result prevented it, so that it is repeated; after the stop
   * an outcome as if all were recorded, which drops the results
   */
  async function tryRecord(
    batch: readonly SendTaskResult[],
  ): Promise<RecordingOutcome | undefined> {
    try {
      const recorded = await recordResults(deps, batch)
      const { unrecorded: left } = recorded
      for (const result of batch) if (!left.includes(result)) logAttemptResult(deps.log, result)
      keepUnrecorded(left)
      return recorded
    } catch (error) {
      const trace = loggableError(error)
      deps.log.warn({ rows: batch.length, error: trace }, 'delivery results not recorded yet')
      return stopped.signal.aborted ? { unrecorded: [], madeDue: false } : undefined
    }
  }

  /** Keeps results for another recording. Their deliveries stay claimed, so that none is sent again. */
  function keepUnrecorded(results: readonly SendTaskResult[]): void {
    const now = performance.now()
    for (const result of results) {
      const until = untilOf.get(result) ?? now + LEASE_SECONDS * 1000
      untilOf.set(result, until)
      unrecorded.push({ result: result, nextAt: now + RECORD_RETRY_MS.max, until })
    }
  }

  function add(result: SendTaskResult): void {
    waiting.push(result)
    recording ??= recordAll()
  }

  return {
    add,
    retry() {
      const now = performance.now()
      for (const failed of unrecorded.filter(({ nextAt }) => nextAt <= now)) {
        unrecorded.splice(unrecorded.indexOf(failed), 1)
        const { result, until } = failed
        if (until <= now) on.release(result)
        else {
          untilOf.set(result, until)
          add(result)
        }
      }
    },
    isIdle: () => recording === undefined,
    isFull: () => waiting.length + inRecording >= RESULTS_MAX,
    finish: async () => {
      while (recording !== undefined) await recording
      await lastSuccesses.finish()
    },
    giveUp: () => stopped.abort(),
  }
}
