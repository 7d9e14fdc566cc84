import type { Hex } from 'viem'
import type { Hash } from '#src/kernel/units.ts'
import type { BlockRef } from './chain.ts'

/** A block of a span. */
export interface SpanBlock {
  readonly ref: BlockRef
  readonly logsBloom: Hex
  readonly receiptsRoot: Hash
  /** As in the JSON-RPC answer, in order; only their hashes in a span without transactions. */
  readonly transactions: readonly unknown[]
  /** false: endpoints contradict each other about its content, so it proves nothing. */
  readonly isSure: boolean
}
