/** Times that this room stores by the clock of the service, see `repairTimes`. */
import { rowsWithin, type StoredTimes, timesWithin } from '#src/db/repair-times.ts'
import { RATE_CLASSES } from './gate/limits.ts'
import { publicFigures, rateCounts } from './tables.ts'

/** Longest window of a limit. */
const WINDOW_MS_MAX = Math.max(...Object.values(RATE_CLASSES).map(({ seconds }) => seconds)) * 1000

export const STORED_TIMES: readonly StoredTimes[] = [
  timesWithin(rateCounts, { expire: WINDOW_MS_MAX }),
  rowsWithin(publicFigures, 'asOf', 0),
]
