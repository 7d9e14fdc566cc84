/** Signatures in one array of bytes, as threads hand them to each other. */
import { KEY_BYTES, type RecoveryCode, recoverKey, type SignedDigest } from './recover.ts'

const SIGNATURE_BYTES = 64
const DIGEST_BYTES = 32
/** Recovery number, r and s, digest. */
const ITEM_BYTES = 1 + SIGNATURE_BYTES + DIGEST_BYTES
/** First byte of an uncompressed public key; of an invalid signature it stays 0. */
const KEY_MARK = 4

/** Writes signatures one after another. A signature of a wrong length becomes an invalid one. */
export function packForRecovery(items: readonly SignedDigest[]): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(items.length * ITEM_BYTES)
  for (const [index, { signature, recovery, digest }] of items.entries()) {
    const at = index * ITEM_BYTES
    const isWhole = signature.length === SIGNATURE_BYTES && digest.length === DIGEST_BYTES
    packed[at] = isWhole && recovery >= 0 && recovery <= 3 ? recovery : 0xff
    if (!isWhole) continue
    packed.set(signature, at + 1)
    packed.set(digest, at + 1 + SIGNATURE_BYTES)
  }
  return packed
}

/**
 * Recovers packed signatures.
 *
 * @param recover for tests; by default the code of this process
 * @returns their public keys one after another, zeros for invalid ones
 */
export function recoverPacked(packed: Uint8Array, recover?: RecoveryCode): Uint8Array<ArrayBuffer> {
  const keys = new Uint8Array((packed.length / ITEM_BYTES) * KEY_BYTES)
  for (let at = 0, to = 0; at < packed.length; at += ITEM_BYTES, to += KEY_BYTES) {
    const signature = packed.subarray(at + 1, at + 1 + SIGNATURE_BYTES)
    const digest = packed.subarray(at + 1 + SIGNATURE_BYTES, at + ITEM_BYTES)
    const into = keys.subarray(to, to + KEY_BYTES)
    const signed = { signature, recovery: packed[at] ?? 0xff, digest }
    if (recoverKey(signed, into, recover) === undefined) into.fill(0)
  }
  return keys
}

/** The public keys of a batch, in order; undefined for invalid signatures. */
export function unpackKeys(keys: Uint8Array): (Uint8Array | undefined)[] {
  return Array.from({ length: keys.length / KEY_BYTES }, (_, index) => {
    const key = keys.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES)
    return key[0] === KEY_MARK ? key : undefined
  })
}
