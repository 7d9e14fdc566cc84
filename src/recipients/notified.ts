/** Who hears of what concerns the service itself. */
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { isGroup } from './linked.ts'
import type { NotificationTarget } from './model.ts'
import * as store from './store.ts'

/** Somebody who is told by default. */
export type Notified = Omit<NotificationTarget, 'off'>

/**
 * The wallet's own channels and its default recipients that are on, by id; webhooks are for alerts
 * alone. Their lowest severity is about alerts and does not count here.
 */
export async function listNotified(db: Db, wallet: Address): Promise<readonly Notified[]> {
  const rows = await store.listByDefault(db, wallet)
  return rows
    .filter(({ channel, status }) => channel !== 'webhook' && status === 'active')
    .map((row) => {
      const { id, channel, partitionKey, locale, timezone, mutedUntil } = row
      return { id, channel, partitionKey, locale, timezone, mutedUntil, isGroup: isGroup(row) }
    })
}
