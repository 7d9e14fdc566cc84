import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/support/runs.ts'
import { Label } from './label.ts'

const codes = (text: string) =>
  Label.safeParse(text).error?.issues.map((issue) => 'params' in issue && issue.params?.['code'])

test.each([
  ['', 'too_short'],
  [' ', 'blank'],
  ['\u00a0\u2003\u3000', 'blank'],
  ['\u200b', 'blank'],
  ['\u2060\ufeff\u00ad', 'blank'],
  ['\u3164\uffa0\u115f', 'blank'],
  ['\ufe0f\u200d', 'blank'],
  ['\u2800', 'blank'],
  ['\u{e0001}', 'blank'],
  ['\u{1d159}', 'blank'],
  ['\ufffc\u{13441}\u{13442}', 'blank'],
  ['\u0301', 'blank'],
  [' \u20dd\u0941\ufe0f', 'blank'],
  ['a\nb', 'control_characters'],
  ['\u202e', 'control_characters'],
  ['x'.repeat(41), 'too_long'],
])('the name %j is refused as %s', (text, code) => {
  expect(codes(text)).toEqual([code])
})

test('a refused name says how many characters it has', () => {
  const valuesOf = (text: string) =>
    Label.safeParse(text).error?.issues.map(
      (issue) => 'params' in issue && issue.params?.['number'],
    )
  expect(['', '👩\u200d💻'.repeat(41), 'x'.repeat(400)].map(valuesOf)).toEqual([[0], [41], [400]])
})

test.each([
  'A',
  ' A ',
  '👩\u200d💻',
  'क्\u200dष',
  '0',
  '·',
  '1\ufe0f\u20e3',
  'é'.normalize('NFD'),
  '\u2764\ufe0f',
  '🇩🇪',
  '水',
  'ع',
  'กำ',
  'مراقبة',
])('the name %j is accepted', (text) => {
  expect(codes(text)).toBeUndefined()
})

/** Every character that a font draws without ink, or only on another character. */
const UNSEEN = Array.from({ length: 0x110000 }, (_, point) => String.fromCodePoint(point)).filter(
  (character) =>
    /[\p{Default_Ignorable_Code_Point}\p{White_Space}\p{General_Category=Format}\p{General_Category=Unassigned}\p{General_Category=Private_Use}\p{Nonspacing_Mark}\p{Enclosing_Mark}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]/u.test(
      character,
    ),
)

test('a name of any characters without a glyph is refused, and accepted with one visible letter', () => {
  const unseen = fc.nat(UNSEEN.length - 1).map((index) => UNSEEN[index] ?? ' ')
  const texts = fc.array(unseen, { minLength: 1, maxLength: 20 })
  const letters = fc.constantFrom('a', '1', '·', 'ع', '水', 'ক', 'के', '👩')
  fc.assert(
    fc.property(texts, letters, (all, letter) => {
      expect(Label.safeParse(all.join('')).success).toBe(false)
      const harmless = all.filter(
        (character) => !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(character),
      )
      expect(Label.safeParse(letter + harmless.slice(0, 5).join('')).success).toBe(true)
    }),
    { numRuns: runs(1000) },
  )
})

test('a name of spaces and invisible characters alone is never accepted', () => {
  const unseen = fc.constantFrom(
    ' ',
    '\u00a0',
    '\u200b',
    '\u200d',
    '\u2060',
    '\u3164',
    '\ufe0f',
    '\u2800',
  )
  fc.assert(
    fc.property(fc.array(unseen, { maxLength: 40 }), (all) => {
      expect(Label.safeParse(all.join('')).success).toBe(false)
    }),
  )
})
