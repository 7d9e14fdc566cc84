import { concat, getAddress, hashMessage, keccak256, toBytes, toHex } from 'viem/utils'
import { recoverAddress } from '#src/chain/recover.ts'
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
export function decodeSigned(payload: Uint8Array): SignedResult | undefined {
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
export function messageOf({ protocol, round, isSecureRandom, merkleRoot }: RoundResult): Hash {
  return concat([
    toHex(protocol, { size: 1 }),
    toHex(round, { size: 4 }),
    toHex(isSecureRandom, { size: 1 }),
    merkleRoot,
  ])
}

/** Digests under which a result may be signed: bound to a chain since Relay v2, and unbound before. */
export interface ResultDigests {
  readonly chainBound: Uint8Array
  readonly legacy: Uint8Array
}

/** The digests of a result, cached by result. */
export function digestsOf(result: RoundResult, chainId: number): ResultDigests {
  const message = messageOf(result)
  const digest = (raw: Hash) => toBytes(hashMessage({ raw: keccak256(raw) }))
  return {
    chainBound: digest(concat([toHex(chainId, { size: 32 }), message])),
    legacy: digest(message),
  }
}

/** Address that signed a digest; undefined for an invalid signature. */
export function recoverSigner(
  signed: Pick<SignedResult, 'signature' | 'recovery'>,
  digest: Uint8Array,
): Address | undefined {
  const address = recoverAddress(signed, digest)
  return address && getAddress(address)
}
