/** The other open alerts of a watch, which the page of an alert acknowledges and unacknowledges together with its own. */
import type { Db } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { OPEN_OTHERS_MAX } from '../model.ts'
import { episodeKeyOf, mayBeAcknowledged } from '../rules.ts'
import * as store from '../store.ts'

/**
 * The open alerts of an alert's watch within a day before and after it that were delivered to the recipient. Later ones
 * are left out, so that an old link does not act on new outages. Those that nobody has acknowledged come first: acts on
 * more alerts than fit reach all of them one after the other.
 */
export async function listOpenOthers(
  db: Db,
  { id, watchId, wallet, firedAt }: store.AlertRow,
  recipientId: number,
): Promise<readonly store.AlertRow[]> {
  const openAlerts = (await store.listOpenOfWatches(db, [watchId])).filter(
    (other) =>
      other.id !== id &&
      other.wallet === wallet &&
      Math.abs(other.firedAt.getTime() - firedAt.getTime()) <= DAY_MS,
  )
  const deliveries = await delivery.listForAlerts(
    db,
    openAlerts.map((other) => other.id),
  )
  const delivered = openAlerts.filter((other) =>
    deliveries
      .get(other.id)
      ?.some((entry) => entry.recipientId === recipientId && entry.deliveredAt !== null),
  )
  const unacknowledgedFirst = [
    ...delivered.filter(mayBeAcknowledged),
    ...delivered.filter((other) => !mayBeAcknowledged(other)),
  ]
  return unacknowledgedFirst.slice(0, OPEN_OTHERS_MAX)
}

/**
 * Those of the alerts for which an act is possible, one of each episode, other than the given alert's episode if the
 * act is possible for it, too.
 */
export function oneOfEachEpisode(
  row: store.AlertRow,
  others: readonly store.AlertRow[],
  may: (row: store.AlertRow) => boolean,
): readonly store.AlertRow[] {
  const keyOf = ({ signal, event, data }: store.AlertRow) =>
    `${signal} ${episodeKeyOf({ event, data: JsonObject.catch({}).parse(data) })}`
  const ownKeys = may(row) && row.isEpisode ? [keyOf(row)] : []
  const byEpisode = new Map(others.filter(may).map((other) => [keyOf(other), other]))
  for (const key of ownKeys) byEpisode.delete(key)
  return [...byEpisode.values()]
}
