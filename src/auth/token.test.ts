import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createToken, displayPrefixOf, formatToken, hashToken, hasTokenForm } from './token.ts'

const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe('a token', () => {
  test('consists of fwd_, 43 characters of secret and 6 of checksum', () => {
    // The checksums were computed with another implementation of CRC-32 (Python's zlib).
    expect(formatToken(new Uint8Array(32))).toBe(`fwd_${'0'.repeat(43)}2S1Raz`)
    expect(formatToken(new Uint8Array(32).fill(255))).toBe(
      'fwd_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp10qhkpl',
    )
  })

  test('has this form for any bytes', () => {
    fc.assert(
      fc.property(secret, (bytes) => {
        const token = formatToken(bytes)
        expect(token).toMatch(/^fwd_[0-9A-Za-z]{49}$/)
        expect(hasTokenForm(token)).toBe(true)
      }),
    )
  })

  test('differs for different bytes', () => {
    fc.assert(
      fc.property(secret, secret, (bytes, otherBytes) => {
        fc.pre(Buffer.compare(bytes, otherBytes) !== 0)
        expect(formatToken(bytes)).not.toBe(formatToken(otherBytes))
      }),
    )
  })

  test('is not recognized with any one character mistyped', () => {
    const typed = fc.constantFrom(
      ...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-. ',
    )
    fc.assert(
      fc.property(secret, fc.nat({ max: 52 }), typed, (bytes, at, character) => {
        const token = formatToken(bytes)
        fc.pre(token.charAt(at) !== character)
        expect(hasTokenForm(`${token.slice(0, at)}${character}${token.slice(at + 1)}`)).toBe(false)
      }),
    )
  })

  test('is not recognized with two neighbours swapped, cut off, or with a character before or after it', () => {
    fc.assert(
      fc.property(secret, fc.nat({ max: 51 }), (bytes, at) => {
        const token = formatToken(bytes)
        const [character, nextCharacter] = [token.charAt(at), token.charAt(at + 1)]
        fc.pre(character !== nextCharacter)
        expect(
          hasTokenForm(`${token.slice(0, at)}${nextCharacter}${character}${token.slice(at + 2)}`),
        ).toBe(false)
        expect(hasTokenForm(token.slice(0, at))).toBe(false)
        expect(hasTokenForm(`${token}\n`)).toBe(false)
        expect(hasTokenForm(` ${token}`)).toBe(false)
      }),
    )
  })

  test('is different each time one is created', () => {
    const made = Array.from({ length: 1000 }, createToken)
    expect(new Set(made).size).toBe(1000)
    expect(made.every(hasTokenForm)).toBe(true)
  })

  test('is stored as its SHA-256, and shown by its first 8 characters', () => {
    expect(hashToken('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
    expect(displayPrefixOf('fwd_3Kd9QmT7')).toBe('fwd_3Kd9')
  })
})
