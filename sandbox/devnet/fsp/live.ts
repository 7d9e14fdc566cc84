import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '#src/kernel/clock.ts'
import type { Course } from './price-path.ts'
import type { BlockWriter } from './writer.ts'

/** How often it is looked whether something is to happen. */
export const LIVE_LOOK_MS = 250
/** What happens at a time happens a little later, when the chain has surely come to it. */
const BEHIND_SECONDS = 2
/** A clock so far ahead has jumped. */
const JUMP_SECONDS = 180

/**
 * Lets the course go on in the time of a clock until the signal is aborted.
 *
 * @param inTurn lets what is done be done alone
 * @param onProblem hears what went wrong; it is tried again
 */
export async function keepUp(options: {
  readonly course: Course
  readonly writer: BlockWriter
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly inTurn: (run: () => Promise<void>) => Promise<void>
  readonly onProblem: (error: unknown) => void
}): Promise<void> {
  const { course, writer, clock, signal, inTurn, onProblem } = options
  const goOn = async () => {
    const now = Math.floor(clock.now().getTime() / 1000) - BEHIND_SECONDS
    await writer.look()
    if (course.nextAt() < now - JUMP_SECONDS) course.resume(now)
    while (course.nextAt() <= now && !signal.aborted) await course.step(true)
    await writer.send(await course.updates())
  }
  while (!signal.aborted) {
    await inTurn(() =>
      goOn().catch((error: unknown) => {
        if (!signal.aborted) onProblem(error)
      }),
    )
    await wait(LIVE_LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
}
