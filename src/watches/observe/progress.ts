import type { Db } from '#src/db/connection.ts'
import * as store from '../target-store.ts'

/** Progress of reading the chain and of evaluating its watches, over all processes. */
export interface ObservationProgress {
  /** The newest confirmed block; undefined before the first is read. */
  readonly head: { readonly block: number; readonly at: Date } | undefined
  readonly types: readonly {
    readonly type: string
    readonly observedAt: Date | null
    /** Time since which the type's data cannot be read; null while it can be read. */
    readonly failingSince: Date | null
  }[]
}

/** Reads the stored progress: one row for each watch type. */
export async function readObservationProgress(db: Db): Promise<ObservationProgress> {
  const cursors = await store.listObservationCursors(db)
  const tip = cursors.find(({ type }) => type === store.TIP_CURSOR)
  const hasHead = tip?.blockNumber != null && tip.blockAt !== null
  return {
    head: hasHead ? { block: tip.blockNumber ?? 0, at: tip.blockAt ?? new Date(0) } : undefined,
    types: cursors.filter(({ type }) => type !== store.TIP_CURSOR),
  }
}
