import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js'
import { bytesToHex, hexToBytes } from 'viem'
import type { Hash } from '#src/kernel/units.ts'

/** WebAssembly, so that a round of dozens of signatures is fast on every processor; of viem each takes 15 times as long. */
const curve = await instantiateSecp256k1()

/** Signs 32 bytes; the signature is deterministic (RFC 6979), with the lower of the two values of s. */
export function signDigest(digest: Hash, privateKey: Hash) {
  const signed = curve.signMessageHashRecoverableCompact(hexToBytes(privateKey), hexToBytes(digest))
  if (typeof signed === 'string') throw new Error(signed)
  const { signature, recoveryId } = signed
  return {
    v: 27 + recoveryId,
    r: bytesToHex(signature.subarray(0, 32)),
    s: bytesToHex(signature.subarray(32)),
  }
}

/** Returns the uncompressed public key of a private key. */
export function publicKeyOf(privateKey: Hash) {
  const key = curve.derivePublicKeyUncompressed(hexToBytes(privateKey))
  if (typeof key === 'string') throw new Error(key)
  return bytesToHex(key)
}
