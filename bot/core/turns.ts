import { HOUR_MS } from '#src/kernel/durations.ts'

/** Keys remembered before those that are free again are forgotten. */
const KEYS_KEPT = 1000

/**
 * Counts how often something is done for a key. Each process counts for itself.
 *
 * @returns notes one more, or says when there may be another, if it is one too many
 */
function createTurns({
  max,
  windowMs,
}: {
  readonly max: number
  readonly windowMs: number
}): (key: string, now: Date) => Date | undefined {
  const turns = new Map<string, readonly number[]>()
  return (key, now) => {
    const since = now.getTime() - windowMs
    if (turns.size > KEYS_KEPT) {
      for (const [other, times] of turns) if ((times.at(-1) ?? 0) <= since) turns.delete(other)
    }
    const times = (turns.get(key) ?? []).filter((time) => time > since)
    const [oldest] = times
    if (times.length >= max && oldest !== undefined) return new Date(oldest + windowMs)
    turns.set(key, [...times, now.getTime()])
    return undefined
  }
}

/** Tests of one destination in an hour. */
export const takeTestTurn = createTurns({ max: 10, windowMs: HOUR_MS })

/** Files of one wallet's history in an hour. */
export const takeExportTurn = createTurns({ max: 6, windowMs: HOUR_MS })
