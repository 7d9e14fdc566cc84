/** A scan over recipients in bounded steps. */
import { type RecipientScan, SCAN_STEP_RECIPIENTS } from '../sending/sending-state.ts'

/** Minimum interval between two steps while a whole pass over the recipients found nothing. */
const QUIET_MS = 200

/** Wait after a step that failed. */
const FAILED_MS = 1000

/** Pause after a step, in durations of the step: steps take at most a fifth of the time. */
const PAUSE_SHARE = 4

/** Result of a step of a scan. */
export interface ScanProgress {
  /** Whether the step ran; false if it was not time yet. */
  readonly ran: boolean
  /** Whether the step reached the last recipient. */
  readonly isEnd: boolean
}

/**
 * Runs the next step of a scan, if it is time. After a step that reached the last recipient, the next step
 * starts from the beginning.
 *
 * @param none the result if it is not time yet
 * @throws errors of the step; the next step runs after a second
 */
export async function runScanStep<T extends { readonly last: number | undefined }, None>(
  scan: RecipientScan,
  none: None,
  readStep: (of: { readonly after: number; readonly recipientsMax: number }) => Promise<T>,
): Promise<None | (T & ScanProgress)> {
  const startedAt = performance.now()
  if (startedAt < Math.max(scan.nextAt, scan.quietUntil)) return none
  scan.nextAt = startedAt + FAILED_MS
  const step = await readStep({ after: scan.after, recipientsMax: scan.recipientsMax })
  const endedAt = performance.now()
  scan.nextAt = endedAt + PAUSE_SHARE * (endedAt - startedAt)
  const isEnd = step.last === undefined
  scan.after = step.last ?? 0
  return { ...step, ran: true, isEnd }
}

/**
 * Records the result of a step. After a step that found something, the next one reads the first number of recipients;
 * otherwise it reads twice as many. A scan is quiet when a whole pass over all recipients found nothing; then steps are
 * at least `QUIET_MS` apart.
 */
export function recordScanStep(
  scan: RecipientScan,
  { ran, isEnd }: ScanProgress,
  found: boolean,
): void {
  if (found) {
    scan.quiet = false
    scan.foundSome = true
    scan.recipientsMax = SCAN_STEP_RECIPIENTS.first
    scan.quietUntil = 0
  }
  if (!ran) return
  if (isEnd) {
    scan.quiet = !scan.foundSome
    scan.foundSome = false
  }
  if (found) return
  scan.recipientsMax = Math.min(2 * scan.recipientsMax, SCAN_STEP_RECIPIENTS.max)
  scan.quietUntil = scan.quiet ? performance.now() + QUIET_MS : 0
}
