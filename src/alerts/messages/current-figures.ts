/** Alerts with their figures of now or of their end: an alert is recorded once, while its outage goes on. */
import type { CurrentFigures } from '#src/channels/envelope.ts'
import type { Db } from '#src/db/connection.ts'
import { titleOnChain } from '#src/kernel/chains.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { dataAtEnd, listCurrentData } from '#src/watches/current-data.ts'
import { recordedFromRow } from '../recorded-alert.ts'
import { isOpenEpisode } from '../rules.ts'
import type { AlertRow } from '../store.ts'
import * as store from '../store.ts'
import { hasRecovered } from './outage-times.ts'
import { type Reader, renderFields, renderTitle } from './render.ts'

/**
 * These alerts in the same order. The data of those that are open has figures of now, such as the number of rounds
 * that have failed so far; that of those that have recovered has the figures at their end.
 *
 * @param known the recoveries of these alerts, if they are read already
 */
export async function withCurrentFigures(
  db: Db,
  rows: readonly AlertRow[],
  known?: ReadonlyMap<number, AlertRow>,
): Promise<readonly AlertRow[]> {
  const recoveries = known ?? (await store.listRecoveries(db, rows.filter(hasRecovered)))
  const readable = rows.flatMap((row) => {
    const data = JsonObject.safeParse(row.data)
    return data.success ? [{ ...row, data: data.data }] : []
  })
  const open = readable.filter(isOpenEpisode)
  const current = await listCurrentData(db, open)
  const shown = new Map([
    ...readable.map(({ id, event, data }) => {
      const recovery = recoveries.get(id)
      return [id, recovery === undefined ? data : dataAtEnd(event, data, recovery.data)] as const
    }),
    ...open.map(({ id, data }, index) => [id, current[index] ?? data] as const),
  ])
  return rows.map((row) => ({ ...row, data: shown.get(row.id) ?? row.data }))
}

/**
 * Figures of an alert that is open or has recovered for the messages that show it; undefined for another alert, or one
 * that cannot be rendered.
 */
export function currentFiguresOf(row: AlertRow, reader: Reader): CurrentFigures | undefined {
  if (!isOpenEpisode(row) && !(row.isEpisode && hasRecovered(row))) return undefined
  try {
    const current = recordedFromRow(row)
    return {
      title: titleOnChain(renderTitle(current, reader)),
      fields: renderFields(current, reader),
      data: current.data,
    }
  } catch {
    return undefined
  }
}
