/** The fields of watches that notifications need: recipients, open episodes, mutes. */
import type { Db } from '#src/db/connection.ts'
import { completeSignals, SignalChoices } from './model.ts'
import type { EndedMute, WatchForNotification } from './notification-model.ts'
import * as store from './notification-store.ts'
import { findWatchType } from './types/index.ts'

/** Watches by id; deleted watches are missing. */
export async function listForNotification(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, WatchForNotification>> {
  const rows = ids.length === 0 ? [] : await store.listForNotification(db, [...new Set(ids)])
  return new Map(
    rows.map(({ type, signals, settings, firing, ...row }) => {
      const off = switchedOff(type, signals, settings)
      return [
        row.id,
        { ...row, firing: firing.filter((signal) => !off.has(signal)), off: [...off] },
      ]
    }),
  )
}

/** Ids of the type's signals that these choices disable, or that the settings do not ask for. */
function switchedOff(typeName: string, signals: unknown, settings: unknown): ReadonlySet<string> {
  const type = findWatchType(typeName)
  const choices = SignalChoices.safeParse(signals)
  if (type === undefined || !choices.success) return new Set()
  const complete = completeSignals(type.signals, choices.data, settings)
  const on = new Set(complete.flatMap(({ id, enabled }) => (enabled ? [id] : [])))
  return new Set(type.signals.flatMap(({ id }) => (on.has(id) ? [] : [id])))
}

export { areTargetsOfOtherBalanceWatches, ENDED_MUTES } from './notification-store.ts'

/**
 * Removes the ended mutes of these watches.
 * @returns the watches whose mute this call removed
 */
export function endMutes(
  tx: Db,
  watchIds: readonly number[],
  now: Date,
): Promise<readonly EndedMute[]> {
  return store.endMutes(tx, watchIds, now)
}
