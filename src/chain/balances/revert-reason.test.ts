import fc from 'fast-check'
import { encodeErrorResult, type Hex, parseAbi, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { anyUnicodeCharacter } from '../../../test/support/any-character.ts'
import { runs } from '../../../test/support/runs.ts'
import { ROUTER_ABI, TOKEN_ERRORS_ABI } from '../contracts.ts'
import { decodeRevertReason } from './revert-reason.ts'

const ERRORS = parseAbi(['error Error(string reason)', 'error Panic(uint256 code)'])
const errorText = (text: string) =>
  encodeErrorResult({ abi: ERRORS, errorName: 'Error', args: [text] })

describe('the reason of a failure', () => {
  test('is the text that a contract gives', () => {
    // The text of the protocol's old relay.
    const known =
      '0x08c379a00000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000f416c72656164792072656c617965640000000000000000000000000000000000'
    expect(decodeRevertReason(known)).toBe('Already relayed')
    expect(decodeRevertReason(errorText('ERC20: insufficient allowance'))).toBe(
      'ERC20: insufficient allowance',
    )
  })

  test('is the name of a known error of the router or of tokens', () => {
    const paused = encodeErrorResult({ abi: ROUTER_ABI, errorName: 'IsPaused' })
    expect(decodeRevertReason(paused)).toBe('IsPaused')
    const wrong = encodeErrorResult({
      abi: ROUTER_ABI,
      errorName: 'WrongAmountReceived',
      args: [5n, 4n],
    })
    expect(decodeRevertReason(wrong)).toBe('WrongAmountReceived')
    const poor = encodeErrorResult({
      abi: TOKEN_ERRORS_ABI,
      errorName: 'ERC20InsufficientBalance',
      args: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 1n, 2n],
    })
    expect(decodeRevertReason(poor)).toBe('ERC20InsufficientBalance')
  })

  test('is the number of a panic', () => {
    const overflow = encodeErrorResult({ abi: ERRORS, errorName: 'Panic', args: [0x11n] })
    expect(decodeRevertReason(overflow)).toBe('Panic(17)')
  })

  test.each<[string, Hex]>([
    ['nothing', '0x'],
    ['an unknown error', '0xd0ebeb4b'],
    ['too few bytes', '0x08c379a0'],
    ['an empty text', errorText('')],
    ['a text of blanks', errorText(' \n ')],
  ])('is null for %s', (_, data) => {
    expect(decodeRevertReason(data)).toBeNull()
  })

  test('is short and printable for any revert data', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyUnicodeCharacter, maxLength: 400 }), (text) => {
        const reason = decodeRevertReason(errorText(text))
        if (reason !== null) expect(reason).toMatch(/^[\x20-\x7e]{1,120}$/)
      }),
      { numRuns: runs(40) },
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const reason = decodeRevertReason(toHex(bytes))
        expect(reason === null || reason.length <= 120).toBe(true)
      }),
      { numRuns: runs(40) },
    )
  })
})
