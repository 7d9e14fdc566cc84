import { STORED_TIMES as ofBot } from '#bot/core/stored-times.ts'
import { STORED_TIMES as ofAlerts } from '#src/alerts/stored-times.ts'
import { STORED_TIMES as ofTopups } from '#src/billing/topups/stored-times.ts'
import type { StoredTimes } from '#src/db/repair-times.ts'
import { STORED_TIMES as ofDelivery } from '#src/delivery/stored-times.ts'
import { STORED_TIMES as ofRounds } from '#src/fsp/indexer/stored-times.ts'
import { STORED_TIMES as ofOperations } from '#src/operations/stored-times.ts'
import { STORED_TIMES as ofRecipients } from '#src/recipients/stored-times.ts'
import { STORED_TIMES as ofWatches } from '#src/watches/stored-times.ts'

/** The stored times of all rooms, which a process repairs at its start. */
export const STORED_TIMES: readonly StoredTimes[] = [
  ...ofAlerts,
  ...ofBot,
  ...ofDelivery,
  ...ofOperations,
  ...ofRecipients,
  ...ofRounds,
  ...ofTopups,
  ...ofWatches,
]
