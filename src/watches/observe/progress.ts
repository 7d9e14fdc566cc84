import type { Db } from '#src/db/connection.ts'
import { behindMs, standstillMs } from '../outage/standstill.ts'
import { TIP_CURSOR } from '../tables.ts'
import * as store from '../target-store.ts'
import { CHAIN_WATCH_TYPES } from '../types/index.ts'

/** Stored progress of reading the chain and of judging its watches, over all processes. */
export interface ObservationProgress {
  /** The newest confirmed block; undefined before the first is read. */
  readonly head: { readonly block: number; readonly at: Date } | undefined
  readonly cursors: readonly store.ObservationCursor[]
}

/** Progress before the first block was read. */
export const NO_PROGRESS: ObservationProgress = { head: undefined, cursors: [] }

/** Reads the stored progress: one row for each watch type that was ever observed. */
export async function readObservationProgress(db: Db): Promise<ObservationProgress> {
  const cursors = await store.listObservationCursors(db)
  const tip = cursors.find(({ type }) => type === TIP_CURSOR)
  const hasHead = tip?.blockNumber != null && tip.blockAt !== null
  return {
    head: hasHead ? { block: tip.blockNumber ?? 0, at: tip.blockAt ?? new Date(0) } : undefined,
    cursors,
  }
}

/** How far judging the watches of a type has come, in milliseconds. */
export interface TypeProgress {
  readonly type: string
  /** Time since they were last judged up to a newer block; before the first time, since the service has tried to. */
  readonly ageMs: number
  /** Time between the judged block and the newest confirmed block, by their own times. */
  readonly behindMs: number
  /**
   * Age of the block up to which they were judged, which also grows while no block is read; before the first, since the
   * service has tried to.
   */
  readonly blockAgeMs: number
  /** Time for which the type has had no current data, beyond the interval at which it is judged. */
  readonly stillMs: number
}

/**
 * How far judging each watch type has come. Types that were never judged are included.
 *
 * @param startedAt start of this process
 */
export function progressOfTypes(
  { head, cursors }: ObservationProgress,
  { startedAt, now }: { readonly startedAt: Date; readonly now: Date },
): readonly TypeProgress[] {
  return CHAIN_WATCH_TYPES.map((type) => {
    const cursor = cursors.find((row) => row.type === type.name)
    const since = cursor?.observedAt ?? cursor?.failingSince ?? startedAt
    const ageMs = Math.max(0, now.getTime() - since.getTime())
    const headAt = head?.at ?? null
    return {
      ...{ type: type.name, ageMs },
      behindMs: cursor?.blockAt == null ? ageMs : behindMs(cursor, headAt),
      blockAgeMs:
        cursor?.blockAt == null ? ageMs : Math.max(0, now.getTime() - cursor.blockAt.getTime()),
      stillMs: standstillMs(type, cursor, headAt, now) ?? ageMs,
    }
  })
}
