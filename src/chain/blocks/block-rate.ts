/** Weight of a new sample in the average. */
const NEW_WEIGHT = 0.2
/** Samples before the rate is used. */
const SAMPLES_MIN = 3
/**
 * Limits of a sample. A time outside them comes from a pause of the chain or of this process, and is
 * ignored.
 */
const PERIOD_MS_MIN = 200
const PERIOD_MS_MAX = 15_000
/**
 * Share of a period after which the next block is first read, a little early, so that the reading follows the
 * block closely. From then on there are `READINGS_PER_PERIOD`.
 */
const FIRST_READING = 0.95
const READINGS_PER_PERIOD = 4
const READING_MS_MIN = 100
/** Periods without a block after which the chain counts as stopped. */
const PERIODS_WAITED = 3

/** The average time between two blocks. Times are in milliseconds of one monotonic clock. */
export interface BlockRate {
  readonly newest: number
  /** When the newest block was first read. */
  readonly newestAtMs: number
  /** Average time between two blocks; undefined with too few samples. */
  readonly periodMs: number | undefined
  readonly samples: number
}

/** The rate before the first reading. */
export const UNKNOWN_RATE: BlockRate = { newest: 0, newestAtMs: 0, periodMs: undefined, samples: 0 }

/** The rate after a reading of the newest block. */
export function updateRate(rate: BlockRate, newest: number, atMs: number): BlockRate {
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
 * Time until the newest block is read again, at most `longestMs`: shortly before the next one is expected, then
 * several times in each period, so that a block is read soon after it exists. If `longestMs` has several periods, as
 * many blocks as fit are read at once. `longestMs` while the rate is unknown or the chain has stopped.
 */
export function nextTipReadMs(rate: BlockRate, nowMs: number, longestMs: number): number {
  const { periodMs, samples, newestAtMs } = rate
  if (periodMs === undefined || samples < SAMPLES_MIN) return longestMs
  const sinceMs = nowMs - newestAtMs
  const waitedMs = periodMs * blocksPerReading(rate, longestMs)
  if (sinceMs > Math.max(periodMs * PERIODS_WAITED, waitedMs + periodMs)) return longestMs
  const gapMs = Math.max(periodMs / READINGS_PER_PERIOD, READING_MS_MIN)
  const firstMs = waitedMs - periodMs * (1 - FIRST_READING)
  return Math.min(Math.max(firstMs - sinceMs, gapMs), longestMs)
}

/** Number of blocks after which the newest one is read. One period is kept in reserve for a late block. */
export function blocksPerReading({ periodMs, samples }: BlockRate, longestMs: number): number {
  if (periodMs === undefined || samples < SAMPLES_MIN) return 1
  return Math.max(Math.floor(longestMs / periodMs) - 1, 1)
}
