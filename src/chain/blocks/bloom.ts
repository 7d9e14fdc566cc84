import { type Hex, hexToBytes, size } from 'viem'
import { keccakBytes } from './keccak.ts'

const BLOOM_BYTES = 256

/**
 * Whether a block may contain an event with this address or topic, by the bloom filter of its header.
 *
 * A result of false is certain; true may be a false positive.
 *
 * @see Ethereum yellow paper, 4.3.1
 */
export function mayContainEvent(bloom: Hex, value: Hex): boolean {
  if (size(bloom) !== BLOOM_BYTES) return true
  const bits = hexToBytes(bloom)
  const hash = keccakBytes(hexToBytes(value))
  return [0, 2, 4].every((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) % (BLOOM_BYTES * 8)
    const byte = bits[BLOOM_BYTES - 1 - (bit >> 3)] ?? 0
    return (byte & (1 << (bit & 7))) !== 0
  })
}
