/** Times that this room stores by the clock of the service, see `repairTimes`. */
import { type StoredTimes, timesSince, timesWithin } from '#src/db/repair-times.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { alertBudgets, alerts, IS_REMINDED } from './tables.ts'

export const STORED_TIMES: readonly StoredTimes[] = [
  timesSince(alerts, 'createdAt', [
    'notifiedAt',
    'acknowledgedAt',
    'notedAt',
    'mutedAt',
    'remindAt',
    'escalateAt',
    'escalatedAt',
  ]),
  timesWithin(alerts, { escalatedAt: 0 }, () => IS_REMINDED),
  timesWithin(alertBudgets, { startedAt: 0, throttledAt: 0, summaryAt: HOUR_MS }),
]
