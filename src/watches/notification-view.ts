/** Watches as those who tell of them see them: whom to tell, whether it still fires, whether it is muted. */
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { completeSignals, SignalChoice } from './model.ts'
import type { EndedMute, WatchForNotification } from './notification-model.ts'
import * as store from './notification-store.ts'
import { findWatchType } from './types/index.ts'

/** These watches by id; those that were deleted are missing. */
export async function listForNotification(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, WatchForNotification>> {
  const rows = ids.length === 0 ? [] : await store.listForNotification(db, [...new Set(ids)])
  return new Map(
    rows.map(({ type, signals, firing, ...row }) => {
      const off = switchedOff(type, signals)
      return [
        row.id,
        { ...row, firing: firing.filter((signal) => !off.has(signal)), off: [...off] },
      ]
    }),
  )
}

/** Ids of the type's signals that a watch with these choices has switched off. */
function switchedOff(typeName: string, signals: unknown): ReadonlySet<string> {
  const type = findWatchType(typeName)
  const choices = Choices.safeParse(signals)
  if (type === undefined || !choices.success) return new Set()
  const complete = completeSignals(type.signals, choices.data)
  return new Set(complete.flatMap(({ id, enabled }) => (enabled ? [] : [id])))
}

const Choices = z.array(SignalChoice)

/** Watches that are judged and whose mutes are over, at most `limit`, the longest over first. */
export function listEndedMutes(db: Db, now: Date, limit: number): Promise<readonly number[]> {
  return store.listEndedMutes(db, now, limit)
}

/** Ends the mutes of these watches that are over. @returns those that this ended */
export function endMutes(
  tx: Db,
  watchIds: readonly number[],
  now: Date,
): Promise<readonly EndedMute[]> {
  return store.endMutes(tx, watchIds, now)
}
