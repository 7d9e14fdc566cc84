/** Open alerts with their figures as they are now: an alert is recorded once, while its outage goes on. */
import type { CurrentFigures } from '#src/channels/envelope.ts'
import type { Db } from '#src/db/connection.ts'
import { titleOnChain } from '#src/kernel/chains.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { listCurrentData } from '#src/watches/current-data.ts'
import { recordedFromRow } from './recorded-alert.ts'
import { type Reader, renderTitle } from './render.ts'
import { isOpenEpisode } from './rules.ts'
import type { AlertRow } from './store.ts'

/**
 * These alerts in the same order. The data of those that are open has figures of now, such as the number of rounds
 * that have failed so far; the others are as they were recorded.
 */
export async function asOfNow(db: Db, rows: readonly AlertRow[]): Promise<readonly AlertRow[]> {
  const open = rows.filter(isOpenEpisode).flatMap(({ id, watchId, signal, event, data }) => {
    const known = JsonObject.safeParse(data)
    return known.success ? [{ id, watchId, signal, event, data: known.data }] : []
  })
  const data = await listCurrentData(db, open)
  const current = new Map(open.map(({ id }, index) => [id, data[index]]))
  return rows.map((row) => ({ ...row, data: current.get(row.id) ?? row.data }))
}

/** Figures of an open alert for the messages that show it; undefined for another alert, or one that cannot be rendered. */
export function figuresOf(row: AlertRow, reader: Reader): CurrentFigures | undefined {
  if (!isOpenEpisode(row)) return undefined
  try {
    const current = recordedFromRow(row)
    return { title: titleOnChain(renderTitle(current, reader)), data: current.data }
  } catch {
    return undefined
  }
}
