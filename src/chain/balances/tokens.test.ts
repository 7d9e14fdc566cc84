import fc from 'fast-check'
import { encodeAbiParameters, type Hex, stringToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { countGraphemes } from '#src/kernel/outside-text.ts'
import { anyUnicodeCharacter } from '../../../test/support/any-character.ts'
import { decodeSymbol, decodeTokenInfo, SYMBOL_LENGTH_MAX } from './tokens.ts'

const text = (symbol: string) => encodeAbiParameters([{ type: 'string' }], [symbol])
const number = (value: bigint) => encodeAbiParameters([{ type: 'uint256' }], [value])
const anyBytes = fc
  .uint8Array({ maxLength: 200 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)

describe('a symbol', () => {
  test('is decoded from a string and from 32 bytes', () => {
    expect(decodeSymbol(text('WFLR'))).toBe('WFLR')
    expect(decodeSymbol(stringToHex('MKR', { size: 32 }))).toBe('MKR')
    // The last byte of this text ends in a zero digit of its own.
    expect(decodeSymbol(stringToHex('XRP', { size: 32 }))).toBe('XRP')
    expect(decodeSymbol(text('USD₮0'))).toBe('USD₮0')
  })

  test('is empty if the contract gives none', () => {
    expect(decodeSymbol(text(''))).toBe('')
    expect(decodeSymbol('0x')).toBe('')
    expect(decodeSymbol(`0x${'00'.repeat(32)}`)).toBe('')
    // A string whose stated length exceeds the answer.
    expect(decodeSymbol(`0x${'20'.padStart(64, '0')}${'f'.repeat(64)}`)).toBe('')
  })

  test.each([
    ['a direction mark', 'RLF\u202e', 'RLF'],
    ['a direction isolate', '\u2067WFLR\u2069', 'WFLR'],
    ['a line break', '\nWFLR\n', 'WFLR'],
    ['wide blanks', 'W\u00a0\u3000FLR', 'W FLR'],
    ['a control character', 'W\u0000F\u0007LR', 'WFLR'],
    ['invisible fillers', 'W\u200bF\u3164L\ufeffR\u00ad', 'WFLR'],
    ['broken UTF-8', 'WF\ufffdLR', 'WFLR'],
    ['blanks at its ends', '  WFLR ', 'WFLR'],
    ['tags', 'WFLR\u{e0041}', 'WFLR'],
  ])('is cleaned of %s', (_, symbol, cleaned) => {
    expect(decodeSymbol(text(symbol))).toBe(cleaned)
  })

  test('has at most 16 graphemes and no invisible character, for any answer of a contract', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyUnicodeCharacter, maxLength: 60 }), (symbol) => {
        const cleaned = decodeSymbol(text(symbol))
        expect(countGraphemes(cleaned)).toBeLessThanOrEqual(SYMBOL_LENGTH_MAX)
        expect(cleaned).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
        expect(cleaned).toBe(cleaned.trim())
      }),
    )
  })
})

describe('an asset', () => {
  test('has a symbol and decimals', () => {
    expect(decodeTokenInfo(text('FXRP'), number(6n))).toEqual({ symbol: 'FXRP', decimals: 6 })
    expect(decodeTokenInfo(text('ONE'), number(0n))).toEqual({ symbol: 'ONE', decimals: 0 })
  })

  test.each([
    ['no answers', undefined, undefined],
    ['empty answers, as of an address without a contract', '0x', '0x'],
    ['a symbol of invisible characters', text('\u202e\u200b'), number(18n)],
    ['a symbol and no decimals, as of a collection of pictures', text('NFT'), undefined],
    ['decimals and no symbol', undefined, number(18n)],
    ['more decimals than an amount has digits', text('BAD'), number(78n)],
  ] as const)('is not made of %s', (_, symbol, decimals) => {
    expect(decodeTokenInfo(symbol, decimals)).toBeUndefined()
  })

  test('is made or refused without an error, whatever the answers', () => {
    fc.assert(
      fc.property(anyBytes, anyBytes, (symbol, decimals) => {
        const info = decodeTokenInfo(symbol, decimals)
        expect(info === undefined || info.symbol.length > 0).toBe(true)
      }),
    )
  })
})
