import type { Db } from '#src/db/connection.ts'
import { TIP_CURSOR } from '../tables.ts'
import { findObservationCursor } from '../target-store.ts'

/** State of reading the chain. */
export interface TipState {
  /** The newest confirmed block, with its time; null before the first is read. */
  readonly block: { readonly number: number; readonly at: Date } | null
  /** Time since which there has been no answer or no new block; null while the chain works. */
  readonly failingSince: Date | null
}

/** Reads the newest confirmed block and the state of reading. */
export async function readTip({ db }: { readonly db: Db }): Promise<TipState> {
  const cursor = await findObservationCursor(db, TIP_CURSOR)
  const { blockNumber = null, blockAt = null, failingSince = null } = cursor ?? {}
  const block =
    blockNumber === null || blockAt === null ? null : { number: blockNumber, at: blockAt }
  return { block, failingSince }
}
