import type { Db } from '#src/db/connection.ts'
import { findCursor, TIP } from '../target-store.ts'

/** How far the chain has been read. */
export interface TipState {
  /** The newest block that was believed, with its own time; null before the first. */
  readonly block: { readonly number: number; readonly at: Date } | null
  /** Since when there is no answer or no new block; null while there is. */
  readonly failingSince: Date | null
}

/** What watches are judged by now. */
export async function readTip({ db }: { readonly db: Db }): Promise<TipState> {
  const cursor = await findCursor(db, TIP)
  const { blockNumber = null, blockAt = null, failingSince = null } = cursor ?? {}
  const block =
    blockNumber === null || blockAt === null ? null : { number: blockNumber, at: blockAt }
  return { block, failingSince }
}
