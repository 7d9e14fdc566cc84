import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyUnicodeCharacter } from '../../test/support/any-character.ts'
import { cleanOutsideText, storableJson, storableText } from './outside-text.ts'

test('a name is cut at whole graphemes, also where an emoji stands at the limit', () => {
  expect(cleanOutsideText(`${'a'.repeat(39)}😀b`, 40)).toBe(`${'a'.repeat(39)}😀`)
  expect(cleanOutsideText('👨‍👩‍👧x', 1)).toBe('👨‍👩‍👧')
  expect(cleanOutsideText('क्षि', 1)).toBe('क्षि')
})

test('a letter with a million marks is cut, too', () => {
  expect(cleanOutsideText(`a${'\u0301'.repeat(1_000_000)}`, 40).length).toBeLessThan(2000)
})

test('controls, NUL, direction marks, lone surrogates and invisible fillers are removed', () => {
  expect(cleanOutsideText('a\0b\u202ec\u2069d\ud800e\u2060f\ufeff', 40)).toBe('abcdef')
  expect(cleanOutsideText('\u200d\ufe0f', 40)).toBe('')
})

test('line breaks become spaces', () => {
  expect(cleanOutsideText(' one\r\ntwo\tthree ', 40)).toBe('one two three')
})

test('the result for any text is well-formed, has no controls, and is not changed by cleaning it again', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: anyUnicodeCharacter, maxLength: 80 }),
      fc.nat(50),
      (text, max) => {
        const clean = cleanOutsideText(text, max)
        expect(clean.isWellFormed()).toBe(true)
        expect(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(clean)).toBe(false)
        expect(cleanOutsideText(clean, max)).toBe(clean)
      },
    ),
  )
})

test('spaces around an invisible character become one space', () => {
  expect(cleanOutsideText('a\t\0\tb \u200b c', 10)).toBe('a b c')
})

test('JSON for the database has neither NUL nor lone surrogates, at any depth and in keys', () => {
  expect(storableJson({ 'a\0': ['b\ud800', { c: 1, d: null }] })).toEqual({
    'a\ufffd': ['b\ufffd', { c: 1, d: null }],
  })
  expect(storableText('a\0')).toBe('a\ufffd')
})
