import fc from 'fast-check'
import { expect, test } from 'vitest'
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
  ['\u0301', 'blank'],
  [' \u20dd\u0941\ufe0f', 'blank'],
  ['a\nb', 'control_characters'],
  ['\u202e', 'control_characters'],
  ['x'.repeat(41), 'too_long'],
])('the name %j is refused as %s', (text, code) => {
  expect(codes(text)).toEqual([code])
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
