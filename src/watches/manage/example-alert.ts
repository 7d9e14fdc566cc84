import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { isAtLeast, SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { exampleSeverity } from '../evaluate/usual-severity.ts'
import { exampleData } from '../example-data.ts'
import { completeSignals, SignalChoices } from '../model.ts'
import * as store from '../store.ts'
import { getWatchType, LEDGER_WATCH_TYPES } from '../types/index.ts'

/**
 * An example alert of the wallet's newest watch that notifies a recipient: of the watch's first enabled signal whose
 * alerts the watch sends, or else of its first signal. For groups, watches of the ledger are left out, because groups
 * get no alerts about it.
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
  const exceptTypes = recipient.isGroup ? LEDGER_WATCH_TYPES.map(({ name }) => name) : []
  const id = await store.findNewestWatchNotifying(db, caller.wallet, {
    ...recipient,
    exceptTypes,
    watchId,
  })
  const row = id === undefined ? undefined : await store.findWatch(db, caller.wallet, id)
  if (row === undefined) return undefined
  const type = getWatchType(row.type)
  const choices = completeSignals(type.signals, SignalChoices.parse(row.signals), row.settings)
  const minSeverity = z.enum(SEVERITIES).parse(row.minSeverity)
  const examples = choices.flatMap((choice) => {
    const signal = type.signals.find((entry) => entry.id === choice.id)
    const event = signal?.events.alerts[0]
    if (signal === undefined || event === undefined) return []
    const data = exampleData(type, signal, event, { ...row, ...choice }, clock.now())
    const severity = exampleSeverity(signal, { event, data, minSeverity })
    return [{ isEnabled: choice.enabled, event, severity, data }]
  })
  const enabled = examples.filter(({ isEnabled }) => isEnabled)
  const sent = enabled.find(({ severity }) => isAtLeast(severity, minSeverity))
  const example = sent ?? enabled[0] ?? examples[0]
  return example && { ...example, id: row.id, label: row.label }
}

/** An example of an alert of a watch. */
interface ExampleAlert {
  readonly id: number
  readonly label: string
  readonly event: string
  /** The severity that the watch's real alert has. */
  readonly severity: Severity
  readonly data: JsonObject
}
