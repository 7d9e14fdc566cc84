import { setTimeout as wait } from 'node:timers/promises'

/**
 * Waits for work, and no longer than `ms` milliseconds: work that hangs is left to itself.
 *
 * @returns whether the work ended in time
 * @throws what the work throws in time; what it throws later is dropped
 */
export async function bounded(work: Promise<unknown> | undefined, ms: number): Promise<boolean> {
  const over = new AbortController()
  const late = wait(ms, false, { signal: over.signal }).catch(() => false)
  try {
    return await Promise.race([Promise.resolve(work).then(() => true), late])
  } finally {
    over.abort()
  }
}
