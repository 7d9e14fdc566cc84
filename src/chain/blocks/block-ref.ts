import type { Hash } from '#src/kernel/units.ts'

/** Reference to a block: enough to identify the block and to notice that it was replaced. */
export interface BlockRef {
  readonly number: number
  readonly hash: Hash
  /** Time of the block, in whole seconds. */
  readonly at: Date
}
