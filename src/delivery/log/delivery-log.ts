/** Log of the messages to one recipient, for its owner. */
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { type Page, readCursor, writeCursor } from '#src/kernel/pagination.ts'
import { ID_MAX, INSTANT_MS_MAX } from '#src/kernel/units.ts'
import * as store from './delivery-log-store.ts'

/** One message to a recipient and its result. */
export type DeliveryLogEntry = store.DeliveryLogRow

/** List that a cursor of the log is bound to. */
const LIST = 'deliveries'

/**
 * Deliveries to a recipient of the wallet, newest first; empty for recipients of other wallets.
 *
 * @throws AppError invalid `validation_failed` for an invalid cursor
 */
export async function listDeliveryLog(
  deps: { readonly db: Db },
  caller: Caller,
  input: {
    readonly recipientId: number
    readonly limit: number
    readonly cursor?: string | undefined
  },
): Promise<Page<DeliveryLogEntry>> {
  const { recipientId, limit, cursor } = input
  // Rows of one instant are sorted by their ids, but a cursor holds only the instant, so it also counts the
  // rows of it already listed.
  const [untilMs, skip = 0] = readCursor(cursor, [INSTANT_MS_MAX, ID_MAX], LIST) ?? []
  const rows = await store.listDeliveryLog(
    deps.db,
    { wallet: caller.wallet, recipientId },
    { until: untilMs === undefined ? undefined : new Date(untilMs), skip, limit: limit + 1 },
  )
  const data = rows.slice(0, limit)
  const lastMs = data.at(-1)?.createdAt.getTime()
  if (rows.length <= limit || lastMs === undefined) return { data, nextCursor: null }
  const same = data.filter(({ createdAt }) => createdAt.getTime() === lastMs).length
  const passed = untilMs === lastMs ? skip + same : same
  return { data, nextCursor: writeCursor([lastMs, passed], LIST) }
}

/**
 * Number of deliveries to a recipient of the wallet that failed during the last day, temporarily or
 * permanently.
 */
export function countFailures(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  recipientId: number,
): Promise<number> {
  const since = new Date(deps.clock.now().getTime() - DAY_MS)
  return store.countFailedDeliveries(deps.db, { wallet: caller.wallet, recipientId }, since)
}

/** Deletes all sent and unsent messages of these recipients. */
export function deleteMessagesOfRecipients(tx: Db, recipientIds: readonly number[]): Promise<void> {
  return store.deleteDeliveriesOfRecipients(tx, recipientIds)
}

/** Removes these names of people who have acknowledged from the recoveries among these alerts, sent or not. */
export async function removeTakers(
  tx: Db,
  alertIds: readonly number[],
  names: readonly string[],
): Promise<void> {
  if (alertIds.length > 0 && names.length > 0) await store.removeTakers(tx, alertIds, names)
}
