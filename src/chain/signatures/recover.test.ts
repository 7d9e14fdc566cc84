import fc from 'fast-check'
import secp256k1 from 'secp256k1'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/support/runs.ts'
import { loadNative, loadWasm, recoverKey, recoveryCode, type SignedDigest } from './recover.ts'
import { packForRecovery, recoverPacked, unpackKeys } from './recovery-batch.ts'

/** Order of the curve's group, and modulus of its field. */
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const P = 2n ** 256n - 2n ** 32n - 977n
const EDGES = [
  0n,
  1n,
  2n,
  N - 1n,
  N,
  N + 1n,
  N / 2n,
  N / 2n + 1n,
  P - N - 1n,
  P - N,
  P,
  2n ** 256n - 1n,
]

const isNative = recoveryCode.name === 'native'
const native = isNative ? loadNative() : recoveryCode.recover
const wasm = await loadWasm()

const word = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
const bytes = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  fc.constantFrom(...EDGES).map(word),
  // Small values of r are those for which ids 2 and 3 can be valid.
  fc.integer({ min: 1, max: 1_000_000 }).map((value) => word(BigInt(value))),
)
const recovery = fc.integer({ min: 0, max: 3 })
const made = fc.record({
  signature: fc.tuple(bytes, bytes).map(([r, s]) => Buffer.concat([r, s])),
  recovery,
  digest: bytes,
})
const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter(secp256k1.privateKeyVerify)
const signed = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), key)
  .map(([digest, key]) => {
    const { signature, recid } = secp256k1.ecdsaSign(digest, key)
    return { signature, recovery: recid, digest }
  })
/** The same signature with the other s, above half of the group's order, which names the same key. */
const highS = signed.map(({ signature, recovery, digest }) => {
  const s = N - BigInt(`0x${Buffer.from(signature.subarray(32)).toString('hex')}`)
  return {
    signature: Buffer.concat([signature.subarray(0, 32), word(s)]),
    recovery: 1 - recovery,
    digest,
  }
})
const malformed = fc.record({
  signature: fc.uint8Array({ maxLength: 200 }),
  recovery: fc.oneof(fc.integer({ min: -300, max: 300 }), fc.constantFrom(0.5, Number.NaN)),
  digest: fc.uint8Array({ maxLength: 100 }),
})
const any: fc.Arbitrary<SignedDigest> = fc.oneof(made, signed, highS, malformed)

const hex = (key: Uint8Array | undefined) => key && Buffer.from(key).toString('hex')

// Elsewhere WebAssembly would be compared with itself.
describe.runIf(isNative)('native code and WebAssembly', () => {
  test('recover the same key, or none, from any signature', () => {
    fc.assert(
      fc.property(any, (item) => {
        const [one, other] = [native, wasm].map((code) => hex(recoverKey(item, undefined, code)))
        expect(other).toBe(one)
      }),
      { numRuns: runs(1000) },
    )
  })

  test('recover the key that signed, also when s is above half of the order', () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.oneof(signed, highS), fc.constantFrom(native, wasm)),
        ([item, code]) => {
          const found = recoverKey(item, undefined, code)
          const lowS = secp256k1.signatureNormalize(item.signature.slice())
          expect(found && secp256k1.ecdsaVerify(lowS, item.digest, found)).toBe(true)
        },
      ),
      { numRuns: runs(100) },
    )
  })

  test('recover the same keys from packed signatures', () => {
    fc.assert(
      fc.property(fc.array(any, { maxLength: 40 }), (items) => {
        const packed = packForRecovery(items)
        const [one, other] = [native, wasm].map((code) =>
          unpackKeys(recoverPacked(packed, code)).map(hex),
        )
        expect(other).toEqual(one)
        expect(one).toEqual(items.map((item) => hex(recoverKey(item, undefined, native))))
      }),
      { numRuns: runs(40) },
    )
  })
})
