import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  expectedEpochStart,
  expectedFirstRound,
  roundAt,
  roundStart,
  roundWindowsOf,
} from './epochs.ts'
import {
  blocksInOnePercentOfEpoch,
  chanceOfSilence,
  isSilenceImprobable,
  silenceExponent,
  updatesPerBlockOf,
} from './fast-update-silence.ts'
import {
  confirmsConsensus,
  consensusBitVote,
  decodeBitVote,
  distinctRequests,
  fitsRequests,
  requestKind,
} from './fdc.ts'
import { decodeSubmission, FDC_PROTOCOL, FTSO_PROTOCOL, submitFunctionOf } from './framing.ts'
import { commitHash, decodeCommit, decodeFeedValues, decodeReveal, weightedMedian } from './ftso.ts'
import { nodeIdOf } from './node-id.ts'
import { decodeSignedResult, digestsOf, recoverSigner, signedBytesOf } from './signatures.ts'

/** Clock of Flare mainnet. */
const FLARE_CLOCK = {
  firstRoundAtSeconds: 1_658_430_000,
  roundSeconds: 90,
  firstEpochRound: 0,
  roundsPerEpoch: 3360,
}

const SUBMITTER = '0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269'
const FEEDS_812576 =
  '0x801a963f8000dfca800039bc8000f4458007e5b5803311dc80432212805ff7b9800098378089430f8001869f8000996b8007cd798000e8318022302180311c9480027c2e8002001180064824800038ae800117e180095205800d1b0c8001cafd800bd5d38014b103807c895c8007fd01800130fa80015bc48003979e800093188000a1b78060a3b7800ab8148008a8e18000db888000655e80215923800540998053243580084836800045f8800d346480018695800186e5800654108000762b8001e52e80010feb'
const FEEDS_812843 =
  '0x8019e8a28000dbf4800039c68000ec7d8007a7c4803156dc80424ae880604d7980009724808b2105800186b280009865800796ba8000d2618021df2080308360800263c88001f39c80061a648000385a800111aa8008fb9c800c993d8001bd57800bd37380142631807a0be38007eb018001334080016170800330b280008f9380009c9d805cfd3d800a8f02800875ed8000e358800062378020d93b800502e9804ea2de8008194980004668800cdae88001869e800186e48005fbe68000760d8001e8bb80011655'
const LEGACY_SIGNATURES =
  '0x57eed58064000c667600680064000c667601200163ea6a576ea7fc46557b8611339d01e9b0d832d80060f892e02afe7700121c03e351a3079a4fcbb8c3fa2a8e241107d28fd9387d25157a341c3afc29a2eead1cdc60119c390e089ecf940d61769b226b48c9056b5b095d3e83f3363442bb12'
const MIXED_SIGNATURES =
  '0x57eed58064000cc47a00680064000cc47a01d3c1e3864d0b0da28fe5093b667d477062424820fa2feeabf958ba0f1b2324611b3af8d6e1ee5b98db8c6036a131595195ccfd7a97153f0672188057f0bcb6a29a1682f51a950ac9e3f35187c1c86ce7469145fece42c87eec592415f92254dc0bc8000cc47a0045011c3ce1bcea504f167586c19d8c50e71564c7aa5557125d34b07894594a36335feb2f57308692549f4cf67bcacacfb8bb743db6234659d6fead735a9d09a3e0d4b00008ff'
const CHAIN_BOUND_SIGNATURES =
  '0x57eed580640016e3600042011c01da1b89120d9e77ff640d4666ea6968a2d88771145cc2f178158f45d19d20b612f81105a476140824542302516add477f23ab8f440944bdd125fbd45c392f32c80016e3600046011c170d6475d3deb3cb39df5ce1dd12bd8818557db15cb0cf2674ceb749e076d579359cdd78d8af717f562ff219a97630a75f07fa0963c8c907615a1967a998cd55000a010b'
const REVEAL_AND_BIT_VOTE =
  '0x9d00c9fd640016e36000340123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef801a963f8000dfca000000007ffffffb80000000c80016e3600004000a010b'

function bytes(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

function uint256(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function frame(input: string, protocol: number) {
  return decodeSubmission(input)?.frames.find((frame) => frame.protocol === protocol)
}

describe('epoch arithmetic', () => {
  test('gives the round of a time, to the second', () => {
    expect(roundAt(FLARE_CLOCK, 1_658_430_000)).toBe(0)
    expect(roundAt(FLARE_CLOCK, 1_658_430_089)).toBe(0)
    expect(roundAt(FLARE_CLOCK, 1_658_430_090)).toBe(1)
    expect(roundAt(FLARE_CLOCK, 1_795_176_000)).toBe(1_519_400)
    expect(roundAt({ ...FLARE_CLOCK, firstRoundAtSeconds: 1_658_429_955 }, 1_658_430_089)).toBe(1)
  })

  test.each([
    [223, 1_725_865_200, 749_280],
    [241, 1_731_308_400, 809_760],
    [392, 1_776_970_800, 1_317_120],
    [417, 1_784_530_800, 1_401_120],
    [441, 1_791_788_400, 1_481_760],
    [452, 1_795_114_800, 1_518_720],
  ])('gives start and first round of reward epoch %i', (epoch, start, round) => {
    expect(expectedEpochStart(FLARE_CLOCK, epoch)).toBe(start)
    expect(expectedFirstRound(FLARE_CLOCK, epoch)).toBe(round)
  })

  test('gives the windows of a round', () => {
    expect(roundWindowsOf(FLARE_CLOCK, 812_576)).toEqual({
      start: 1_731_561_840,
      end: 1_731_561_930,
      revealEnd: 1_731_561_975,
      graceEnd: 1_731_561_990,
      complete: 1_731_562_020,
    })
    expect(roundWindowsOf(FLARE_CLOCK, 1_500_000)).toEqual({
      start: 1_793_430_000,
      end: 1_793_430_090,
      revealEnd: 1_793_430_135,
      graceEnd: 1_793_430_150,
      complete: 1_793_430_180,
    })
  })

  test('a block belongs to the last round that has started', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_658_430_000, max: 4_000_000_000 }), (at) => {
        const round = roundAt(FLARE_CLOCK, at)
        return roundStart(FLARE_CLOCK, round) <= at && at < roundStart(FLARE_CLOCK, round + 1)
      }),
    )
  })
})

describe('calldata framing', () => {
  test('decodes a real commit', () => {
    const input =
      '0x6c532fae64000c6620002005a93355a28127ff0ca2d8136648c1fd682e0041f8367ba4567586b3d4149d54'
    const submission = decodeSubmission(input)
    expect(submission?.function).toBe('submit1')
    expect(submission?.frames).toMatchObject([{ protocol: FTSO_PROTOCOL, round: 812_576 }])
    expect(decodeCommit(frame(input, FTSO_PROTOCOL)?.payload ?? bytes('0x'))).toBe(
      '0x05a93355a28127ff0ca2d8136648c1fd682e0041f8367ba4567586b3d4149d54',
    )
  })

  test('decodes the reveal and the bit vote in one transaction', () => {
    const reveal = frame(REVEAL_AND_BIT_VOTE, FTSO_PROTOCOL)
    const vote = frame(REVEAL_AND_BIT_VOTE, FDC_PROTOCOL)
    expect(reveal?.round).toBe(1_500_000)
    expect(decodeFeedValues(decodeReveal(reveal?.payload ?? bytes('0x')) ?? never())).toEqual([
      1_742_399,
      57_290,
      null,
      -5,
      0,
    ])
    expect(decodeBitVote(vote?.payload ?? bytes('0x'))).toEqual({ count: 10, bits: 0x10bn })
  })

  test('refuses the whole transaction if a frame exceeds its data', () => {
    expect(decodeSubmission(REVEAL_AND_BIT_VOTE.slice(0, -2))).toBeUndefined()
    expect(decodeSubmission('0x6c532fae6400')).toBeUndefined()
    expect(decodeSubmission('0x6c532fae')).toEqual({ function: 'submit1', frames: [] })
  })

  test('uses the last of two frames of one protocol', () => {
    const two = decodeSubmission('0x6c532fae64000000010001aa64000000010001bb')
    expect(two?.frames).toEqual([{ protocol: FTSO_PROTOCOL, round: 1, payload: bytes('0xbb') }])
  })

  test('returns no submission for other calls', () => {
    expect(submitFunctionOf('0x833bf6c0')).toBeUndefined()
    expect(decodeSubmission('0x')).toBeUndefined()
  })

  test('decodes encoded frames to the same frames', () => {
    const anyFrame = fc.record({
      protocol: fc.integer({ min: 0, max: 255 }),
      round: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      payload: fc.uint8Array({ maxLength: 80 }),
    })
    fc.assert(
      fc.property(fc.uniqueArray(anyFrame, { selector: ({ protocol }) => protocol }), (frames) => {
        const body = frames.map(({ protocol, round, payload }) => {
          const head = Buffer.alloc(7)
          head.writeUInt8(protocol, 0)
          head.writeUInt32BE(round, 1)
          head.writeUInt16BE(payload.length, 5)
          return head.toString('hex') + Buffer.from(payload).toString('hex')
        })
        const read = decodeSubmission(`0x57eed580${body.join('')}`)?.frames ?? []
        expect(read.map(({ payload, ...rest }) => ({ ...rest, payload: [...payload] }))).toEqual(
          frames.map((f) => ({ ...f, payload: [...f.payload] })),
        )
      }),
    )
  })

  test('decodes or refuses any calldata without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (rest) => {
        decodeSubmission(`0x9d00c9fd${Buffer.from(rest).toString('hex')}`)
        decodeSignedResult(rest)
        decodeReveal(rest)
        decodeBitVote(rest)
      }),
    )
  })
})

describe('FTSO commit and reveal', () => {
  test.each([
    [
      812_576,
      26613761005485227210124837044607206462361910438060874105373946905076167777370n,
      FEEDS_812576,
      '0x05a93355a28127ff0ca2d8136648c1fd682e0041f8367ba4567586b3d4149d54',
    ],
    [
      812_843,
      85958741304834641816092404779492018677558169087210912501727632845513343179854n,
      FEEDS_812843,
      '0x6ae081fd19f4890fa29ece8c3ee9585cca38f9869acd7db2b64a0bed2ec5cb50',
    ],
  ])('a reveal of round %i hashes to the commit that was sent', (round, random, feeds, commit) => {
    const reveal = { random: uint256(random), feedBytes: bytes(feeds) }
    expect(commitHash(SUBMITTER, round, reveal)).toBe(commit)
  })

  test('decodes the prices of a real reveal', () => {
    const values = decodeFeedValues({ feedBytes: bytes(FEEDS_812576) })
    expect(values).toHaveLength(50)
    expect(values.slice(0, 6)).toEqual([1_742_399, 57_290, 14_780, 62_533, 517_557, 3_346_908])
    expect(values.slice(-3)).toEqual([30_251, 124_206, 69_611])
  })

  const random = bytes(`0x${'0123456789abcdef'.repeat(4)}`)
  const FIVE = '0x801a963f8000dfca000000007ffffffb80000000'
  test.each([
    [FIVE, '1', '0x0bcdc47083d932dad85d91d7030b20d3c68f382ff87a94e9fda8ebed10e8d285'],
    [FIVE, '2', '0xd3b9bf863d6e509f014f2c34bc1d07a32c4c5dade5c022c0ba4ff2ce2b69e726'],
    [
      '0x801a963f8000dfca00000000',
      '1',
      '0x5d5a3cd67e151442dd2eddb858cfe996652fd94eafac4184dd0bddd35c77fb31',
    ],
    [
      '0x801a963f8000dfca',
      '1',
      '0xd93abcd88462fe6d7408f95ef121014a8f3da751dd3482cbf0ab228a68106fdc',
    ],
  ])('a commit is the hash of the bytes as sent and of the submit address: %s by %s', (feeds, digit, commit) => {
    const reveal = { random, feedBytes: bytes(feeds) }
    expect(commitHash(`0x${digit.repeat(40)}`, 1_500_000, reveal)).toBe(commit)
  })

  test('refuses malformed commits and reveals', () => {
    expect(decodeCommit(new Uint8Array(31))).toBeUndefined()
    expect(decodeReveal(new Uint8Array(31))).toBeUndefined()
    expect(decodeReveal(new Uint8Array(35))).toBeUndefined()
    expect(decodeReveal(new Uint8Array(32))?.feedBytes).toHaveLength(0)
  })

  test.each([
    ['equal weights', [1, 2, 3, 5, 7, 8].map((value) => [value, 20]), 4],
    [
      'a split between two',
      [
        [1, 6],
        [4, 4],
        [11, 3],
        [12, 4],
        [12, 2],
      ],
      4,
    ],
    [
      'one past the half',
      [
        [1, 2],
        [4, 7],
        [5, 1],
        [8, 4],
        [9, 2],
        [11, 6],
      ],
      8,
    ],
    [
      'two',
      [
        [7, 20],
        [9, 20],
      ],
      8,
    ],
    [
      'below zero',
      [
        [-8, 1],
        [-5, 1],
      ],
      -7,
    ],
  ])('computes the weighted median of %s', (_name, votes, median) => {
    expect(weightedMedian(votes.map(([value = 0, weight = 0]) => ({ value, weight })))).toBe(median)
  })

  test('no values have no median', () => {
    expect(weightedMedian([])).toBeUndefined()
  })
})

describe('FDC bit votes', () => {
  test.each([
    ['0x00050b', 5, 0b01011n],
    ['0x000a010b', 10, 0x10bn],
    ['0x001001', 16, 1n],
    ['0x00100001', 16, 1n],
    ['0x0003', 3, 0n],
    ['0x0008ff', 8, 0xffn],
  ])('decodes %s as a vote on %i requests', (hex, count, bits) => {
    expect(decodeBitVote(bytes(hex))).toEqual({ count, bits })
    expect(fitsRequests({ count, bits }, count)).toBe(true)
  })

  test('a vote with a bit beyond the requests, or with another count, does not fit a round', () => {
    expect(fitsRequests({ count: 5, bits: 0x10n }, 5)).toBe(true)
    expect(fitsRequests({ count: 5, bits: 0x20n }, 5)).toBe(false)
    expect(fitsRequests({ count: 5, bits: 1n }, 6)).toBe(false)
    expect(decodeBitVote(bytes('0x00'))).toBeUndefined()
  })

  test('a vote confirms the consensus if it confirms each of its requests', () => {
    const vote = { count: 4, bits: 0b1011n }
    expect(confirmsConsensus(vote, { count: 4, bits: 0b0011n })).toBe(true)
    expect(confirmsConsensus(vote, { count: 4, bits: 0b0111n })).toBe(false)
    expect(confirmsConsensus({ count: 4, bits: 0n }, { count: 4, bits: 0n })).toBe(true)
  })

  test('the consensus is the vote that the most weight signed, not the most providers', () => {
    const a = { count: 4, bits: 0b0011n }
    const b = { count: 4, bits: 0b0111n }
    const votes = [
      { vote: a, weight: 300 },
      { vote: a, weight: 300 },
      { vote: a, weight: 200 },
      { vote: b, weight: 500 },
      { vote: b, weight: 400 },
    ]
    expect(consensusBitVote(votes)).toEqual(b)
    expect(consensusBitVote([])).toBeUndefined()
  })

  test('among votes of equal weight the first by decimal text wins, in any order', () => {
    const ten = { vote: { count: 4, bits: 10n }, weight: 5 }
    const nine = { vote: { count: 4, bits: 9n }, weight: 5 }
    expect(consensusBitVote([nine, ten])).toEqual(ten.vote)
    expect(consensusBitVote([ten, nine])).toEqual(ten.vote)
  })

  test('equal requests count once, at the place of the first', () => {
    expect(distinctRequests(['0xaa', '0xbb', '0xaa', '0xcc'])).toEqual(['0xaa', '0xbb', '0xcc'])
  })

  test('a request has type and source in printable form', () => {
    const data = Buffer.alloc(96)
    data.write('EVMTransaction', 0)
    data.write('ETH\n<b>', 32)
    expect(requestKind(`0x${data.toString('hex')}`)).toEqual({
      attestationType: 'EVMTransaction',
      source: 'ETH?<b>',
    })
  })
})

describe('signatures', () => {
  const ftso = {
    protocol: FTSO_PROTOCOL,
    round: 1_500_000,
    isSecureRandom: true,
    merkleRoot: '0xa711d4ac935765adb0a0283d15a4e7dd6c8771554b524c454c1ff6ad28c37b2c',
  } as const
  const fdc = {
    protocol: FDC_PROTOCOL,
    round: 1_500_000,
    isSecureRandom: false,
    merkleRoot: '0x1cbaada67caab1027a21b559a0066d83c00ef3f985d87d5381a5441b9cf6859d',
  } as const

  test('a real signature before the cutover recovers its signing key under the legacy digest', () => {
    const signed =
      decodeSignedResult(frame(LEGACY_SIGNATURES, FTSO_PROTOCOL)?.payload ?? never()) ?? never()
    const message = `0x${Buffer.from(signed.message ?? []).toString('hex')}`
    const merkleRoot = `0x${message.slice(14)}` as const
    const result = { protocol: FTSO_PROTOCOL, round: 812_662, isSecureRandom: true, merkleRoot }
    expect(signedBytesOf(result)).toBe(message)
    const digests = digestsOf(result, 14)
    expect(recoverSigner(signed, digests.legacy)).toBe('0x84824513537A6d24cfcEDdc1Ab8f4079a6Bd4CFb')
    expect(recoverSigner(signed, digests.chainBound)).not.toBe(
      '0x84824513537A6d24cfcEDdc1Ab8f4079a6Bd4CFb',
    )
  })

  test('decodes both payload types of one real transaction', () => {
    const first =
      decodeSignedResult(frame(MIXED_SIGNATURES, FTSO_PROTOCOL)?.payload ?? never()) ?? never()
    const second =
      decodeSignedResult(frame(MIXED_SIGNATURES, FDC_PROTOCOL)?.payload ?? never()) ?? never()
    expect(first.recovery).toBe(0)
    expect(second.message).toBeUndefined()
    expect(second.recovery).toBe(1)
    expect(decodeBitVote(second.unsigned)).toEqual({ count: 8, bits: 0xffn })
    const merkleRoot = `0x${Buffer.from(first.message ?? [])
      .toString('hex')
      .slice(12)}` as const
    const result = { protocol: FTSO_PROTOCOL, round: 836_730, isSecureRandom: true, merkleRoot }
    expect(recoverSigner(first, digestsOf(result, 14).legacy)).toBe(
      '0x5635db9B68e39721af87c758DeAb3b9F4704E96e',
    )
  })

  test('have the message and digest of both schemes', () => {
    const hex = (digest: Uint8Array) => `0x${Buffer.from(digest).toString('hex')}`
    expect(signedBytesOf(ftso)).toBe(
      '0x640016e36001a711d4ac935765adb0a0283d15a4e7dd6c8771554b524c454c1ff6ad28c37b2c',
    )
    expect(hex(digestsOf(ftso, 14).legacy)).toBe(
      '0x9990f1c12c692ab2de945fa472780c052cd8efb7a270d6b612d07c1b700d491b',
    )
    expect(hex(digestsOf(ftso, 14).chainBound)).toBe(
      '0xe734f666dc29682cf438e4935e917a02be71049f8634b43c0823420cb94703e9',
    )
    expect(hex(digestsOf(fdc, 14).legacy)).toBe(
      '0x52d25563ccfbccaec1f97e95f6e69a6011117e87789e1e3e4303e025f0c971af',
    )
    expect(hex(digestsOf(fdc, 14).chainBound)).toBe(
      '0x9f360f7fd0ad8147e53fe324be20a6714aa1d29152913f0cfd34ce37f6972096',
    )
  })

  test('a signature recovers its signer under its own digest only', () => {
    const signed =
      decodeSignedResult(frame(CHAIN_BOUND_SIGNATURES, FTSO_PROTOCOL)?.payload ?? never()) ??
      never()
    const signer = '0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F'
    const { chainBound, legacy } = digestsOf(ftso, 14)
    expect(recoverSigner(signed, chainBound)).toBe(signer)
    expect(recoverSigner(signed, legacy)).toBe('0x9f9069889fDE26EAA7eb4Dba7124c4392F4A1E94')
    expect(recoverSigner(signed, digestsOf(ftso, 19).chainBound)).toBe(
      '0x58106C50468e9378a5A5686b2925583bf732d93C',
    )
    const flipped = digestsOf({ ...ftso, isSecureRandom: false }, 14)
    expect(recoverSigner(signed, flipped.chainBound)).toBe(
      '0xDE352cc446e8a095EA31D67Bd08Ba28c41ba76d8',
    )
    const other =
      decodeSignedResult(frame(CHAIN_BOUND_SIGNATURES, FDC_PROTOCOL)?.payload ?? never()) ?? never()
    expect(recoverSigner(other, digestsOf(fdc, 14).chainBound)).toBe(signer)
    expect(decodeBitVote(other.unsigned)).toEqual({ count: 10, bits: 0x10bn })
  })

  test('a malformed signature has no signer', () => {
    const { legacy } = digestsOf(ftso, 14)
    expect(recoverSigner({ signature: new Uint8Array(64), recovery: 0 }, legacy)).toBeUndefined()
    const full = new Uint8Array(64).fill(255)
    expect(recoverSigner({ signature: full, recovery: 0 }, legacy)).toBeUndefined()
    expect(recoverSigner({ signature: full, recovery: 200 }, legacy)).toBeUndefined()
    expect(decodeSignedResult(new Uint8Array(65))).toBeUndefined()
    expect(decodeSignedResult(new Uint8Array(80).fill(9))).toBeUndefined()
  })
})

describe('silence of fast updates', () => {
  test.each([
    [103, 2.299075e-2],
    [41, 2.227423e-1],
    [9, 7.191753e-1],
    [136, 6.864577e-3],
  ])('100 blocks of silence at weight %i have the probability of the model', (weight, chance) => {
    expect(chanceOfSilence(silenceExponent(weight, 100, 1.5))).toBeCloseTo(chance, 7)
  })

  test('the default threshold is crossed at the block that the model predicts', () => {
    expect(isSilenceImprobable(silenceExponent(103, 427, 1.5), 1e-7)).toBe(false)
    expect(isSilenceImprobable(silenceExponent(103, 428, 1.5), 1e-7)).toBe(true)
    expect(isSilenceImprobable(silenceExponent(103, 214, 3), 1e-7)).toBe(true)
    expect(isSilenceImprobable(silenceExponent(18, 2520, 1.5), 1e-7)).toBe(true)
    expect(isSilenceImprobable(silenceExponent(17, 2520, 1.5), 1e-7)).toBe(false)
  })

  test('silence before and after a change of weight adds up', () => {
    const sum = silenceExponent(103, 200, 1.5) + silenceExponent(80, 300, 1.5)
    expect(sum).toBeCloseTo(16.336, 4)
    expect(chanceOfSilence(sum)).toBeCloseTo(8.042e-8, 11)
    expect(isSilenceImprobable(sum, 1e-7)).toBe(true)
  })

  test('the probability never becomes zero', () => {
    expect(chanceOfSilence(1e9)).toBeGreaterThan(0)
  })

  test.each([
    [1.8, 1680],
    [1.605, 1884],
    [1.2, 2520],
    [1, 3024],
  ])('with blocks every %f s, 1 % of an epoch is the right number of blocks', (blockSeconds, blocks) => {
    expect(blocksInOnePercentOfEpoch(302_400, blockSeconds)).toBe(blocks)
  })

  test('decodes the sample size from fixed point', () => {
    expect(updatesPerBlockOf(0x01800000000000000000000000000000n)).toBe(1.5)
  })
})

function never(): never {
  throw new Error('the vector does not decode')
}

test.each([
  ['0x92d2c7775a20416d70c987a8c6c7c756146460bb', 'NodeID-EPLACd344ouymyJAQYXZBvbmU3NJ6ooeB'],
  ['0x0389d94ae54c777090a5d44844631b7868eefabc', 'NodeID-KiAUisCU8UvXGnMRiUvoeyWneSdUm987'],
  ['0xbc32187e0ec1c6e655f95ba2d15f2f300587528c', 'NodeID-JA63moobNNMLby4ENNUiJqVJA2cdpks5J'],
] as const)('the node id %s is written as %s', (bytes20, text) => {
  expect(nodeIdOf(bytes20)).toBe(text)
})
