import { concat, encodePacked, type Hex, keccak256, pad, size, slice, toHex } from 'viem'
import { getAddress } from 'viem/utils'
import { expect, test } from 'vitest'
import { decodeSigningPolicy, signingPolicyHashes } from './signing-policy.ts'

const [ALPHA, BRAVO] = [1, 2].map((n) => getAddress(`0x${`${n}`.repeat(40)}`)) as [Hex, Hex]
const BYTES = concat([
  encodePacked(
    ['uint16', 'uint24', 'uint32', 'uint16', 'uint256'],
    [2, 452, 1_518_720, 32_768, 7n],
  ),
  encodePacked(['address', 'uint16'], [ALPHA, 40_000]),
  encodePacked(['address', 'uint16'], [BRAVO, 25_535]),
])

test('the bytes of a signing policy say its epoch, its first round and its signers in order', () => {
  expect(decodeSigningPolicy(BYTES)).toEqual({
    rewardEpoch: 452,
    startRound: 1_518_720,
    signers: [
      { signingPolicy: ALPHA, weight: 40_000 },
      { signingPolicy: BRAVO, weight: 25_535 },
    ],
  })
})

test('bytes of another length than their number of voters needs are no policy', () => {
  expect(decodeSigningPolicy('0x')).toBeUndefined()
  expect(decodeSigningPolicy(slice(BYTES, 0, size(BYTES) - 1))).toBeUndefined()
  expect(decodeSigningPolicy(concat([BYTES, '0x00']))).toBeUndefined()
})

test('former Relays fold the words of a policy, newer ones hash it with the id of the chain', () => {
  const [first, second, third] = [0, 32, 64].map((at) =>
    pad(slice(BYTES, at, Math.min(at + 32, size(BYTES))), { size: 32, dir: 'right' }),
  ) as [Hex, Hex, Hex]
  const folded = keccak256(concat([keccak256(concat([first, second])), third]))
  const newer = keccak256(concat([toHex(14, { size: 32 }), BYTES]))
  expect(signingPolicyHashes(BYTES, undefined)).toEqual([folded])
  expect(signingPolicyHashes(BYTES, 14n)).toEqual([folded, newer])
})
