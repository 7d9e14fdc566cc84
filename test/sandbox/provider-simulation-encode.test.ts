import { type Hex, hashMessage, recoverMessageAddress, serializeSignature } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import {
  commitHash,
  encodeBitVote,
  encodeFeedValues,
  fastUpdateHash,
  messageBytes,
  messageDigest,
  nodeIdText,
  policyBytes,
  policyHash,
  relayData,
  revealPayload,
  type Signature,
  signaturePayload,
  signBytes,
  signedHashOf,
  submissionData,
} from '#sandbox/devnet/fsp/encode.ts'
import {
  epochAt,
  epochStart,
  FLARE_TIMING,
  roundAt,
  roundStart,
} from '#sandbox/devnet/fsp/timing.ts'

/** Test vectors of the protocol; many are of real transactions on Flare. */

const KEY: Hex = `0x${'46'.repeat(32)}`
const ADDRESS = '0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F'
const SUBMITTER = '0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269'
const SMALL_SUBMITTER = '0x1111111111111111111111111111111111111111'
const RANDOM = BigInt(`0x${'0123456789abcdef'.repeat(4)}`)
const ROUND = 1_500_000
const FTSO = {
  protocolId: 100,
  round: ROUND,
  isSecureRandom: true,
  merkleRoot: '0xa711d4ac935765adb0a0283d15a4e7dd6c8771554b524c454c1ff6ad28c37b2c',
} as const
const FDC = {
  protocolId: 200,
  round: ROUND,
  isSecureRandom: false,
  merkleRoot: '0x1cbaada67caab1027a21b559a0066d83c00ef3f985d87d5381a5441b9cf6859d',
} as const
const VALUES_A =
  '0x801a963f8000dfca800039bc8000f4458007e5b5803311dc80432212805ff7b9800098378089430f8001869f8000996b8007cd798000e8318022302180311c9480027c2e8002001180064824800038ae800117e180095205800d1b0c8001cafd800bd5d38014b103807c895c8007fd01800130fa80015bc48003979e800093188000a1b78060a3b7800ab8148008a8e18000db888000655e80215923800540998053243580084836800045f8800d346480018695800186e5800654108000762b8001e52e80010feb'
const VALUES_B =
  '0x8019e8a28000dbf4800039c68000ec7d8007a7c4803156dc80424ae880604d7980009724808b2105800186b280009865800796ba8000d2618021df2080308360800263c88001f39c80061a648000385a800111aa8008fb9c800c993d8001bd57800bd37380142631807a0be38007eb018001334080016170800330b280008f9380009c9d805cfd3d800a8f02800875ed8000e358800062378020d93b800502e9804ea2de8008194980004668800cdae88001869e800186e48005fbe68000760d8001e8bb80011655'

describe('epochs', () => {
  test.each([
    [1_658_430_000, 0, 0],
    [1_658_430_089, 0, 0],
    [1_658_430_090, 1, 0],
    [1_731_561_840, 812_576, 241],
    [1_793_430_000, 1_500_000, 446],
    [1_795_176_000, 1_519_400, 452],
  ])('second %i is in round %i of reward epoch %i', (seconds, round, epoch) => {
    expect(roundAt(FLARE_TIMING, seconds)).toBe(round)
    expect(epochAt(FLARE_TIMING, seconds)).toBe(epoch)
  })

  test.each([
    [223, 1_725_865_200],
    [241, 1_731_308_400],
    [392, 1_776_970_800],
    [441, 1_791_788_400],
  ])('reward epoch %i begins at second %i', (epoch, seconds) => {
    expect(epochStart(FLARE_TIMING, epoch)).toBe(seconds)
    expect(roundStart(FLARE_TIMING, epoch * 3360)).toBe(seconds)
  })
})

describe('prices', () => {
  test.each([
    [
      812_576,
      26613761005485227210124837044607206462361910438060874105373946905076167777370n,
      VALUES_A,
      '0x05a93355a28127ff0ca2d8136648c1fd682e0041f8367ba4567586b3d4149d54',
    ],
    [
      812_843,
      85958741304834641816092404779492018677558169087210912501727632845513343179854n,
      VALUES_B,
      '0x6ae081fd19f4890fa29ece8c3ee9585cca38f9869acd7db2b64a0bed2ec5cb50',
    ],
  ] as const)('the commit of a real round, %i', (round, random, values, commit) => {
    expect(commitHash(SUBMITTER, round, { random, values })).toBe(commit)
  })

  test('the transactions of a real round', () => {
    const random = 26613761005485227210124837044607206462361910438060874105373946905076167777370n
    const reveal = { random, values: VALUES_A } as const
    const commit = commitHash(SUBMITTER, 812_576, reveal)
    expect(submissionData('submit1', [{ protocolId: 100, round: 812_576, payload: commit }])).toBe(
      '0x6c532fae64000c6620002005a93355a28127ff0ca2d8136648c1fd682e0041f8367ba4567586b3d4149d54',
    )
    expect(
      submissionData('submit2', [
        { protocolId: 100, round: 812_576, payload: revealPayload(reveal) },
      ]),
    ).toBe(
      `0x9d00c9fd64000c662000e83ad6dadc250b9eee6480e729a9b615185c01e067e15738cafe352d851b529c5a${VALUES_A.slice(2)}`,
    )
  })

  test('missing and negative prices, and what is committed and revealed of them', () => {
    const values = encodeFeedValues([1_742_399, 57_290, null, -5, 0])
    expect(values).toBe('0x801a963f8000dfca000000007ffffffb80000000')
    const reveal = { random: RANDOM, values }
    const commit = commitHash(SMALL_SUBMITTER, ROUND, reveal)
    expect(commit).toBe('0x0bcdc47083d932dad85d91d7030b20d3c68f382ff87a94e9fda8ebed10e8d285')
    expect(commitHash('0x2222222222222222222222222222222222222222', ROUND, reveal)).toBe(
      '0xd3b9bf863d6e509f014f2c34bc1d07a32c4c5dade5c022c0ba4ff2ce2b69e726',
    )
    expect(
      submissionData('submit2', [
        { protocolId: 100, round: ROUND, payload: revealPayload(reveal) },
        { protocolId: 200, round: ROUND, payload: encodeBitVote(10, 0b1_0000_1011n) },
      ]),
    ).toBe(
      '0x9d00c9fd640016e36000340123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef801a963f8000dfca000000007ffffffb80000000c80016e3600004000a010b',
    )
  })

  test('a hash covers the bytes as they are sent, also without trailing missing prices', () => {
    const commitOf = (prices: readonly (number | null)[]) =>
      commitHash(SMALL_SUBMITTER, ROUND, { random: RANDOM, values: encodeFeedValues(prices) })
    expect(commitOf([1_742_399, 57_290, null])).toBe(
      '0x5d5a3cd67e151442dd2eddb858cfe996652fd94eafac4184dd0bddd35c77fb31',
    )
    expect(commitOf([1_742_399, 57_290])).toBe(
      '0xd93abcd88462fe6d7408f95ef121014a8f3da751dd3482cbf0ab228a68106fdc',
    )
  })
})

test.each([
  [5, 0b01011n, '0x00050b'],
  [10, 0b1_0000_1011n, '0x000a010b'],
  [16, 1n, '0x001001'],
  [3, 0n, '0x0003'],
  [8, 0xffn, '0x0008ff'],
  [5, 0b10000n, '0x000510'],
])('the bit vote on %i requests with bits %i', (requests, bits, bytes) => {
  expect(encodeBitVote(requests, bits)).toBe(bytes)
})

describe('results', () => {
  test.each([
    [
      FTSO,
      '0x640016e36001a711d4ac935765adb0a0283d15a4e7dd6c8771554b524c454c1ff6ad28c37b2c',
      '0x97a6dc4edddbc0de4f6b4bff283cc8c53e2ca745324316df40f7ca3c0c84a929',
      '0x9990f1c12c692ab2de945fa472780c052cd8efb7a270d6b612d07c1b700d491b',
      '0xf5a72127ec2bbfe3f4ea753f0cb3980410613bcf818c6e590332b3309d029211',
      '0xe734f666dc29682cf438e4935e917a02be71049f8634b43c0823420cb94703e9',
    ],
    [
      FDC,
      '0xc80016e360001cbaada67caab1027a21b559a0066d83c00ef3f985d87d5381a5441b9cf6859d',
      '0x5b4152a957c72519df05e24d1fc457eb225daaa2ea3d7be783f1eaa9e677674d',
      '0x52d25563ccfbccaec1f97e95f6e69a6011117e87789e1e3e4303e025f0c971af',
      '0xb17c953309c91b7a8637eb5ed081fd0c55912014992882de9cbd0026f9d64129',
      '0x9f360f7fd0ad8147e53fe324be20a6714aa1d29152913f0cfd34ce37f6972096',
    ],
  ] as const)('bytes and digests of protocol $protocolId', (...all) => {
    const [message, bytes, oldImage, oldDigest, newImage, newDigest] = all
    expect(messageBytes(message)).toBe(bytes)
    expect(signedHashOf(bytes)).toBe(oldImage)
    expect(messageDigest(oldImage)).toBe(oldDigest)
    expect(signedHashOf(bytes, 14)).toBe(newImage)
    expect(messageDigest(newImage)).toBe(newDigest)
  })

  test('signatures over both digests, and the transaction that carries them', () => {
    const text = ({ v, r, s }: Signature) => `${v.toString(16)}${r.slice(2)}${s.slice(2)}`
    const ftso = signBytes(KEY, signedHashOf(messageBytes(FTSO), 14))
    const fdc = signBytes(KEY, signedHashOf(messageBytes(FDC), 14))
    expect(text(ftso)).toBe(
      '1c01da1b89120d9e77ff640d4666ea6968a2d88771145cc2f178158f45d19d20b612f81105a476140824542302516add477f23ab8f440944bdd125fbd45c392f32',
    )
    expect(text(signBytes(KEY, signedHashOf(messageBytes(FTSO))))).toBe(
      '1c629e4c9c6ef8f034ff121687fdade1ed59b42d4c87425bf021ecfbbb34588b1218c0505863f6c8e0c472add453a75e461a2f2e9b2c6c958b3524e421f0a0b7d0',
    )
    const unsigned = encodeBitVote(10, 0b1_0000_1011n)
    expect(
      submissionData('submitSignatures', [
        { protocolId: 100, round: ROUND, payload: signaturePayload(ftso) },
        { protocolId: 200, round: ROUND, payload: signaturePayload(fdc, unsigned) },
      ]),
    ).toBe(
      '0x57eed580640016e3600042011c01da1b89120d9e77ff640d4666ea6968a2d88771145cc2f178158f45d19d20b612f81105a476140824542302516add477f23ab8f440944bdd125fbd45c392f32c80016e3600046011c170d6475d3deb3cb39df5ce1dd12bd8818557db15cb0cf2674ceb749e076d579359cdd78d8af717f562ff219a97630a75f07fa0963c8c907615a1967a998cd55000a010b',
    )
  })

  test('the deprecated form of a real transaction, which carries its message', () => {
    const message = '0x64000c667601200163ea6a576ea7fc46557b8611339d01e9b0d832d80060f892e02afe770012'
    const signature = {
      v: 0x1c,
      r: '0x03e351a3079a4fcbb8c3fa2a8e241107d28fd9387d25157a341c3afc29a2eead',
      s: '0x1cdc60119c390e089ecf940d61769b226b48c9056b5b095d3e83f3363442bb12',
    } as const
    const payload = signaturePayload(signature, '0x', message)
    expect(submissionData('submitSignatures', [{ protocolId: 100, round: 812_662, payload }])).toBe(
      '0x57eed58064000c667600680064000c667601200163ea6a576ea7fc46557b8611339d01e9b0d832d80060f892e02afe7700121c03e351a3079a4fcbb8c3fa2a8e241107d28fd9387d25157a341c3afc29a2eead1cdc60119c390e089ecf940d61769b226b48c9056b5b095d3e83f3363442bb12',
    )
  })
})

describe('signing policies', () => {
  const BYTES =
    '0x000500000100000d20010400000000000000000000000000000000000000000000000000000000000012341eff47bc3a10a45d4b230b5d10e37751fe6aa71800642b5ad5c4795c026514f8317c7a215e218dccd6cf00646813eb9362372eef6200f3b1dbc3f819671cba6900647e5f4552091a69125d5dfcb7b8c2659029395bdf0064e1ab8145f7e55dc933d51a18c793f901a3a0b2760064'
  const VOTERS = [
    '0x1eff47bc3a10a45d4b230b5d10e37751fe6aa718',
    '0x2b5ad5c4795c026514f8317c7a215e218dccd6cf',
    '0x6813eb9362372eef6200f3b1dbc3f819671cba69',
    '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
    '0xe1ab8145f7e55dc933d51a18c793f901a3a0b276',
  ] as const

  test('in their bytes', () => {
    const voters = VOTERS.map((address) => ({ address, weight: 100 }))
    const policy = { epoch: 1, startRound: 3360, threshold: 260, seed: 0x1234n, voters }
    expect(policyBytes(policy)).toBe(BYTES)
  })

  test.each([
    [undefined, '0x804446241e0bde9220bf0b8fdfdbf50a65a949039a940c8f956c6705b932a799'],
    [114, '0x416149338e7fa025aeea3154a8f2c39f929b1e62ecfef6b0c0d27280c5464b6a'],
    [14, '0xe5cc58756b13f1d065535428f5dc6042b81f3214a0465af03ba4f7a29936fd9f'],
  ])('and their hash on chain %s', (chainId, hash) => {
    expect(policyHash(BYTES, chainId)).toBe(hash)
  })

  test('are part of what finalises a message, before it and its signatures', () => {
    const message = messageBytes(FTSO)
    const signature = { ...signBytes(KEY, signedHashOf(message, 14)), index: 3 }
    const data = relayData(BYTES, message, [signature], 7n)
    const parts = [
      'b59589d1',
      BYTES.slice(2),
      message.slice(2),
      '0001',
      `1c${signature.r.slice(2)}${signature.s.slice(2)}0003`,
      '7'.padStart(64, '0'),
    ]
    expect(data).toBe(`0x${parts.join('')}`)
  })
})

test('an update between rounds is hashed and signed as the reference has it', async () => {
  const sortitionCredential = { replicate: 3n, gamma: { x: 1n, y: 2n }, c: 5n, s: 7n }
  const hash = fastUpdateHash({
    sortitionBlock: 70_000_000n,
    sortitionCredential,
    deltas: '0x0e17ff',
  })
  expect(hash).toBe('0x75c06f7664e80626b2f9699f190605512c8e10a8f873a205e358dcefd3e1363d')
  const { r, s, v } = signBytes(KEY, hash)
  const signature = serializeSignature({ r, s, v: BigInt(v) })
  expect(signature).toBe(
    '0xb112750149f91f55aa3f2532f7511c0ba8a4466b3196e2459f2c0d30dd60069c112e6453db7ed2b5c24cdb9f70dcbabd31e044087524de82e6e86a74ddf0cebc1b',
  )
  expect(await recoverMessageAddress({ message: { raw: hash }, signature })).toBe(ADDRESS)
  expect(messageDigest(hash)).toBe(hashMessage({ raw: hash }))
  expect(privateKeyToAddress(KEY)).toBe(ADDRESS)
})

test.each([
  ['0x92d2c7775a20416d70c987a8c6c7c756146460bb', 'NodeID-EPLACd344ouymyJAQYXZBvbmU3NJ6ooeB'],
  ['0x0389d94ae54c777090a5d44844631b7868eefabc', 'NodeID-KiAUisCU8UvXGnMRiUvoeyWneSdUm987'],
  ['0xbc32187e0ec1c6e655f95ba2d15f2f300587528c', 'NodeID-JA63moobNNMLby4ENNUiJqVJA2cdpks5J'],
] as const)('node %s is %s on the P-chain', (nodeId, text) => {
  expect(nodeIdText(nodeId)).toBe(text)
})
