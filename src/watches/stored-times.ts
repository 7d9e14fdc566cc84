/** Times that this room stores by the clock of the service, see `repairTimes`. */
import { type StoredTimes, timesWithin } from '#src/db/repair-times.ts'
import { observationCursors, sliceCursors, targets, watches } from './tables.ts'

export const STORED_TIMES: readonly StoredTimes[] = [
  timesWithin(observationCursors, { observedAt: 0, failingSince: 0, checkedAt: 0 }),
  timesWithin(sliceCursors, { observedAt: 0 }),
  timesWithin(targets, { noDataSince: 0 }),
  timesWithin(watches, { suspendedAt: 0 }),
]
