/** Watches as those who tell of them see them: whom to tell, whether it still fires, whether it is muted. */
import type { Db } from '#src/db/connection.ts'
import type { EvaluatedWatch } from './model.ts'
import * as store from './told-store.ts'

/** A watch and how its signals stand. */
export interface ToldWatch
  extends Pick<
    EvaluatedWatch,
    'id' | 'wallet' | 'label' | 'recipientIds' | 'minSeverity' | 'mutedUntil'
  > {
  /** Neither paused nor suspended. */
  readonly isJudged: boolean
  /** Signals whose episode is open. */
  readonly firing: readonly string[]
}

/** These watches by id; those that were deleted are missing. */
export async function listTold(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ToldWatch>> {
  const rows = ids.length === 0 ? [] : await store.listTold(db, [...new Set(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}

/** Ends the mutes that are over, at most `limit`. @returns the ids of their watches */
export function endMutes(tx: Db, now: Date, limit: number): Promise<number[]> {
  return store.endMutes(tx, now, limit)
}
