import fc from 'fast-check'
import secp256k1 from 'secp256k1'
import { getAddress, keccak256 } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/support/runs.ts'
import { roundWindowsOf } from './epochs.ts'
import { FDC_PROTOCOL, FTSO_PROTOCOL } from './framing.ts'
import { commitHash } from './ftso.ts'
import { judgeRound } from './judge-round.ts'
import { indexPolicy } from './policy.ts'
import { createRoundCollector, type RoundBlock } from './round-collector.ts'
import { digestsOf } from './signatures.ts'
import type { NotCountedReason, ProviderRound } from './verdict.ts'

/** Clock of Flare mainnet. */
const FLARE_CLOCK = {
  firstRoundAtSeconds: 1_658_430_000,
  roundSeconds: 90,
  firstEpochRound: 0,
  roundsPerEpoch: 3360,
}

const ROUND = 1_500_000
const { start, end } = roundWindowsOf(FLARE_CLOCK, ROUND)
const CHAIN_ID = 14
const SUBMISSION = addressOf(0xa1)
const FORMER = addressOf(0xa0)
const KEYS = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte))
const policy = indexPolicy({
  rewardEpoch: 446,
  startRound: 1_498_560,
  providers: KEYS.map((key, place) => ({
    voter: addressOf(90 + place),
    submit: addressOf(10 + place),
    submitSignatures: addressOf(20 + place),
    signingPolicy: signerOf(key),
    weight: 100 * (place + 1),
  })),
})
const RESULTS = {
  [FTSO_PROTOCOL]: {
    protocol: FTSO_PROTOCOL,
    round: ROUND,
    isSecureRandom: true,
    merkleRoot: hash('a'),
  },
  [FDC_PROTOCOL]: {
    protocol: FDC_PROTOCOL,
    round: ROUND,
    isSecureRandom: false,
    merkleRoot: hash('b'),
  },
} as const
const TEN_REQUESTS = Array.from({ length: 10 }, (_, index) => `0x${'00'.repeat(64)}0${index}`)

/** Actions of one provider in the round; omitted ones are correct. */
interface Deeds {
  readonly commitAt?: number | null
  readonly commitFor?: number
  readonly revealAt?: number
  readonly bitVote?: string | null
  readonly signAt?: number | null
  readonly key?: Uint8Array
  readonly strayCommit?: boolean
  readonly strayRound?: number
  readonly malformedSignature?: boolean
  readonly signedBitVote?: string
  /** Functions that are called at the former Submission contract. */
  readonly toFormer?: readonly string[]
}

/** Simulates the round and returns the verdicts of the first provider; the others act correctly. */
function play(
  deeds: Deeds,
  world: {
    readonly finalisedAt?: number | null
    readonly requests?: readonly string[]
    readonly skip?: number
    readonly others?: Deeds
  } = {},
): ProviderRound | undefined {
  const { finalisedAt = end + 52, requests = TEN_REQUESTS } = world
  const blocks = new Map<number, RoundBlock>()
  const at = (seconds: number): Mutable => {
    const known = blocks.get(seconds) as Mutable | undefined
    const block = known ?? {
      number: seconds,
      at: seconds,
      submissions: [],
      finalised: [],
      requests: [],
    }
    blocks.set(seconds, block)
    return block
  }
  for (let seconds = start - 2; seconds <= end + 90; seconds += 1) at(seconds)
  at(start + 3).requests.push(...requests)
  for (const place of KEYS.keys()) submit(at, place, place === 0 ? deeds : (world.others ?? {}))
  if (finalisedAt !== null)
    at(finalisedAt).finalised.push(RESULTS[FTSO_PROTOCOL], RESULTS[FDC_PROTOCOL])
  let collector = createRoundCollector(FLARE_CLOCK, () => policy)
  const done = [...blocks.values()]
    .toSorted((a, b) => a.at - b.at)
    .flatMap((block) => {
      if (block.at === world.skip) {
        // Blocks after a gap start a new collection.
        collector = createRoundCollector(FLARE_CLOCK, () => policy)
        return []
      }
      return collector.add(block)
    })
  const evidence = done.find(({ round }) => round === ROUND)
  return evidence && judgeRound(FLARE_CLOCK, CHAIN_ID, evidence)[0]
}

function submit(at: (seconds: number) => Mutable, place: number, deeds: Deeds): void {
  const {
    commitAt = end - 10,
    revealAt = end + 20,
    bitVote = '000a010b',
    signAt = end + 47,
    toFormer = [],
  } = deeds
  const toOf = (name: string) => (toFormer.includes(name) ? FORMER : SUBMISSION)
  const reveal = { random: new Uint8Array(32).fill(place + 1), feedBytes: prices(place) }
  const provider = policy.providers[place]
  if (provider === undefined) throw new Error('no such provider')
  const commitFor = policy.providers[deeds.commitFor ?? place]?.submit ?? provider.submit
  if (commitAt !== null) {
    const frames = [frame(FTSO_PROTOCOL, commitHash(commitFor, ROUND, reveal).slice(2))]
    if (deeds.strayCommit) frames.push(frame(FDC_PROTOCOL, '0001', deeds.strayRound))
    at(commitAt).submissions.push(tx('6c532fae', provider.submit, frames, toOf('submit1')))
  }
  const body = Buffer.concat([reveal.random, reveal.feedBytes]).toString('hex')
  const frames = [
    frame(FTSO_PROTOCOL, body),
    ...(bitVote === null ? [] : [frame(FDC_PROTOCOL, bitVote)]),
  ]
  at(revealAt).submissions.push(tx('9d00c9fd', provider.submit, frames, toOf('submit2')))
  if (signAt === null) return
  const { signedBitVote = '000a010b' } = deeds
  const key = deeds.key ?? KEYS[place] ?? new Uint8Array(32)
  const signatures = deeds.malformedSignature
    ? [frame(FTSO_PROTOCOL, '01')]
    : [
        frame(FTSO_PROTOCOL, `01${signatureOf(key, FTSO_PROTOCOL)}`),
        frame(FDC_PROTOCOL, `01${signatureOf(key, FDC_PROTOCOL)}${signedBitVote}`),
      ]
  at(signAt).submissions.push(
    tx('57eed580', provider.submitSignatures, signatures, toOf('submitSignatures')),
  )
}

type Mutable = {
  -readonly [K in keyof RoundBlock]: RoundBlock[K] extends readonly (infer One)[]
    ? One[]
    : RoundBlock[K]
}

describe('submissions to a former contract', () => {
  const all = ['submit1', 'submit2', 'submitSignatures']
  const sent = { sentTo: FORMER, submission: SUBMISSION }

  test('count as missing, with both addresses and the transaction', () => {
    const checks = play({ toFormer: all })?.checks
    for (const name of ['commit', 'reveal', 'signature', 'bitVote', 'fdcSignature'] as const) {
      expect(checks?.[name]).toMatchObject({
        verdict: 'bad',
        values: { reason: 'former-address', tx: expect.stringMatching(/^0x/), ...sent },
      })
    }
    expect(checks?.fdcOffence.verdict).toBe('unknown')
  })

  test('are valid while nearly all weight uses that contract, even if the registry names the new one', () => {
    expect(verdicts(play({ toFormer: all }, { others: { toFormer: all } }))).toEqual(
      verdicts(play({})),
    )
    const ahead = play({}, { others: { toFormer: all } })?.checks
    expect(ahead?.commit).toMatchObject({
      values: { reason: 'former-address', sentTo: SUBMISSION, submission: FORMER },
    })
  })

  test('have no bad verdict if the contract changed between commit and reveal', () => {
    const moved = { toFormer: ['submit1'] }
    expect(verdicts(play(moved, { others: moved }))).toEqual(verdicts(play({})))
  })

  test('are not assumed for a late commit to the right contract', () => {
    const checks = play({ commitAt: end + 5 })?.checks
    expect(checks?.commit.values).toMatchObject({ reason: 'late' })
  })
})

describe('the time that was left', () => {
  test('is that before each deadline, and below zero after a grace', () => {
    expect(play({})?.margins).toEqual([10, 25, 13, 25, 13])
    const late = play({ commitAt: end - 1, revealAt: end + 44, signAt: end + 62 })
    expect(late?.margins.slice(0, 3)).toEqual([1, 1, -2])
  })

  test('is unknown for what was not sent in time', () => {
    expect(play({ commitAt: end + 5, signAt: end + 10 })?.margins.slice(0, 3)).toEqual([
      null,
      25,
      null,
    ])
    expect(play({ commitAt: null })?.margins.slice(0, 2)).toEqual([null, 25])
  })
})

describe('one round by the rules', () => {
  test('an early FDC signature is no offence, but does not fulfil the duty', () => {
    const early = play({ signAt: end + 10 })?.checks
    expect(early?.fdcOffence.verdict).toBe('good')
    expect(early?.fdcSignature).toMatchObject({
      verdict: 'bad',
      values: { reason: 'early', penalised: false },
    })
    const unfinalised = play({ signAt: end + 10 }, { finalisedAt: null })?.checks
    expect(unfinalised?.fdcOffence.verdict).toBe('good')
  })

  test.each([
    ['before the end of the round', { signAt: end - 1 }],
    ['with the key of another', { signAt: end + 10, key: new Uint8Array(32).fill(9) }],
  ])('an FDC signature %s is an offence', (_name, deeds) => {
    expect(play(deeds)?.checks).toMatchObject({
      fdcOffence: { verdict: 'bad' },
      fdcSignature: { verdict: 'bad', values: { penalised: true } },
    })
  })

  test('the duties of the FDC do not apply to a round without requests', () => {
    const checks = play({ bitVote: null, signAt: null }, { requests: [] })?.checks
    const fdc = ['bitVote', 'bitVoteLength', 'consensus', 'fdcSignature', 'fdcOffence'] as const
    for (const name of [...fdc, 'fdcMismatch', 'fdcGrace'] as const) {
      expect(checks?.[name].verdict).toBe('not-applicable')
    }
    expect(checks?.signature.verdict).toBe('bad')
  })

  test('data of the FDC in submit1 is bad for any round that it names', () => {
    expect(play({ strayCommit: true, strayRound: 7 })?.checks.strayCommit.verdict).toBe('bad')
  })

  test('a provider without a fault has good verdicts only', () => {
    expect(verdicts(play({}))).toEqual({
      commit: 'good',
      reveal: 'good',
      revealOffence: 'good',
      signature: 'good',
      fdcSignature: 'good',
      bitVote: 'good',
      bitVoteLength: 'good',
      consensus: 'good',
      fdcOffence: 'good',
      strayCommit: 'good',
      mismatch: 'good',
      fdcMismatch: 'good',
      grace: 'good',
      fdcGrace: 'good',
      feedValues: 'good',
    })
  })

  test.each<[string, Deeds, Record<string, [string, NotCountedReason?]>]>([
    [
      'a late commit',
      { commitAt: end + 1 },
      { commit: ['bad', 'late'], revealOffence: ['unknown'] },
    ],
    ['no commit', { commitAt: null }, { commit: ['bad', 'missing'], reveal: ['good'] }],
    [
      'a reveal at B+46',
      { revealAt: end + 46 },
      {
        reveal: ['bad', 'late'],
        revealOffence: ['unknown'],
        bitVote: ['bad', 'late'],
        consensus: ['unknown'],
        fdcSignature: ['good'],
        fdcOffence: ['good'],
      },
    ],
    [
      'an early reveal',
      { revealAt: end - 1 },
      { reveal: ['bad', 'early'], bitVote: ['bad', 'early'] },
    ],
    [
      'a commit for another address',
      { commitFor: 1 },
      { commit: ['good'], reveal: ['good'], revealOffence: ['bad'] },
    ],
    [
      'a signature at B+61',
      { signAt: end + 61 },
      { signature: ['good'], grace: ['bad'], fdcGrace: ['bad'] },
    ],
    [
      'no signatures',
      { signAt: null },
      {
        signature: ['bad', 'missing'],
        grace: ['unknown'],
        mismatch: ['unknown'],
        fdcSignature: ['bad', 'missing'],
        fdcOffence: ['bad'],
      },
    ],
    ['an early signature', { signAt: end + 44 }, { signature: ['bad', 'early'] }],
    ['a malformed signature', { malformedSignature: true }, { signature: ['bad', 'malformed'] }],
    [
      'a bit vote short of the consensus',
      { bitVote: '000a0103' },
      { consensus: ['bad'], bitVote: ['good'] },
    ],
    [
      'a bit vote of the wrong length',
      { bitVote: '0009010b' },
      { bitVoteLength: ['bad'], consensus: ['unknown'], bitVote: ['good'] },
    ],
    ['no bit vote', { bitVote: null }, { bitVote: ['bad', 'missing'], bitVoteLength: ['unknown'] }],
    [
      'data of the FDC in submit1',
      { strayCommit: true },
      { strayCommit: ['bad'], commit: ['good'] },
    ],
    [
      'the wrong key',
      { key: new Uint8Array(32).fill(9) },
      { mismatch: ['bad'], fdcMismatch: ['bad'] },
    ],
  ])('%s', (_name, deeds, expected) => {
    const round = play(deeds)
    for (const [check, [verdict, reason]] of Object.entries(expected)) {
      const found = Object.entries(round?.checks ?? {}).find(([name]) => name === check)?.[1]
      expect([check, found?.verdict]).toEqual([check, verdict])
      if (reason !== undefined) expect(found?.values?.['reason']).toBe(reason)
    }
  })

  test('a signature at B+61 is in time when the round was finalised later', () => {
    const round = play({ signAt: end + 61 }, { finalisedAt: end + 70 })
    expect(round?.checks.grace.verdict).toBe('good')
    expect(play({ signAt: end + 60 }, { finalisedAt: end + 60 })?.checks.grace.verdict).toBe('good')
  })

  test('the values of a verdict name the requests that a bit vote lacks, and the lateness of a signature', () => {
    expect(play({ bitVote: '000a0103' })?.checks.consensus.values).toMatchObject({
      missing: [{ index: 3 }],
      confirmed: 3,
      consensusCount: 4,
    })
    expect(play({ signAt: end + 61 })?.checks.grace.values).toMatchObject({ secondsLate: 1 })
  })

  test('an FDC signature beside a bit vote other than the consensus is bad, with its penalty', () => {
    const { fdcSignature, fdcMismatch } = play({ signedBitVote: '000a010a' })?.checks ?? {}
    expect(fdcSignature).toEqual({
      verdict: 'bad',
      values: {
        reason: 'other-bit-vote',
        tx: expect.stringMatching(/^0x/),
        finalised: true,
        bitvotePresent: true,
        dominated: true,
        penalised: true,
      },
    })
    expect(fdcMismatch?.verdict).toBe('good')
  })

  test.each([
    '',
    '00',
    '000a010b',
    '000a00010b',
  ])('an FDC signature beside the bit vote %j is good', (vote) => {
    expect(play({ signedBitVote: vote })?.checks.fdcSignature.verdict).toBe('good')
  })

  test('the bit vote beside a signature is not judged without a finalised result', () => {
    const round = play({ signedBitVote: '000a010a' }, { finalisedAt: null })
    expect(round?.checks.fdcSignature.verdict).not.toBe('bad')
  })

  test('the values of a signature with a wrong key name the actual signer', () => {
    const key = KEYS[1]
    const round = play(key === undefined ? {} : { key })
    expect(round?.checks.mismatch.values).toMatchObject({
      reason: 'wrong-key',
      recoveredSigner: policy.providers[1]?.signingPolicy,
      expectedSigner: policy.providers[0]?.signingPolicy,
    })
  })

  test('the key of a signature is not judged without a finalised result', () => {
    const round = play({ key: new Uint8Array(32).fill(9) }, { finalisedAt: null })
    expect(round?.checks.mismatch.verdict).toBe('unknown')
    expect(round?.checks.signature.verdict).toBe('good')
  })

  test('a round without requests has no duties of the FDC', () => {
    const { checks } = play({ bitVote: null, signAt: null }, { requests: [] }) ?? {
      checks: undefined,
    }
    expect(checks?.bitVote.verdict).toBe('not-applicable')
    expect(checks?.fdcSignature.verdict).toBe('not-applicable')
    expect(checks?.fdcOffence.verdict).toBe('not-applicable')
    expect(checks?.signature.verdict).toBe('bad')
  })

  test('anchor prices are counted against the weighted median', () => {
    expect(play({})?.anchors).toEqual({ hits: 2, possible: 3 })
    expect(play({ commitAt: null })?.anchors).toEqual({ hits: 0, possible: 3 })
  })

  test('a round is not judged if any block of it is missing', () => {
    fc.assert(
      fc.property(fc.integer({ min: start - 1, max: end + 89 }), (skip) => {
        expect(play({ commitAt: null }, { skip })).toBeUndefined()
      }),
      { numRuns: runs(25) },
    )
  })
})

function verdicts(round: ProviderRound | undefined) {
  return Object.fromEntries(
    Object.entries(round?.checks ?? {}).map(([name, { verdict }]) => [name, verdict]),
  )
}

/** Three prices: equal for all, within the band of the others, and off for the first provider. */
function prices(place: number): Buffer {
  const values = [1000, 10_000 + place, place === 0 ? 500 : 700]
  const bytes = Buffer.alloc(12)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value + 2 ** 31, index * 4)
  return bytes
}

function frame(protocol: number, payload: string, round = ROUND): string {
  const head = Buffer.alloc(7)
  head.writeUInt8(protocol, 0)
  head.writeUInt32BE(round, 1)
  head.writeUInt16BE(payload.length / 2, 5)
  return head.toString('hex') + payload
}

function tx(selector: string, from: string, frames: readonly string[], to: string) {
  const input = `0x${selector}${frames.join('')}`
  return { hash: keccak256(`0x${from.slice(2)}${selector}`), from: from.toLowerCase(), to, input }
}

function signatureOf(
  key: Uint8Array,
  protocol: typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL,
): string {
  const { signature, recid } = secp256k1.ecdsaSign(
    digestsOf(RESULTS[protocol], CHAIN_ID).chainBound,
    key,
  )
  return Buffer.concat([Buffer.from([27 + recid]), signature]).toString('hex')
}

function signerOf(key: Uint8Array) {
  const publicKey = secp256k1.publicKeyCreate(key, false)
  return getAddress(`0x${keccak256(publicKey.subarray(1)).slice(26)}`)
}

function addressOf(byte: number) {
  return getAddress(`0x${byte.toString(16).padStart(2, '0').repeat(20)}`)
}

function hash(digit: string) {
  return `0x${digit.repeat(64)}` as const
}
