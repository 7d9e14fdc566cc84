/** A scan over recipients in bounded steps. */
import { SCAN_STEP_RECIPIENTS, type RecipientScan } from './sending.ts'

/** Minimum interval between two scans that find nothing. */
const QUIET_MS = 200

/** Wait after a scan that failed. */
const FAILED_MS = 1000

/** Pause after a scan, in durations of the scan: scans take at most a fifth of the time. */
const PAUSE_SHARE = 4

/** Progress of a scan. */
export interface ScanProgress {
  /** Whether the scan ran. */
  readonly ran: boolean
  /** Whether the scan reached the last recipient. */
  readonly isEnd: boolean
}

/**
 * Runs the next step of a round, if it is time. If a step reaches the last recipient before its limit, the
 * next step starts from the beginning.
 *
 * @param options `none`: the result if it is not time yet
 * @throws errors of the step; the next step runs after a second
 */
export async function runScanStep<T extends { readonly last: number | undefined }, None>(
  round: RecipientScan,
  { now, none }: { readonly now: Date; readonly none: None },
  scan: (of: { readonly after: number; readonly hops: number }) => Promise<T>,
): Promise<None | (T & ScanProgress)> {
  const startedAt = performance.now()
  if (!isTime(round, now) || startedAt < round.nextAt) return none
  round.nextAt = startedAt + FAILED_MS
  const found = await scan({ after: round.after, hops: round.hops })
  const endedAt = performance.now()
  round.nextAt = endedAt + PAUSE_SHARE * (endedAt - startedAt)
  const isEnd = found.last === undefined
  round.after = found.last ?? 0
  return { ...found, ran: true, isEnd }
}

/**
 * Records the result of a step. While something is found the next step runs immediately, otherwise a little
 * later and over more recipients. A round is quiet when a whole pass found nothing.
 */
export function recordScanStep(
  round: RecipientScan,
  { ran, isEnd }: ScanProgress,
  { found, now }: { readonly found: boolean; readonly now: Date },
): void {
  if (found) {
    round.quiet = false
    round.foundSome = true
    round.hops = SCAN_STEP_RECIPIENTS.first
    round.restsSince = undefined
  }
  if (!ran) return
  if (isEnd) {
    round.quiet = !round.foundSome
    round.foundSome = false
  }
  if (found) return
  round.hops = Math.min(2 * round.hops, SCAN_STEP_RECIPIENTS.max)
  round.restsSince = round.quiet ? { now, ms: performance.now() } : undefined
}

/**
 * Whether a step may run, by the service's clock or the process's monotonic clock. Two clocks are compared,
 * because the first may have been set back.
 */
function isTime({ restsSince }: RecipientScan, now: Date): boolean {
  if (restsSince === undefined) return true
  const sinceMs = Math.abs(now.getTime() - restsSince.now.getTime())
  return Math.max(sinceMs, performance.now() - restsSince.ms) >= QUIET_MS
}
