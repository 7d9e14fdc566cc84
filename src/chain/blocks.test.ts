import { describe, expect, test } from 'vitest'
import { confirmedBlockNumber, toBlockRef } from './blocks.ts'

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
