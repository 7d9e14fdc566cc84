/** Times that this room stores by the clock of the service, see `repairTimes`. */
import { type StoredTimes, timesSince, timesWithin } from '#src/db/repair-times.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { confirmationMails, connectCodes, linkCodes, mailRefusals, recipients } from './tables.ts'

export const STORED_TIMES: readonly StoredTimes[] = [
  timesWithin(recipients, {
    switchedAt: 0,
    rescheduleAt: 0,
    lastSuccessAt: 0,
    lastFailureAt: 0,
    failingSince: 0,
  }),
  timesSince(connectCodes, 'createdAt', ['expiresAt', 'usedAt']),
  timesSince(linkCodes, 'createdAt', ['expiresAt', 'usedAt']),
  // An e-mail that the limits delay by more than a day is refused.
  timesWithin(confirmationMails, { dueAt: DAY_MS, nextAttemptAt: DAY_MS, sentAt: 0 }),
  timesWithin(mailRefusals, { refusedAt: 0 }),
]
