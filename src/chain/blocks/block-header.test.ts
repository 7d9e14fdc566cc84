import { describe, expect, test } from 'vitest'
import { silentLogger } from '#src/kernel/logger.ts'
import { hasHash } from '../../../examples/evidence/roots.ts'
import { createResultCheck } from '../endpoints/result-shapes.ts'
import { BLOCK_AHEAD_MS_MAX, checkHeader, headerHash } from './block-header.ts'

/** Block 30,806,757 of Avalanche's C-chain, whose headers are those of Flare. */
const BLOCK = {
  baseFeePerGas: '0x5d21dba00',
  blockExtraData: '0x',
  blockGasCost: '0x61a80',
  difficulty: '0x1',
  extDataGasUsed: '0x0',
  extDataHash: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  extraData:
    '0x000000000000000000000000004cf11400000000002a658c00000000000000000000000000000000000000000018f890000000000025b80600000000000d161100000000000000000000000000000000',
  gasLimit: '0xe4e1c0',
  gasUsed: '0x2c5572',
  hash: '0x746540c469f195d7e44d124abcf406b7bd1ea8863eba18783dcd54791862e506',
  logsBloom:
    '0x000002400000001800200028000800a10003400400002100200020020020025010004000404020430250040004180011010000040001000201b04200002034000441c000080800020c00000c00400009c08020000042000800020000c0880a000204009982000c010040800000a0180800000000088a5400020000114080002100024004040010000800000540004800100000112800001100000080100200000204404060006a00a004000440000000042000100118410004018020000100508080100204020800000001010110001000060040400004818401000202003000101080040000040400890401204800201220010000120042a10100000a400140',
  miner: '0x0100000000000000000000000000000000000000',
  mixHash: '0x0000000000000000000000000000000000000000000000000000000000000000',
  nonce: '0x0000000000000000',
  number: '0x1d612e5',
  parentHash: '0xcba4335f04ed5b7a74f1199ec9eb80443dd798928a0fdd7a72bde5dbc218309a',
  receiptsRoot: '0xddf770d794d2e146de33f3d35dc71658ab82287425c33f637ddf4c273dfd242f',
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  size: '0x2358',
  stateRoot: '0xb1f578c894cf567bac5074e3cf48532b1ad79fbfd758c8962e630dfad6c9e064',
  timestamp: '0x6479af6d',
  totalDifficulty: '0x1d612e5',
  transactions: [],
  transactionsRoot: '0x0133259bccb93f74041ebec5a24cb323f9351f2779a4c5b6ae8530d9c3a9f4c0',
  uncles: [],
}
const AT_MS = Number(BLOCK.timestamp) * 1000
const at = (ms: number) => new Date(AT_MS + ms)
/** The block with the hash that its fields give. */
const hashed = (fields: object) => {
  const block = { ...BLOCK, ...fields }
  return { ...block, hash: headerHash(block) ?? '0x' }
}

describe('the hash of a header', () => {
  test('is that of a real block', () => {
    expect(headerHash(BLOCK)).toBe(BLOCK.hash)
  })

  test.each([
    ['of later forks', { blobGasUsed: '0x0', excessBlobGas: '0x0', minDelayExcess: '0x7a1200' }],
    ['of Ethereum', { extDataHash: undefined, withdrawalsRoot: BLOCK.stateRoot }],
  ])('is the one that the script of examples/ computes, with fields %s', (_, fields) => {
    const complete = {
      ...fields,
      ...('minDelayExcess' in fields && {
        parentBeaconBlockRoot: BLOCK.mixHash,
        timestampMilliseconds: '0x188752bd1c8',
      }),
    }
    const block = hashed(complete)
    expect(hasHash(block, block.hash)).toBe(true)
    expect(block.hash).not.toBe(BLOCK.hash)
  })

  test.each([
    'timestamp',
    'number',
    'stateRoot',
    'logsBloom',
    'extraData',
    'blockGasCost',
  ] as const)('changes with %s, so that another value is refused', (field) => {
    const other = { ...BLOCK, [field]: `${String(BLOCK[field]).slice(0, -2)}77` }
    expect(() => checkHeader(other, at(0), false)).toThrow('do not give its hash')
    const { [field]: _, ...rest } = other
    expect(() => checkHeader(rest, at(0), false)).toThrow('do not give its hash')
  })
})

describe('a block', () => {
  test('is believed up to a minute ahead of the clock, and at any time in the past', () => {
    for (const ms of [-BLOCK_AHEAD_MS_MAX, 0, 400 * 86_400_000]) {
      expect(checkHeader(BLOCK, at(ms), true)).toBe('hash')
    }
  })

  test.each([
    ['61 seconds', Number(BLOCK.timestamp) + 61],
    ['an hour', Number(BLOCK.timestamp) + 3600],
    ['the year 2262', 0x2_25c1_7d04],
    ['milliseconds', AT_MS],
  ])('is refused with a time of %s ahead, even where its hash follows', (_, seconds) => {
    const block = hashed({ timestamp: `0x${seconds.toString(16)}` })
    expect(() => checkHeader(block, at(0), false)).toThrow('ahead of the clock')
  })

  test('with unknown fields is believed by its time, once reported', () => {
    const warnings: object[] = []
    const log = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) }
    const check = createResultCheck({ clock: { now: () => at(0) }, log })
    const ask = (block: object) =>
      check({ method: 'eth_getBlockByNumber', params: [BLOCK.number, true] }, block)
    ask({ ...BLOCK, hash: BLOCK.stateRoot, newRoot: BLOCK.stateRoot })
    ask({ ...BLOCK, hash: BLOCK.parentHash, newRoot: BLOCK.stateRoot })
    expect(warnings).toEqual([{ block: Number(BLOCK.number), fields: ['newRoot'] }])
    const ahead = { ...BLOCK, timestamp: '0x6479b000', newRoot: BLOCK.stateRoot }
    expect(() => ask(ahead)).toThrow('ahead of the clock')
    // Fields beside the header, with which hashes could be computed, excuse nothing.
    ask({ ...BLOCK, newRoot: null, beside: '0x1' })
    const other = { ...BLOCK, timestamp: '0x6479af00', newRoot: null, beside: '0x1' }
    expect(() => ask(other)).toThrow('do not give its hash')
  })

  test('is the one that was asked for', () => {
    const check = createResultCheck({ clock: { now: () => at(0) }, log: silentLogger })
    const ask = (asked: string, method = 'eth_getBlockByNumber') =>
      check({ method, params: [asked, false] }, BLOCK)
    expect(() => ask('0x1d612e6')).toThrow('block 30806757 instead of 0x1d612e6')
    expect(() => ask(BLOCK.parentHash, 'eth_getBlockByHash')).toThrow('instead of')
    ask(BLOCK.number)
    ask(BLOCK.hash, 'eth_getBlockByHash')
    check({ method: 'eth_getBlockByNumber', params: ['0x1', false] }, null)
  })
})
