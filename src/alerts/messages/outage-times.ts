/** When the outages of stored alerts began and ended: the same times in messages, lists and pages. */
import { endedOutage, outageStart } from '#src/channels/card/outage.ts'
import type { Db } from '#src/db/connection.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'
import * as store from '../store.ts'

/** Start and end of the outage of an alert; `to` is null while the alert is open, and if it was closed. */
export interface OutageTimes {
  readonly from: Date
  readonly to: Date | null
}

/** The outages of these alerts, by id. The end of an outage is that which its recovery states. */
export async function readOutages(
  db: Db,
  rows: readonly store.AlertRow[],
): Promise<ReadonlyMap<number, OutageTimes>> {
  const recoveries = await store.listRecoveries(db, rows.filter(hasRecovered))
  return new Map(rows.map((row) => [row.id, outageTimesOf(row, recoveries.get(row.id))]))
}

/** The outage of an alert. @param recovery the recovery that ended it, if one is stored */
export function outageTimesOf(
  row: store.AlertRow,
  recovery: store.AlertRow | undefined,
): OutageTimes {
  if (recoveryRoleOf(row.event).isRecovery) return endedOutage(timesOf(row))
  const from = row.isEpisode ? outageStart(timesOf(row)) : row.firedAt
  if (!hasRecovered(row)) return { from, to: null }
  const to = recovery === undefined ? row.recoveredAt : endedOutage(timesOf(recovery)).to
  return { from, to: to !== null && to < from ? from : to }
}

/** Length of an outage in seconds; null if it has not ended. */
export function outageSeconds({ from, to }: OutageTimes): number | null {
  return to === null || to <= from ? null : (to.getTime() - from.getTime()) / 1000
}

/** Whether an alert is over, and not because its watch was deleted. */
export function hasRecovered({ recoveredAt, state }: store.AlertRow): boolean {
  return recoveredAt !== null && state !== 'closed'
}

function timesOf({ data, firedAt, startedAt }: store.AlertRow) {
  return { data: JsonObject.catch({}).parse(data), firedAt, startedAt }
}
