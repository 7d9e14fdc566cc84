import fc from 'fast-check'
import * as viem from 'viem'
import { expect, test } from 'vitest'
import { keccak256, keccakBytes } from './keccak.ts'

test('the hash of any bytes equals the one of viem', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat({ max: 40 }), (bytes, from) => {
      // A part of a larger array too, as of a transaction.
      for (const input of [bytes, bytes.subarray(from)]) {
        expect(keccak256(input)).toBe(viem.keccak256(input))
        expect(viem.toHex(keccakBytes(input))).toBe(viem.keccak256(input))
      }
    }),
  )
})

test('a hash stays unchanged while others are computed', () => {
  const first = keccakBytes(new Uint8Array([1]))
  const before = viem.toHex(first)
  keccakBytes(new Uint8Array([2]))
  expect(viem.toHex(first)).toBe(before)
})
