import { setTimeout as wait } from 'node:timers/promises'
import { Unexpected } from '../customer.ts'

const PATIENCE_MS = 15_000
const LOOK_MS = 100

/**
 * Polls until the condition holds.
 *
 * @param wanted description of the condition
 * @throws Unexpected with the last value
 */
export async function until<T>(
  wanted: string,
  look: () => Promise<T>,
  fits: (seen: T) => boolean,
): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS
  for (;;) {
    const seen = await look()
    if (fits(seen)) return seen
    if (performance.now() > giveUpAt) throw new Unexpected(wanted, JSON.stringify(seen))
    await wait(LOOK_MS)
  }
}
