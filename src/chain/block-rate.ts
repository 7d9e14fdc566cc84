/** Weight of a new sample in the average. */
const NEW_WEIGHT = 0.2
/** Samples before the rate is used. */
const SAMPLES_MIN = 3
/** Limits of a sample: what lies outside says nothing about the rate of a chain that goes on. */
const PERIOD_MS_MIN = 200
const PERIOD_MS_MAX = 15_000
/** Share of a period after which the next block is looked for, and the time between two looks for it. */
const FIRST_LOOK = 0.75
const LOOKS_PER_PERIOD = 8
const LOOK_MS_MIN = 100
/** Periods without a block after which the chain is thought to stand still. */
const PERIODS_WAITED = 3

/** What is known of the time between two blocks. Times are in milliseconds of one clock that never jumps. */
export interface BlockRate {
  readonly newest: number
  /** When the newest block was read first. */
  readonly newestAtMs: number
  /** Average time between two blocks; undefined before there were enough. */
  readonly periodMs: number | undefined
  readonly samples: number
}

/** Nothing is known yet. */
export const NO_RATE: BlockRate = { newest: 0, newestAtMs: 0, periodMs: undefined, samples: 0 }

/** The rate after a reading of the newest block. */
export function learnRate(rate: BlockRate, newest: number, atMs: number): BlockRate {
  if (newest <= rate.newest) return rate
  const first = { ...rate, newest, newestAtMs: atMs }
  if (rate.newest === 0) return first
  const sample = (atMs - rate.newestAtMs) / (newest - rate.newest)
  if (sample < PERIOD_MS_MIN || sample > PERIOD_MS_MAX) return first
  const { periodMs: before = sample } = rate
  const periodMs = before * (1 - NEW_WEIGHT) + sample * NEW_WEIGHT
  return { ...first, periodMs, samples: rate.samples + 1 }
}

/**
 * Time until the newest block is read again: shortly before the next one is expected, then several times
 * in each period, so that a block is read soon after it is there. At most `longestMs`, which is also the
 * answer while the rate is unknown or the chain stands still.
 */
export function nextLookMs(rate: BlockRate, nowMs: number, longestMs: number): number {
  const { periodMs, samples, newestAtMs } = rate
  if (periodMs === undefined || samples < SAMPLES_MIN) return longestMs
  const sinceMs = nowMs - newestAtMs
  if (sinceMs > periodMs * PERIODS_WAITED) return longestMs
  const gapMs = Math.max(periodMs / LOOKS_PER_PERIOD, LOOK_MS_MIN)
  return Math.min(Math.max(periodMs * FIRST_LOOK - sinceMs, gapMs), longestMs)
}
