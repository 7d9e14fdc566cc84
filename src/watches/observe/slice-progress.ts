/** Progress of observing a watch type in the slices of this process. */
import type { Db } from '#src/db/connection.ts'
import { FenceError } from '#src/db/lock.ts'
import { type HeldSlices, SLICES } from '#src/db/slices.ts'
import * as store from '../target-store.ts'

/** Slices that were observed up to the same block, so that their targets are observed together. */
export interface SliceGroup {
  readonly slices: readonly number[]
  readonly cursor: SliceCursor
}

/** Progress of the slices of a group. */
export type SliceCursor = Pick<
  store.Cursor,
  'blockNumber' | 'blockAt' | 'failingSince' | 'checkedAt'
>

const NEVER: SliceCursor = {
  blockNumber: null,
  blockAt: null,
  failingSince: null,
  checkedAt: null,
}

/**
 * Groups slices by the block up to which they were observed. A slice counts as observed at least up to the
 * block of its type, because the previous release observed whole types.
 */
export async function groupSlices(
  db: Db,
  type: string,
  held: readonly number[],
): Promise<readonly SliceGroup[]> {
  const { type: whole, slices } = await store.readProgress(db, type)
  const cursors = new Map(slices.map((cursor) => [cursor.slice, cursor]))
  const groups = new Map<number | null, { slices: number[]; cursor: SliceCursor }>()
  for (const slice of held) {
    const cursor = furthest(cursors.get(slice), whole)
    const group = groups.get(cursor.blockNumber) ?? { slices: [], cursor }
    groups.set(cursor.blockNumber, group)
    group.slices.push(slice)
    // If one slice of a group is failing, the whole group counts as failing.
    if (group.cursor.failingSince === null) group.cursor = cursor
  }
  return [...groups.values()]
}

function furthest(own: SliceCursor | undefined, whole: store.Cursor | undefined): SliceCursor {
  const isBehind = (own?.blockNumber ?? -1) < (whole?.blockNumber ?? -1)
  const cursor = (isBehind ? whole : (own ?? whole)) ?? NEVER
  // While the outage of a type is notified, the next successful observation has to end the outage.
  const isOut = whole?.outageSeverity != null
  return { ...cursor, failingSince: cursor.failingSince ?? (isOut ? whole.failingSince : null) }
}

/** Writes the progress of the slices that this process still holds. */
export async function saveProgress(
  { db, slices }: { readonly db: Db; readonly slices: HeldSlices },
  type: string,
  group: readonly number[],
  seen: Parameters<typeof store.saveSliceCursors>[3],
): Promise<void> {
  for (let tries = 0; tries <= SLICES; tries += 1) {
    const held = group.filter(slices.isHeld)
    if (held.length === 0) return
    try {
      return await slices
        .fenceOf(held)
        .transact(db, (tx) => store.saveSliceCursors(tx, type, held, seen))
    } catch (error) {
      // This process has lost the slice; the other slices are written.
      if (!(error instanceof FenceError)) throw error
    }
  }
}
