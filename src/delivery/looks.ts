/** A walk over recipients, a bounded part of it at a time. */
import { HOPS, type Round } from './sending.ts'

/** Least time between two looks while nothing is found. */
const QUIET_MS = 200

/** A look that failed is not repeated earlier. */
const FAILED_MS = 1000

/** Looks of a round take at most a fifth of the time. */
const LOOK_SHARE = 4

/** How far a look came. */
export interface LookedAt {
  /** It took place. */
  readonly looked: boolean
  /** It came to the last recipient. */
  readonly isEnd: boolean
}

/**
 * The next look of a round, if it is time for one. Where it comes to the end before it has seen as many
 * recipients as it may, the next one begins anew.
 *
 * @param options `none`: what is given when it is not time
 * @throws what the look throws; the next one waits a second
 */
export async function nextRound<T extends { readonly last: number | undefined }, None>(
  round: Round,
  { now, none }: { readonly now: Date; readonly none: None },
  look: (of: { readonly after: number; readonly hops: number }) => Promise<T>,
): Promise<None | (T & LookedAt)> {
  const startedAt = performance.now()
  if (!isTime(round, now) || startedAt < round.nextAt) return none
  round.nextAt = startedAt + FAILED_MS
  const found = await look({ after: round.after, hops: round.hops })
  const endedAt = performance.now()
  round.nextAt = endedAt + LOOK_SHARE * (endedAt - startedAt)
  const isEnd = found.last === undefined
  round.after = found.last ?? 0
  return { ...found, looked: true, isEnd }
}

/**
 * Notes what a look came to. While something is found the next look is at once, else a little later, and at
 * more recipients. A round is quiet when nothing was found from its first recipient to its last.
 */
export function recordEnd(
  round: Round,
  { looked, isEnd }: LookedAt,
  { found, now }: { readonly found: boolean; readonly now: Date },
): void {
  if (found) {
    round.quiet = false
    round.foundSome = true
    round.hops = HOPS.first
    round.restsSince = undefined
  }
  if (!looked) return
  if (isEnd) {
    round.quiet = !round.foundSome
    round.foundSome = false
  }
  if (found) return
  round.hops = Math.min(2 * round.hops, HOPS.max)
  round.restsSince = round.quiet ? { now, ms: performance.now() } : undefined
}

/** Whether a look may come, by the service's clock or the process's: one of them may have been put back. */
function isTime({ restsSince }: Round, now: Date): boolean {
  if (restsSince === undefined) return true
  const sinceMs = Math.abs(now.getTime() - restsSince.now.getTime())
  return Math.max(sinceMs, performance.now() - restsSince.ms) >= QUIET_MS
}
