import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { exampleData } from '../example-data.ts'
import { completeSignals } from '../model.ts'
import * as store from '../store.ts'
import { getWatchType, LEDGER_WATCH_TYPES } from '../types/index.ts'
import { SignalChoices } from './watch-view.ts'

/**
 * An example alert of the wallet's newest watch that notifies a recipient: of the watch's first enabled signal, or else
 * of its first signal. For groups, watches of the ledger are left out, because groups get no alerts about it.
 *
 * @param watchId restricts the search to this watch
 * @returns undefined if there is no such watch
 */
export async function findExampleAlert(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  recipient: { readonly id: number; readonly byDefault: boolean; readonly isGroup: boolean },
  watchId?: number,
): Promise<ExampleAlert | undefined> {
  const without = recipient.isGroup ? LEDGER_WATCH_TYPES.map(({ name }) => name) : []
  const id = await store.findNewestWatchOf(db, caller.wallet, { ...recipient, without, watchId })
  const row = id === undefined ? undefined : await store.findWatch(db, caller.wallet, id)
  if (row === undefined) return undefined
  const type = getWatchType(row.type)
  const choices = completeSignals(type.signals, SignalChoices.parse(row.signals))
  const chosen = choices.find(({ enabled }) => enabled) ?? choices[0]
  const signal = type.signals.find((signal) => signal.id === chosen?.id)
  const event = signal?.events.alerts[0]
  if (chosen === undefined || signal === undefined || event === undefined) return undefined
  const data = exampleData(type, signal, event, { ...row, ...chosen }, clock.now())
  return { id: row.id, label: row.label, event, data }
}

/** An example of an alert of a watch. */
interface ExampleAlert {
  readonly id: number
  readonly label: string
  readonly event: string
  readonly data: JsonObject
}
