import { createRequire } from 'node:module'
import fc from 'fast-check'
import secp256k1 from 'secp256k1'
import { concat, getAddress, hashMessage, keccak256, toBytes, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { createRecoveryPool } from '#src/chain/signatures/recovery-pool.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { runs } from '../../../test/support/runs.ts'
import { FDC_PROTOCOL, FTSO_PROTOCOL } from './framing.ts'
import { firstSignatures, judgeSignatures } from './judged-signatures.ts'
import { indexPolicy } from './policy.ts'
import type { RoundEvidence, SentFrame } from './round-evidence.ts'
import {
  addressOfPublicKey,
  decodeSignedResult,
  digestsOf,
  recoverSigner,
  signedBytesOf,
} from './signatures.ts'

/** The package's JavaScript, which has no types of its own. */
const plain: typeof secp256k1 = createRequire(import.meta.url)('secp256k1/elliptic.js')
const ROUND = 1_500_000
const CHAIN_ID = 14
const KEYS = Array.from({ length: 4 }, (_, place) => new Uint8Array(32).fill(place + 1))
const RESULTS = {
  [FTSO_PROTOCOL]: {
    protocol: FTSO_PROTOCOL,
    round: ROUND,
    isSecureRandom: true,
    merkleRoot: toHex(7, { size: 32 }),
  },
  [FDC_PROTOCOL]: {
    protocol: FDC_PROTOCOL,
    round: ROUND,
    isSecureRandom: false,
    merkleRoot: toHex(8, { size: 32 }),
  },
} as const
/** Order of the curve. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** How a signature differs from a provider's own. */
const TWISTS = [
  'none',
  'high-s',
  'other-recovery',
  'tampered-r',
  'tampered-s',
  'zero',
  'order',
  'random',
  'short',
  'legacy',
  'other-result',
  'said',
  'said-other',
] as const
type Twist = (typeof TWISTS)[number]

const deed = fc.record({
  key: fc.nat({ max: KEYS.length - 1 }),
  twist: fc.constantFrom(...TWISTS),
  v: fc.oneof(fc.constantFrom('27', '0'), fc.nat({ max: 255 })),
  noise: fc.uint8Array({ minLength: 64, maxLength: 64 }),
  tail: fc.uint8Array({ maxLength: 4 }),
})
type Deed = Parameters<Parameters<typeof deed.map>[0]>[0]

/** The payload of a signature over a result. */
function payloadOf(
  { key, twist, v, noise, tail }: Deed,
  protocol: typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL,
) {
  const result = RESULTS[protocol]
  const signedResult = twist === 'other-result' ? { ...result, round: ROUND + 1 } : result
  const { chainBound, legacy } = digestsOf(signedResult, CHAIN_ID)
  const digest = twist === 'legacy' ? legacy : chainBound
  const own = secp256k1.ecdsaSign(digest, KEYS[key] ?? new Uint8Array(32))
  const signature = twisted(own.signature, twist, noise)
  const recid = twist === 'high-s' || twist === 'other-recovery' ? 1 - own.recid : own.recid
  const recovery = typeof v === 'number' ? v : Number(v) + recid
  const reported =
    twist === 'said-other' ? { ...result, isSecureRandom: !result.isSecureRandom } : result
  const message =
    twist === 'said' || twist === 'said-other' ? toBytes(signedBytesOf(reported)) : undefined
  return Buffer.concat([
    message === undefined ? Buffer.from([1]) : Buffer.concat([Buffer.from([0]), message]),
    Buffer.from([recovery]),
    twist === 'short' ? signature.subarray(0, 40) : signature,
    twist === 'short' ? Buffer.alloc(0) : tail,
  ])
}

function twisted(signature: Uint8Array, twist: Twist, noise: Uint8Array): Buffer {
  const [r, s] = [Buffer.from(signature.subarray(0, 32)), Buffer.from(signature.subarray(32))]
  const word = (value: bigint) => Buffer.from(toBytes(value, { size: 32 }))
  if (twist === 'high-s') return Buffer.concat([r, word(ORDER - BigInt(toHex(s)))])
  if (twist === 'tampered-r') r[noise[0] ?? 0 & 31] = noise[1] ?? 0
  if (twist === 'tampered-s') s[31] = noise[1] ?? 0
  if (twist === 'zero') return Buffer.concat([r, word(0n)])
  if (twist === 'order') return Buffer.concat([word(ORDER), s])
  if (twist === 'random') return Buffer.from(noise)
  return Buffer.concat([r, s])
}

/** The signer as JavaScript alone finds it, without what this service keeps from earlier signatures. */
function plainSigner(signature: Uint8Array, recovery: number, digest: Uint8Array) {
  if (recovery > 3) return undefined
  try {
    const key = plain.ecdsaRecover(signature, recovery, digest, false)
    return getAddress(`0x${keccak256(key.subarray(1)).slice(26)}`)
  } catch {
    return undefined
  }
}

/** A round in which each provider sent its signatures in this order. */
function evidenceOf(deeds: readonly (readonly Deed[])[]): RoundEvidence {
  const policy = indexPolicy({
    rewardEpoch: 446,
    startRound: ROUND - 10,
    providers: KEYS.map((key, place) => {
      const signingPolicy = addressOfPublicKey(secp256k1.publicKeyCreate(key, false))
      const other = getAddress(toHex(place + 1, { size: 20 }))
      return { voter: other, submit: other, submitSignatures: other, signingPolicy, weight: 1 }
    }),
  })
  const sent = (payload: Buffer, tx: number): SentFrame => ({ payload, tx: `${tx}`, at: 5, to: '' })
  const providers = new Map(
    deeds.map((own, place) => [
      place,
      {
        commit: {},
        reveal: {},
        bitVote: {},
        signatures: {
          [FTSO_PROTOCOL]: own.map((signature, tx) =>
            sent(payloadOf(signature, FTSO_PROTOCOL), tx),
          ),
          [FDC_PROTOCOL]: own.map((signature, tx) => sent(payloadOf(signature, FDC_PROTOCOL), tx)),
        },
        earlySignature: {},
        signaturesWithReveals: own
          .slice(0, 1)
          .map((signature) => sent(payloadOf(signature, FDC_PROTOCOL), 9)),
      },
    ]),
  )
  const finalised = {
    [FTSO_PROTOCOL]: { ...RESULTS[FTSO_PROTOCOL], at: 9 },
    [FDC_PROTOCOL]: { ...RESULTS[FDC_PROTOCOL], at: 9 },
  }
  const contracts = { contractOf: {}, elsewhere: new Map() }
  return { round: ROUND, policy, requests: [], finalised, providers, ...contracts }
}

const round = fc.array(fc.array(deed, { maxLength: 3 }), {
  minLength: KEYS.length,
  maxLength: KEYS.length,
})

describe('the signer of a result', () => {
  test('equals the one that plain JavaScript recovers, for valid and for altered signatures', () => {
    fc.assert(
      fc.property(deed, fc.constantFrom(FTSO_PROTOCOL, FDC_PROTOCOL), (signature, protocol) => {
        const signed = decodeSignedResult(payloadOf(signature, protocol))
        if (signed === undefined) return
        for (const digest of Object.values(digestsOf(RESULTS[protocol], CHAIN_ID))) {
          const expected = plainSigner(signed.signature, signed.recovery, digest)
          expect(recoverSigner(signed, digest)).toBe(expected)
          // The second time its key may be known.
          expect(recoverSigner(signed, digest)).toBe(expected)
        }
      }),
      { numRuns: runs(150) },
    )
  })

  test('is found for some alterations of a signature, and not for others', () => {
    const noise = new Uint8Array(64).fill(3)
    const found = TWISTS.map((twist) => {
      const payload = payloadOf(
        { key: 1, twist, v: '27', noise, tail: new Uint8Array() },
        FTSO_PROTOCOL,
      )
      const signed = decodeSignedResult(payload)
      const own = addressOfPublicKey(
        secp256k1.publicKeyCreate(KEYS[1] ?? new Uint8Array(32), false),
      )
      return (
        signed &&
        recoverSigner(signed, digestsOf(RESULTS[FTSO_PROTOCOL], CHAIN_ID).chainBound) === own
      )
    })
    expect(Object.fromEntries(TWISTS.map((twist, index) => [twist, found[index]]))).toEqual({
      none: true,
      'high-s': true,
      'other-recovery': false,
      'tampered-r': false,
      'tampered-s': false,
      zero: false,
      order: false,
      random: false,
      short: undefined,
      legacy: false,
      'other-result': false,
      said: true,
      'said-other': true,
    })
  })

  test('is right for more keys than are kept in memory', () => {
    for (let n = 1; n <= 1100; n += 1) {
      const key = secp256k1.publicKeyCreate(toBytes(BigInt(n), { size: 32 }), false)
      if (n > 2 && n < 1098) addressOfPublicKey(key)
      else
        expect(addressOfPublicKey(key)).toBe(
          getAddress(`0x${keccak256(key.subarray(1)).slice(26)}`),
        )
    }
  })
})

test('the digests of a result equal the hashes that wallets sign', () => {
  const result = RESULTS[FDC_PROTOCOL]
  const expected = (raw: `0x${string}`) => toBytes(hashMessage({ raw: keccak256(raw) }))
  const message = signedBytesOf(result)
  const { chainBound, legacy } = digestsOf(result, CHAIN_ID)
  expect(Buffer.from(legacy)).toEqual(Buffer.from(expected(message)))
  const bound = expected(concat([toHex(CHAIN_ID, { size: 32 }), message]))
  expect(Buffer.from(chainBound)).toEqual(Buffer.from(bound))
})

describe('signatures of a round', () => {
  test('are judged the same with signers recovered in threads', async () => {
    const pool = createRecoveryPool({ log: silentLogger, hereMax: 0 })
    await fc.assert(
      fc.asyncProperty(round, async (deeds) => {
        const evidence = evidenceOf(deeds)
        const asked = firstSignatures(CHAIN_ID, evidence)
        const keys = await pool.recover(asked)
        const signers = new Map(
          asked.map(({ sent }, index) => [sent, keys[index] && addressOfPublicKey(keys[index])]),
        )
        for (const protocol of [FTSO_PROTOCOL, FDC_PROTOCOL] as const) {
          const expected = judgeSignatures(CHAIN_ID, evidence, protocol)
          expect(judgeSignatures(CHAIN_ID, evidence, protocol, signers)).toEqual(expected)
        }
      }),
      { numRuns: runs(60) },
    )
    await pool.close()
  })
})
