import fc from 'fast-check'
import {
  bytesToHex,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
} from 'viem'
import { expect, test } from 'vitest'
import { acceptedFeedsMax, decodeUpdate, feedsCovered, signerOfUpdate } from './fast-update.ts'

/** Computed with viem, for the key of 32 bytes 0x46. */
const SIGNER = '0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F'
const UPDATE = {
  sortitionBlock: 70_000_000n,
  sortitionCredential: { replicate: 3n, gamma: { x: 1n, y: 2n }, c: 5n, s: 7n },
  deltas: '0x0e17ff',
  signature: {
    v: 27,
    r: '0xb112750149f91f55aa3f2532f7511c0ba8a4466b3196e2459f2c0d30dd60069c',
    s: '0x112e6453db7ed2b5c24cdb9f70dcbabd31e044087524de82e6e86a74ddf0cebc',
  },
} as const

const ABI = parseAbi([
  'struct G1Point { uint256 x; uint256 y; }',
  'struct SortitionCredential { uint256 replicate; G1Point gamma; uint256 c; uint256 s; }',
  'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
  'struct FastUpdates { uint256 sortitionBlock; SortitionCredential sortitionCredential; bytes deltas; Signature signature; }',
  'function submitAndPass(bytes data) returns (bool)',
  'function submitUpdates(FastUpdates updates)',
])

function direct(deltas: Hex = UPDATE.deltas): Hex {
  return encodeFunctionData({
    abi: ABI,
    functionName: 'submitUpdates',
    args: [{ ...UPDATE, deltas }],
  })
}
function passed(deltas: Hex = UPDATE.deltas): Hex {
  const data: Hex = `0x${direct(deltas).slice(10)}`
  return encodeFunctionData({ abi: ABI, functionName: 'submitAndPass', args: [data] })
}

test.each([
  ['through Submission', passed()],
  ['to the FastUpdater itself', direct()],
])('an update that was sent %s is decoded, and its signature says whose it is', (_way, input) => {
  const update = decodeUpdate(input)
  expect(update).toEqual(UPDATE)
  expect(update && signerOfUpdate(update)).toBe(SIGNER)
})

test('a signature for other changes names somebody else', () => {
  const other = decodeUpdate(passed('0x0e17fe'))
  expect(other && signerOfUpdate(other)).not.toBe(SIGNER)
})

test.each([
  ['0x', 0],
  // Pairs of zeros fill the last byte: the update may be for one feed, or for four that do not change.
  ['0x00', 1],
  ['0x40', 1],
  ['0x10', 2],
  ['0x04', 3],
  ['0x01', 4],
  ['0xc0', 1],
  ['0x03', 4],
  ['0x0000', 5],
  ['0xffff', 8],
  ['0x0e17ff', 12],
  [`0x${'00'.repeat(15)}fc`, 63],
  [`0x${'00'.repeat(15)}ff`, 64],
  [`0x${'00'.repeat(16)}`, 61],
] as const)('an update of %s covers %i feeds', (deltas, feeds) => {
  expect(feedsCovered({ deltas })).toBe(feeds)
})

test('an update that has no more bytes than the feeds need, and no bits beyond them, is not too long', () => {
  const changes = fc
    .integer({ min: 1, max: 200 })
    .chain((feeds) =>
      fc.tuple(
        fc.constant(feeds),
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: feeds, maxLength: feeds }),
        fc.integer({ min: 1, max: 40 }),
      ),
    )
  fc.assert(
    fc.property(changes, ([feeds, pairs, more]) => {
      expect(feedsCovered({ deltas: packed(pairs) })).toBeLessThanOrEqual(feeds)
      const beyond = [...pairs, ...Array.from({ length: more }, () => 0), 1]
      expect(feedsCovered({ deltas: packed(beyond) })).toBe(beyond.length)
    }),
  )
})

function packed(pairs: readonly number[]): Hex {
  const bytes = new Uint8Array(Math.ceil(pairs.length / 4))
  for (const [index, pair] of pairs.entries()) {
    bytes[index >> 2] = (bytes[index >> 2] ?? 0) | (pair << (2 * (3 - (index % 4))))
  }
  return bytesToHex(bytes)
}

test.each([
  [63, 64],
  [64, 64],
  [57, 64],
  [9, 16],
  [0, 0],
])('with %i feeds the contract accepts updates for %i', (count, accepted) => {
  expect(acceptedFeedsMax(count)).toBe(accepted)
})

test('other calldata and half an update are none', () => {
  const input = passed()
  const longText = encodeAbiParameters([{ type: 'bytes' }], [`0x${'ab'.repeat(500)}`])
  for (const other of [
    '0x',
    '0x833bf6c0',
    input.slice(0, 400),
    input.slice(0, -64),
    concatHex(['0x833bf6c0', longText]),
    `0x833bf6c0${'ff'.repeat(96)}`,
    `0x6c532fae${input.slice(10)}`,
  ]) {
    expect(decodeUpdate(other)).toBeUndefined()
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
      decodeUpdate(concatHex(['0x470e91df', bytesToHex(bytes)]))
    }),
  )
})
