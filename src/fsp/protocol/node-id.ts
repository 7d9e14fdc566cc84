import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import type { Hex } from 'viem'

const CHECKSUM_BYTES = 4

/** Text form of a validator's id: `NodeID-` and base 58 of its 20 bytes with a checksum. */
export function nodeIdOf(bytes20: Hex): string {
  const id = Buffer.from(bytes20.slice(2), 'hex')
  const checksum = createHash('sha256').update(id).digest().subarray(-CHECKSUM_BYTES)
  return `NodeID-${base58.encode(Buffer.concat([id, checksum]))}`
}
