/** Times that this room stores by the clock of the service, see `repairTimes`. */
import { type StoredTimes, timesSince, timesWithin } from '#src/db/repair-times.ts'
import { isWrittenAfter } from './messages/message-store.ts'
import { LEASE_SECONDS } from './model.ts'
import { RETRY_SECONDS } from './rules.ts'
import {
  deliveryHeads,
  deliveryLog,
  deliveryQueue,
  IS_OUTDATED,
  outagePictures,
  receivedDeliveries,
  sentMessages,
} from './tables.ts'

const LEASE_MS = LEASE_SECONDS * 1000
/** Longest wait for a retry: the longest step, and a half for its random share. */
const RETRY_MS_MAX = Math.max(...RETRY_SECONDS) * 1500

export const STORED_TIMES: readonly StoredTimes[] = [
  timesSince(deliveryQueue, 'createdAt', ['nextAttemptAt', 'plannedAt', 'leasedUntil']),
  timesWithin(deliveryQueue, { leasedUntil: LEASE_MS, nextAttemptAt: RETRY_MS_MAX }),
  timesSince(deliveryLog, 'createdAt', ['deferredUntil', 'retainedUntil', 'deliveredAt']),
  timesWithin(deliveryHeads, { dueAt: RETRY_MS_MAX }),
  timesSince(sentMessages, 'sentAt', ['openedAt', 'reviseAt', 'leasedUntil'], isWrittenAfter),
  timesWithin(sentMessages, { reviseAt: RETRY_MS_MAX, leasedUntil: LEASE_MS }, () => IS_OUTDATED),
  timesWithin(outagePictures, { plannedAt: 0 }),
  timesWithin(receivedDeliveries, { receivedAt: 0 }),
]
