import { setTimeout as wait } from 'node:timers/promises'
import { Unexpected } from '../customer.ts'

const PATIENCE_MS = 15_000
const LOOK_MS = 100

/**
 * Looks again and again until what is seen is as wanted.
 *
 * @param wanted in words
 * @throws Unexpected with what was seen last
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
