import { createRequire } from 'node:module'

/** A signature of a plain account over a digest. */
export interface SignedDigest {
  /** r and s, 64 bytes. */
  readonly signature: Uint8Array
  /** Recovery id, which selects the public key that signed; almost always 0 or 1. */
  readonly recovery: number
  /** 32 bytes. */
  readonly digest: Uint8Array
}

/** Length of an uncompressed public key. */
export const KEY_BYTES = 65
const SIGNATURE_BYTES = 64
const DIGEST_BYTES = 32

/** Recovers a key from values of the right length; undefined if they are not a point on the curve. */
export type RecoveryCode = (signed: SignedDigest, into: Uint8Array) => Uint8Array | undefined

/**
 * libsecp256k1 as native code: a fifteenth of a millisecond a key.
 *
 * @throws Error if the package has no build that this processor and system can load
 */
export function loadNative(): RecoveryCode {
  // The main file of the package would go on in slow JavaScript without a word.
  const load = createRequire(import.meta.url)
  const native: typeof import('secp256k1') = load('secp256k1/bindings.js')
  return ({ signature, recovery, digest }, into) => {
    try {
      return native.ecdsaRecover(signature, recovery, digest, false, into)
    } catch {
      return undefined
    }
  }
}

/** libsecp256k1 as WebAssembly, for every processor: a sixth of a millisecond a key. */
export async function loadWasm(): Promise<RecoveryCode> {
  // The main file of the package would load all of its tools for another chain.
  const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js')
  const wasm = await instantiateSecp256k1()
  return ({ signature, recovery, digest }, into) => {
    const id = recovery === 0 || recovery === 1 || recovery === 2 ? recovery : 3
    const key = wasm.recoverPublicKeyUncompressed(signature, id, digest)
    if (typeof key === 'string') return undefined
    into.set(key)
    return into
  }
}

/** The code that recovers keys in this process, and why it is not native. */
export const recoveryCode = await load()

async function load() {
  try {
    return { name: 'native', recover: loadNative() } as const
  } catch (reason) {
    return { name: 'wasm', recover: await loadWasm(), reason } as const
  }
}

/**
 * Recovers the public key that signed, uncompressed; undefined for an invalid signature.
 *
 * @param into where the key is written; undefined content after an invalid signature
 * @param recover for tests; by default the code of this process
 */
export function recoverKey(
  signed: SignedDigest,
  into = new Uint8Array(KEY_BYTES),
  recover: RecoveryCode = recoveryCode.recover,
): Uint8Array | undefined {
  const { signature, recovery, digest } = signed
  const isWhole = signature.length === SIGNATURE_BYTES && digest.length === DIGEST_BYTES
  // WebAssembly would write what is longer into memory that is not the value's.
  if (!isWhole || !Number.isInteger(recovery) || recovery < 0 || recovery > 3) return undefined
  return recover(signed, into)
}
