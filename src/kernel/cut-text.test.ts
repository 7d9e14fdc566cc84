import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyUnicodeCharacter } from '../../test/support/any-character.ts'
import { cutText, graphemesOf } from './cut-text.ts'

const FAMILY = '👨‍👩‍👧‍👦'

describe('a text that is too long', () => {
  test.each([
    [FAMILY.repeat(3), 30, `${FAMILY.repeat(2)}…`],
    ['🇩🇪🇫🇷🇧🇩🇮🇳', 7, '🇩🇪…'],
    ['नमस्ते', 4, 'नम…'],
    ['e\u0301e\u0301', 3, 'e\u0301…'],
    ['short', 5, 'short'],
  ])('is cut between the characters that people see (%s, %i)', (text, max, cut) => {
    expect(cutText(text, max)).toBe(cut)
  })

  test('is cut to a number of bytes', () => {
    expect(cutText('äöü', 6, Buffer.byteLength)).toBe('äöü')
    expect(cutText('äöüß', 7, Buffer.byteLength)).toBe('äö…')
  })

  test('never exceeds its size, and keeps whole characters of its beginning', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyUnicodeCharacter, maxLength: 80 }),
        fc.integer({ min: 1, max: 40 }),
        (text, max) => {
          const cut = cutText(text, max)
          expect(cut.length).toBeLessThanOrEqual(max)
          if (cut === text) return
          const kept = [...graphemesOf(cut.slice(0, -1))]
          expect([...graphemesOf(text)].slice(0, kept.length)).toEqual(kept)
        },
      ),
    )
  })
})
