import fc from 'fast-check'
import {
  getAddress,
  type Hex,
  numberToHex,
  parseSignature,
  recoverMessageAddress,
  serializeCompactSignature,
  serializeErc6492Signature,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { anyUnicodeCharacter } from '../../../test/support/any-character.ts'
import { runs } from '../../../test/support/runs.ts'
import {
  isPlainSigner,
  isSignatureText,
  isUndeployedSignature,
  verifyLimitMs,
} from './signatures.ts'

// A public key: the first of the mnemonic that every development chain funds.
const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const account = privateKeyToAccount(KEY)
const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const MESSAGE = 'hello'
/** Deterministic (RFC 6979): equal with any library. */
const SIGNATURE =
  '0xf16ea9a3478698f695fd1401bfe27e9e4a7e8e3da94aa72b021125e31fa899cc573c48ea3fe1d4ab61a9db10c19032026e3ed2dbccba5a178235ac27f94504311c'

const bytes = Buffer.from(SIGNATURE.slice(2), 'hex')
const changedAt = (at: number, value: number): `0x${string}` => {
  const copy = Buffer.from(bytes)
  copy[at] = value
  return `0x${copy.toString('hex')}`
}

/** @see EIP-2098 */
const yParityOfS = (s: Hex, yParity: number): Hex =>
  numberToHex(BigInt(s) | (BigInt(yParity) << 255n), { size: 32 })

describe("a plain account's signature", () => {
  test('equals the known one', async () => {
    expect(await account.signMessage({ message: MESSAGE })).toBe(SIGNATURE)
    expect(isPlainSigner(account.address, MESSAGE, SIGNATURE)).toBe(true)
  })

  test('is valid for its own message and signer only', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: anyUnicodeCharacter, maxLength: 200 }),
        async (message) => {
          const signature = await account.signMessage({ message })
          expect(isPlainSigner(account.address, message, signature)).toBe(true)
          expect(isPlainSigner(OTHER, message, signature)).toBe(false)
          expect(isPlainSigner(account.address, `${message} `, signature)).toBe(false)
        },
      ),
      { numRuns: runs(30) },
    )
  })

  test('is invalid with any byte changed', () => {
    fc.assert(
      fc.property(fc.nat({ max: 64 }), fc.nat({ max: 255 }), (at, value) => {
        fc.pre(bytes[at] !== value)
        // v has two encodings, 27 or 28 and 0 or 1; the other encoding is the same signature.
        fc.pre(at !== 64 || (bytes[at] ?? 0) - 27 !== value)
        expect(isPlainSigner(account.address, MESSAGE, changedAt(at, value))).toBe(false)
      }),
      { numRuns: runs(400) },
    )
  })

  test('is valid with v as 0 or 1, as some hardware wallets write it', () => {
    expect(SIGNATURE.slice(-2)).toBe('1c')
    expect(isPlainSigner(account.address, MESSAGE, changedAt(64, 1))).toBe(true)
    expect(isPlainSigner(account.address, MESSAGE, changedAt(64, 0))).toBe(false)
  })

  test('is valid in its compact form, with v in the highest bit of s', () => {
    const { r, s, yParity } = parseSignature(SIGNATURE)
    const compact = serializeCompactSignature({ r, yParityAndS: yParityOfS(s, yParity) })
    expect(isPlainSigner(account.address, MESSAGE, compact)).toBe(true)
    const other = serializeCompactSignature({ r, yParityAndS: yParityOfS(s, 1 - yParity) })
    expect(isPlainSigner(account.address, MESSAGE, other)).toBe(false)
  })

  test('recovers the same signer as viem', async () => {
    // Values as of a signature, and those at the ends of the range, where libraries differ.
    const word = fc.oneof(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.constantFrom(
        new Uint8Array(32),
        new Uint8Array(32).fill(255),
        Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex'),
        Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140', 'hex'),
        Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1', 'hex'),
      ),
      fc.constantFrom(bytes.subarray(0, 32), bytes.subarray(32, 64)),
    )
    const v = fc.oneof(fc.constantFrom(0, 1, 27, 28), fc.nat({ max: 255 }))
    await fc.assert(
      fc.asyncProperty(word, word, v, async (r, s, last) => {
        const signature = `0x${Buffer.concat([r, s, Buffer.of(last)]).toString('hex')}` as const
        const signer = await recoverMessageAddress({ message: MESSAGE, signature }).catch(
          () => undefined,
        )
        expect(isPlainSigner(signer ?? account.address, MESSAGE, signature)).toBe(
          signer !== undefined,
        )
        if (signer !== undefined) {
          const lower = getAddress(signer).toLowerCase() as `0x${string}`
          expect(isPlainSigner(lower, MESSAGE, signature)).toBe(true)
        }
      }),
      { numRuns: runs(300) },
    )
  })

  test('has exactly 65 or 64 bytes', () => {
    const longer = `${SIGNATURE}00` as const
    const shifted = `${SIGNATURE.slice(0, -2)}00${SIGNATURE.slice(-2)}`.slice(2)
    expect(isPlainSigner(account.address, MESSAGE, longer)).toBe(false)
    expect(isPlainSigner(account.address, MESSAGE, `0x${shifted}`)).toBe(false)
    expect(isPlainSigner(account.address, MESSAGE, `0x${SIGNATURE.slice(2, -2)}`)).toBe(false)
  })
})

describe('the text of a signature', () => {
  test('is whole bytes in hexadecimal, 4096 at most, or none', () => {
    expect(isSignatureText('0x')).toBe(true)
    expect(isSignatureText(SIGNATURE)).toBe(true)
    expect(isSignatureText(`0x${'AB'.repeat(65)}`)).toBe(true)
    expect(isSignatureText(`0x${'ab'.repeat(4096)}`)).toBe(true)
    expect(isSignatureText(`0x${'ab'.repeat(4097)}`)).toBe(false)
  })

  test.each([
    '',
    '0xabc',
    'abcd',
    '0xzz',
    '0Xabcd',
    ' 0xabcd',
    '0xabcd\n',
    '{}',
  ])('is not %j', (text) => {
    expect(isSignatureText(text)).toBe(false)
  })

  test('has a suffix if the wallet is not deployed yet', () => {
    const wrapped = serializeErc6492Signature({
      address: OTHER,
      data: '0x01',
      signature: SIGNATURE,
    })
    expect(isUndeployedSignature(wrapped)).toBe(true)
    expect(isUndeployedSignature(SIGNATURE)).toBe(false)
  })
})

test('all endpoints together have five seconds to answer for a contract wallet', () => {
  expect(verifyLimitMs(1)).toBe(5000)
  expect(verifyLimitMs(2)).toBe(2500)
  expect(verifyLimitMs(3) * 3).toBeLessThanOrEqual(5000)
  expect(verifyLimitMs(0)).toBe(5000)
})
