/** The bytes of a signing policy, as the Relay emits them, and the hashes by which Relays know it. */
import { concat, type Hex, numberToHex, pad, size, slice } from 'viem'
import { getAddress } from 'viem/utils'
import { keccakOfHex } from '#src/chain/blocks/keccak.ts'
import type { Address } from '#src/kernel/units.ts'

/** What the bytes of a signing policy say. */
export interface SigningPolicy {
  readonly rewardEpoch: number
  readonly startRound: number
  /** In their order: the address that signs, and the normalised weight. */
  readonly signers: readonly { readonly signingPolicy: Address; readonly weight: number }[]
}

/** Number of voters, reward epoch, first round, threshold, seed: 2, 3, 4, 2 and 32 bytes. */
const HEAD_BYTES = 43
/** Address and weight. */
const SIGNER_BYTES = 22
const WORD_BYTES = 32

/**
 * Decodes the bytes of a signing policy; undefined if they have another length than their number of voters needs.
 *
 * @see flare-foundation/flare-smart-contracts-v2, `Relay.sol`
 */
export function decodeSigningPolicy(bytes: Hex): SigningPolicy | undefined {
  if (size(bytes) < HEAD_BYTES) return undefined
  const voters = Number(slice(bytes, 0, 2))
  if (size(bytes) !== HEAD_BYTES + voters * SIGNER_BYTES) return undefined
  return {
    rewardEpoch: Number(slice(bytes, 2, 5)),
    startRound: Number(slice(bytes, 5, 9)),
    signers: Array.from({ length: voters }, (_, place) => {
      const at = HEAD_BYTES + place * SIGNER_BYTES
      return {
        signingPolicy: getAddress(slice(bytes, at, at + 20)),
        weight: Number(slice(bytes, at + 20, at + SIGNER_BYTES)),
      }
    }),
  }
}

/**
 * The hashes by which a Relay may know a signing policy: former ones fold its words, newer ones hash it together with
 * the id of the chain.
 */
export function signingPolicyHashes(bytes: Hex, chainId: bigint | undefined): readonly Hex[] {
  const words = Array.from({ length: Math.ceil(size(bytes) / WORD_BYTES) }, (_, index) => {
    const word = slice(bytes, index * WORD_BYTES, Math.min((index + 1) * WORD_BYTES, size(bytes)))
    return pad(word, { size: WORD_BYTES, dir: 'right' })
  })
  const folded = words.reduce((hash, word) => keccakOfHex(concat([hash, word])))
  if (chainId === undefined) return [folded]
  return [folded, keccakOfHex(concat([numberToHex(chainId, { size: WORD_BYTES }), bytes]))]
}
