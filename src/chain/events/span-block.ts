import type { Hex } from 'viem'
import type { Hash } from '#src/kernel/units.ts'
import type { BlockRef } from '../blocks/block-ref.ts'

/** A block of a span. */
export interface SpanBlock {
  readonly ref: BlockRef
  readonly logsBloom: Hex
  readonly receiptsRoot: Hash
  /** As in the JSON-RPC result, in order; only hashes in a span that is read without transactions. */
  readonly transactions: readonly unknown[]
  /**
   * False if endpoints contradict each other about the block's content, so that the block proves nothing.
   */
  readonly isSure: boolean
}
