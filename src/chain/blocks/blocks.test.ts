import { describe, expect, test } from 'vitest'
import { confirmedBlockNumber, contradicts, toBlockRef } from './blocks.ts'

const HASH = `0x${'ab'.repeat(32)}`

describe('the confirmed block', () => {
  test('counts the tip as the first confirmation', () => {
    expect(confirmedBlockNumber(100, 1)).toBe(100)
    expect(confirmedBlockNumber(100, 2)).toBe(99)
    expect(confirmedBlockNumber(100, 100)).toBe(1)
  })

  test('is block 0 if the chain has fewer blocks than confirmations', () => {
    expect(confirmedBlockNumber(1, 2)).toBe(0)
    expect(confirmedBlockNumber(0, 2)).toBe(0)
    expect(confirmedBlockNumber(0, 1)).toBe(0)
  })
})

describe('a block', () => {
  test('has its number, hash and time in whole seconds', () => {
    const answer = {
      number: '0x10',
      hash: HASH.toUpperCase().replace('0X', '0x'),
      timestamp: '0x69200000',
    }
    expect(toBlockRef({ ...answer, transactions: [] })).toEqual({
      number: 16,
      hash: HASH,
      at: new Date(0x69200000 * 1000),
    })
  })

  test.each([
    ['nothing', undefined],
    ['a pending block', { number: null, hash: null, timestamp: '0x1' }],
    ['numbers instead of hexadecimal', { number: 16, hash: HASH, timestamp: 1 }],
    ['a short hash', { number: '0x10', hash: '0xab', timestamp: '0x1' }],
  ])('is not made from %s', (_, answer) => {
    expect(() => toBlockRef(answer)).toThrow()
  })
})

describe('two blocks', () => {
  const block = (number: number, seconds: number, parent = number - 1) => ({
    number,
    hash: `0x${String(number).padStart(64, '0')}` as const,
    parentHash: `0x${String(parent).padStart(64, '0')}` as const,
    at: new Date(1_800_000_000_000 + seconds * 1000),
  })

  test.each([
    ['the same', block(7, 0), block(7, 0)],
    ['a child of the same second', block(7, 0), block(8, 0)],
    ['a later block', block(7, 0), block(90, 100)],
    ['an earlier block', block(90, 100), block(7, 0)],
    ['many blocks after a long time', block(7, 0), block(150_007, 150_000)],
  ])('agree: %s', (_, one, other) => {
    expect(contradicts(one, other)).toBe(false)
  })

  test.each([
    ['another block at the same height', block(7, 0), { ...block(7, 0), hash: block(6, 0).hash }],
    ['a child of another parent', block(7, 0), block(8, 0, 5)],
    ['a child before its parent', block(7, 0), block(8, -1)],
    ['a later block that is earlier', block(7, 0), block(90, -1)],
    ['a parent after its child', block(8, 0), block(7, 1)],
    ['a leap', block(7, 0), block(0xffffff, 60)],
  ])('contradict each other: %s', (_, one, other) => {
    expect(contradicts(one, other)).toBe(true)
  })
})
