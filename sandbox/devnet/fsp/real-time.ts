import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '#src/kernel/clock.ts'
import type { RoundSchedule } from './round-schedule.ts'
import type { BlockWriter } from './writer.ts'

/** Usual polling interval for due actions. */
export const LIVE_POLL_MS = 250
/** Delay of actions, so that the chain has surely reached their time. */
const BEHIND_SECONDS = 2
/** Difference from which on a clock counts as having jumped. */
const JUMP_SECONDS = 180

/**
 * Runs rounds and reward epochs in real time until the signal is aborted.
 *
 * @param inTurn serializes actions
 * @param onProblem called with an error; the action is retried
 * @param pollMs polling interval for due actions
 */
export async function runInRealTime(options: {
  readonly schedule: RoundSchedule
  readonly writer: BlockWriter
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly inTurn: (run: () => Promise<void>) => Promise<void>
  readonly onProblem: (error: unknown) => void
  readonly pollMs: number
}): Promise<void> {
  const { schedule, writer, clock, signal, inTurn, onProblem, pollMs } = options
  const goOn = async () => {
    const now = Math.floor(clock.now().getTime() / 1000) - BEHIND_SECONDS
    await writer.readHead()
    if (schedule.nextAt() < now - JUMP_SECONDS) schedule.resume(now)
    while (schedule.nextAt() <= now && !signal.aborted) await schedule.step(true)
    await writer.send(schedule.updates())
  }
  while (!signal.aborted) {
    await inTurn(() =>
      goOn().catch((error: unknown) => {
        if (!signal.aborted) onProblem(error)
      }),
    )
    await wait(pollMs, undefined, { signal }).catch(() => undefined)
  }
}
