/** Progress of observing a watch type in the slices of this process. */
import type { Db } from '#src/db/connection.ts'
import { FenceError } from '#src/db/leases.ts'
import { type HeldSlices, SLICES } from '#src/db/slices.ts'
import * as store from '../slice-cursor-store.ts'
import type { ObservationCursor } from '../target-store.ts'

/** Slices that were observed up to the same block, so that their targets are observed together. */
export interface SliceGroup {
  readonly slices: readonly number[]
  readonly cursor: GroupProgress
}

/** Progress of the slices of a group. */
export type GroupProgress = Pick<ObservationCursor, 'blockNumber' | 'blockAt'>

const NEVER: GroupProgress = { blockNumber: null, blockAt: null }
/** Time after which progress is written before anything else is observed. */
const WRITE_AFTER_MS = 100

/**
 * Reads the progress of all types in these slices.
 *
 * @returns function that groups the slices of a type by the block up to which they were observed
 */
export async function readSliceGroups(
  db: Db,
  held: readonly number[],
): Promise<(type: string) => readonly SliceGroup[]> {
  const cursors = await store.listSliceCursors(db, held)
  return (type) => {
    const cursorOfSlice = new Map(
      cursors.flatMap((cursor) =>
        cursor.type === type ? cursor.slices.map((slice) => [slice, cursor] as const) : [],
      ),
    )
    return groupsOf(held, (slice) => cursorOfSlice.get(slice) ?? NEVER)
  }
}

function groupsOf(
  held: readonly number[],
  cursorOf: (slice: number) => GroupProgress,
): readonly SliceGroup[] {
  const groups = new Map<number | null, { slices: number[]; cursor: GroupProgress }>()
  for (const slice of held) {
    const cursor = cursorOf(slice)
    const group = groups.get(cursor.blockNumber) ?? { slices: [], cursor }
    groups.set(cursor.blockNumber, group)
    group.slices.push(slice)
  }
  return [...groups.values()]
}

/** Progress of a pass that is not written yet. */
export interface PassProgress {
  /** Adds progress of a group. It replaces unwritten progress of the group. */
  add(seen: store.ObservedSlices): void
  /** Writes the progress of the slices that this process still holds, if the oldest waits for long. */
  writeSoon(): Promise<void>
  /** Writes the progress at once. */
  write(): Promise<void>
}

/**
 * Collects the progress of a pass, so that quick types share a transaction. What is lost when the process dies is
 * observed again, and nothing is recorded twice.
 */
export function createPassProgress(deps: {
  readonly db: Db
  readonly slices: HeldSlices
}): PassProgress {
  let waiting = new Map<string, store.ObservedSlices>()
  let since = 0

  async function write(): Promise<void> {
    const all = [...waiting.values()]
    waiting = new Map()
    if (all.length > 0) await saveHeld(deps, all)
  }

  return {
    add(seen) {
      if (waiting.size === 0) since = performance.now()
      const group = `${seen.type} ${seen.slices[0]}`
      waiting.set(group, seen)
    },
    async writeSoon() {
      if (performance.now() - since >= WRITE_AFTER_MS) await write()
    },
    write,
  }
}

async function saveHeld(
  { db, slices }: { readonly db: Db; readonly slices: HeldSlices },
  all: readonly store.ObservedSlices[],
): Promise<void> {
  for (let tries = 0; tries <= SLICES; tries += 1) {
    const seen = all
      .map((slicesSeen) => ({ ...slicesSeen, slices: slicesSeen.slices.filter(slices.isHeld) }))
      .filter((slicesSeen) => slicesSeen.slices.length > 0)
    if (seen.length === 0) return
    const held = [...new Set(seen.flatMap((slicesSeen) => slicesSeen.slices))]
    try {
      return await slices.fenceOf(held).transact(db, (tx) => store.saveSliceCursors(tx, seen))
    } catch (error) {
      // This process has lost the slice; the other slices are written.
      if (!(error instanceof FenceError)) throw error
    }
  }
}
