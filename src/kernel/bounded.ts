import { setTimeout as wait } from 'node:timers/promises'

/**
 * Waits for work for at most `ms` milliseconds; work that takes longer is abandoned.
 *
 * @returns whether the work ended in time
 * @throws the error of work that failed in time; later errors are dropped
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
