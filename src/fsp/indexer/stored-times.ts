/** Times that this room stores by the clock of the service, see `repairTimes`. */
import { rowsWithin, type StoredTimes, timesWithin } from '#src/db/repair-times.ts'
import { publications, validatorPolls } from '../tables.ts'

export const STORED_TIMES: readonly StoredTimes[] = [
  timesWithin(publications, { seenAt: 0 }),
  rowsWithin(validatorPolls, 'polledAt', 0),
]
