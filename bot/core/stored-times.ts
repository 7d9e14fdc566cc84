/** Times that this room stores by the clock of the service, see `repairTimes`. */
import { type StoredTimes, timesSince, timesWithin } from '#src/db/repair-times.ts'
import { PAUSE_MS_MAX } from './inbox-store.ts'
import { drafts, IS_UNHANDLED, liveMessages, questions, telegramUpdates } from './tables.ts'

export const STORED_TIMES: readonly StoredTimes[] = [
  timesWithin(telegramUpdates, { receivedAt: 0, leasedUntil: PAUSE_MS_MAX }, () => IS_UNHANDLED),
  timesSince(questions, 'askedAt', ['expiresAt']),
  timesSince(drafts, 'updatedAt', ['expiresAt']),
  timesSince(liveMessages, 'createdAt', ['dueAt', 'leasedUntil', 'expiresAt']),
]
