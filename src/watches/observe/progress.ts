import type { Db } from '#src/db/connection.ts'
import { earliest } from '../outage/monitoring.ts'
import * as store from '../target-store.ts'

/** Progress of reading the chain and of evaluating its watches, over all processes. */
export interface Progress {
  /** The newest confirmed block; undefined before the first. */
  readonly head: { readonly block: number; readonly at: Date } | undefined
  readonly types: readonly {
    readonly type: string
    readonly observedAt: Date | null
    /** Time since which it has not been observed; null while it is. */
    readonly failingSince: Date | null
  }[]
}

/** Reads the stored progress: one row for each watch type. */
export async function readProgress(db: Db): Promise<Progress> {
  const cursors = await store.cursorsByName(db)
  const tip = cursors.get(store.TIP)
  const hasHead = tip?.blockNumber != null && tip.blockAt !== null
  const behind = new Set([...cursors.keys()].map(store.behindName))
  return {
    head: hasHead ? { block: tip.blockNumber ?? 0, at: tip.blockAt ?? new Date(0) } : undefined,
    types: [...cursors.values()].flatMap(({ type, observedAt, failingSince }) => {
      if (type === store.TIP || behind.has(type)) return []
      const behindSince = cursors.get(store.behindName(type))?.failingSince
      return { type, observedAt, failingSince: earliest(failingSince, behindSince) }
    }),
  }
}
