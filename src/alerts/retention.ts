import type { Db } from '#src/db/connection.ts'
import { arrangePartitions, type TimedTable } from '#src/db/partitions.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'

/** Number of days for which alerts are stored. */
const RETENTION_DAYS = 400
const PARTITION_DAYS = 50

const TABLE: TimedTable = {
  name: 'alerts',
  days: PARTITION_DAYS,
  retentionDays: RETENTION_DAYS,
  key: 'fired_at',
  lowest: (at) => at.toISOString(),
  age: 'created_at',
}

/** Creates partitions for future alerts, and deletes alerts older than 400 days. */
export async function dropOldAlerts(deps: {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}): Promise<void> {
  await arrangePartitions(deps, TABLE)
}
