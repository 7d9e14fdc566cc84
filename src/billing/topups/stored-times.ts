/** Times that this room stores by the clock of the service, see `repairTimes`. */
import { type StoredTimes, timesWithin } from '#src/db/repair-times.ts'
import { AGAIN_MAX_MS } from './scan.ts'
import { paymentGaps, topupSubmissions } from './tables.ts'

export const STORED_TIMES: readonly StoredTimes[] = [
  timesWithin(paymentGaps, { firstFailedAt: 0, recordedAt: 0, nextTryAt: AGAIN_MAX_MS }),
  timesWithin(topupSubmissions, { submittedAt: 0, checkedAt: 0 }),
]
