import { setTimeout as wait } from 'node:timers/promises'

/**
 * Waits for work for at most `ms` milliseconds. Work that takes longer goes on, but its result is ignored.
 *
 * @returns whether the work ended in time; true if `work` is undefined
 * @throws the error of work that failed in time; later errors are dropped
 */
export async function endsWithin(work: Promise<unknown> | undefined, ms: number): Promise<boolean> {
  const over = new AbortController()
  const late = wait(ms, false, { signal: over.signal }).catch(() => false)
  try {
    return await Promise.race([Promise.resolve(work).then(() => true), late])
  } finally {
    over.abort()
  }
}
