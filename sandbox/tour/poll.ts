import { setTimeout as wait } from 'node:timers/promises'
import { UnexpectedAnswerError } from '../customer.ts'

const PATIENCE_MS = 15_000
const LOOK_MS = 100

/**
 * Polls until the condition holds.
 *
 * @param wanted description of the condition
 * @throws UnexpectedAnswerError with the last value
 */
export async function pollUntil<T>(
  wanted: string,
  look: () => Promise<T>,
  fits: (seen: T) => boolean,
): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS
  for (;;) {
    const seen = await look()
    if (fits(seen)) return seen
    if (performance.now() > giveUpAt) throw new UnexpectedAnswerError(wanted, JSON.stringify(seen))
    await wait(LOOK_MS)
  }
}
