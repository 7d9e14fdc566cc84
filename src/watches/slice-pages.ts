/** Reads the targets of slices page by page. */
import { hash } from 'node:crypto'
import type { Db } from '#src/db/connection.ts'
import { SLICES } from '#src/db/slices.ts'
import * as store from './target-store.ts'

/** The watched targets of a type in these slices, `limit` at a time. */
export async function* readTargetPages(
  db: Db,
  type: string,
  slices: readonly number[],
  limit: number,
): AsyncGenerator<readonly store.TargetRow[]> {
  let pages: readonly store.SlicePage[] = slices.map((slice) => ({ slice, after: 0 }))
  let waiting: store.TargetRow[] = []
  while (pages.length > 0) {
    const rowsPerSlice = Math.ceil(limit / pages.length)
    const rows = await store.listTargets(db, type, pages, rowsPerSlice)
    const rowsOfSlice = Map.groupBy(rows, ({ slice }) => slice)
    pages = pages.flatMap(({ slice }) => {
      const sliceRows = rowsOfSlice.get(slice) ?? []
      return sliceRows.length < rowsPerSlice
        ? []
        : [{ slice, after: Math.max(...sliceRows.map(({ id }) => id)) }]
    })
    waiting = [...waiting, ...rows]
    while (waiting.length >= limit) yield waiting.splice(0, limit)
  }
  if (waiting.length > 0) yield waiting
}

/**
 * The targets of a type in these slices whose watches must be judged even without a change, `limit` at a time (see
 * `listTargetsToJudge`).
 */
export async function* readPagesToJudge(
  db: Db,
  type: string,
  slices: readonly number[],
  limit: number,
): AsyncGenerator<readonly store.TargetRow[]> {
  for (let after = 0; ; ) {
    const rows = await store.listTargetsToJudge(db, type, slices, { after, limit })
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
    yield rows
  }
}

/** The slice of a target's key, as the database computes it (`sliceOfKey`). */
export function sliceOf(key: string): number {
  return hash('md5', key, 'buffer').readUInt8(0) % SLICES
}
