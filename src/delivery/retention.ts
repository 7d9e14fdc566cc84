import type { Db } from '#src/db/connection.ts'
import { arrangePartitions, type TimedTable } from '#src/db/partitions.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { lowestDeliveryId } from './delivery-id.ts'
import { deletePictures } from './pictures/picture-store.ts'

/** Days for which deliveries that are over and their messages are stored. */
export const RETENTION_DAYS = 30
/** Days per partition. */
const PARTITION_DAYS = 7

const common = {
  days: PARTITION_DAYS,
  retentionDays: RETENTION_DAYS,
  key: 'id',
  lowest: lowestDeliveryId,
} as const

const TABLES: readonly TimedTable[] = [
  { ...common, name: 'delivery_log', age: 'created_at' },
  { ...common, name: 'sent_messages', age: 'sent_at' },
]

/**
 * Creates partitions for the log of deliveries and for their messages, and drops those older than 30 days, with the rows
 * of their pictures. What is unfinished is in no partition, so it stays.
 */
export async function dropOldDeliveries(deps: {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}): Promise<void> {
  for (const table of TABLES) await arrangePartitions(deps, table)
  await deletePictures(deps.db, new Date(deps.clock.now().getTime() - RETENTION_DAYS * DAY_MS))
}
