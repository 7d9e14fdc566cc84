import { bytesToHex, type Hex, hexToBytes, keccak256, stringToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { mayContainEvent } from './bloom.ts'

const hundred = Array.from({ length: 100 }, (_, n) =>
  stringToHex(`xxxxxxxxxx data ${n} yyyyyyyyyyyyyy`),
)

describe('a bloom filter', () => {
  test('of a hundred known values equals the known filter', () => {
    // The values and the result of go-ethereum's core/types/bloom9_test.go.
    const known = '0xc8d3ca65cdb4874300a9e39475508f23ed6da09fdbc487f89a2dcf50b09eb263'
    expect(keccak256(bloomOf(hundred))).toBe(known)
  })

  test('contains every value that was added', () => {
    const bloom = bloomOf(hundred)
    for (const value of hundred) expect(mayContainEvent(bloom, value)).toBe(true)
  })

  test('seldom contains another value', () => {
    const bloom = bloomOf(hundred.slice(0, 50))
    expect(hundred.slice(50).filter((value) => mayContainEvent(bloom, value))).toEqual([])
    const empty: Hex = `0x${'00'.repeat(256)}`
    for (const value of hundred) expect(mayContainEvent(empty, value)).toBe(false)
  })

  test('that a node does not give may contain anything', () => {
    expect(mayContainEvent('0x', stringToHex('anything'))).toBe(true)
  })
})

/**
 * Bloom filter of values: three bits each, from eleven bits of the first, second and third pair of bytes of
 * the hash.
 */
function bloomOf(values: readonly Hex[]): Hex {
  let bits = 0n
  for (const value of values) {
    const hash = Buffer.from(hexToBytes(keccak256(value)))
    for (const at of [0, 2, 4]) bits |= 1n << BigInt(hash.readUInt16BE(at) & 2047)
  }
  return bytesToHex(Buffer.from(bits.toString(16).padStart(512, '0'), 'hex'))
}
