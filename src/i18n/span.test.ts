import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { formatDuration } from './format.ts'
import { formatSpan } from './span.ts'

test.each([
  ['en', 172_800, '2 days'],
  ['de', 172_800, '2 Tagen'],
  ['de', 3_600, '1 Stunde'],
  ['de', 86_400, '1 Tag'],
  ['hi', 3_600, '1 घंटे'],
  ['hi', 21_600, '6 घंटे'],
  ['ar', 7_200, 'ساعتين'],
  ['ar', 172_800, 'يومين'],
  ['ar', 7_320, 'ساعتين ودقيقتين'],
  ['ar', 3_600, 'ساعة'],
] as const)('after a preposition, in %s, %i seconds are %s', (locale, seconds, text) => {
  expect(formatSpan(seconds, locale)).toBe(text)
})

test('formatSpan has the numbers of formatDuration', () => {
  const numbers = (text: string) => text.match(/\d+/g)
  fc.assert(
    fc.property(
      fc.constantFrom(...LOCALES),
      fc.integer({ min: 60, max: 604_800 }),
      (locale, all) => {
        const [span, plain] = [formatSpan(all, locale), formatDuration(all, locale, 'long')]
        expect(numbers(span)).toEqual(numbers(plain))
      },
    ),
  )
})
