import { concat, getAddress, hexToBytes, toHex } from 'viem/utils'
import { addressOfKey, keccakBytes, messageDigest } from '#src/chain/blocks/keccak.ts'
import { recoverKey } from '#src/chain/signatures/recover.ts'
import { memoized } from '#src/kernel/memoized.ts'
import type { Address, Hash } from '#src/kernel/units.ts'

/** Signatures over the results of voting rounds. */

const SIGNATURE_BYTES = 65
const MESSAGE_BYTES = 38

/** A result that providers sign and the Relay finalises. */
export interface RoundResult {
  readonly protocol: number
  readonly round: number
  readonly isSecureRandom: boolean
  readonly merkleRoot: Hash
}

/** The content of a submitSignatures payload. */
export interface SignedResult {
  /** The encoded result, in payloads of type 0 only: 38 bytes. */
  readonly message: Uint8Array | undefined
  readonly recovery: number
  /** r and s, 64 bytes. */
  readonly signature: Uint8Array
  /** Data outside the signature: the FDC's consensus bit vote. */
  readonly unsigned: Uint8Array
}

/** Decodes a submitSignatures payload; undefined when it is malformed. */
export function decodeSignedResult(payload: Uint8Array): SignedResult | undefined {
  const type = payload[0]
  if (type !== 0 && type !== 1) return undefined
  const start = type === 0 ? 1 + MESSAGE_BYTES : 1
  const end = start + SIGNATURE_BYTES
  const v = payload[start]
  if (v === undefined || payload.length < end) return undefined
  return {
    message: type === 0 ? payload.subarray(1, start) : undefined,
    recovery: v >= 27 ? v - 27 : v,
    signature: payload.subarray(start + 1, end),
    unsigned: payload.subarray(end),
  }
}

/** The 38 bytes of a result that are signed. */
export function signedBytesOf({ protocol, round, isSecureRandom, merkleRoot }: RoundResult): Hash {
  return concat([
    toHex(protocol, { size: 1 }),
    toHex(round, { size: 4 }),
    toHex(isSecureRandom, { size: 1 }),
    merkleRoot,
  ])
}

/**
 * Digests under which a result may be signed: since Relay v2 they include the chain id, before they did
 * not.
 */
export interface ResultDigests {
  readonly chainBound: Uint8Array
  readonly legacy: Uint8Array
}

/** The digests of a result. */
export function digestsOf(result: RoundResult, chainId: number): ResultDigests {
  const message = hexToBytes(signedBytesOf(result))
  const digest = (raw: Uint8Array) => messageDigest(keccakBytes(raw))
  const chain = hexToBytes(toHex(chainId, { size: 32 }))
  return { chainBound: digest(Buffer.concat([chain, message])), legacy: digest(message) }
}

/** Address that signed a digest; undefined for an invalid signature. */
export function recoverSigner(
  signed: Pick<SignedResult, 'signature' | 'recovery'>,
  digest: Uint8Array,
): Address | undefined {
  const key = recoverKey({ ...signed, digest })
  return key && addressOfPublicKey(key)
}

/**
 * Maximum number of keys whose address is cached. About the same hundred signers sign every round, so most
 * keys need no hash.
 */
const REMEMBERED_KEYS = 500
const addressOf = memoized(REMEMBERED_KEYS, (key) =>
  getAddress(addressOfKey(Buffer.from(key, 'latin1'))),
)

/** Address of an uncompressed public key. */
export function addressOfPublicKey(key: Uint8Array): Address {
  return addressOf(Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1'))
}
