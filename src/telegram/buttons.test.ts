import { expect, test } from 'vitest'
import type { Locale } from '#src/kernel/locale.ts'
import { markupOf } from './buttons.ts'

const button = (label: string) => ({ label, data: 'x' })

function labelsOf(rows: readonly (readonly string[])[], locale: Locale): string[][] {
  const { inline_keyboard: keyboard } = markupOf(
    rows.map((row) => row.map(button)),
    locale,
  )
  return keyboard.map((row) => row.map(({ text }) => text))
}

test('rows run from right to left in Arabic, and as drawn elsewhere', () => {
  const rows = [['first', 'second'], ['alone'], []]
  expect(labelsOf(rows, 'ar')).toEqual([['second', 'first'], ['alone']])
  expect(labelsOf(rows, 'hi')).toEqual([['first', 'second'], ['alone']])
})

test('an arrow alone is turned in Arabic', () => {
  expect(labelsOf([['‹', '‹ x']], 'ar').flat()).toEqual(['‹ x', '\u200f‹'])
  expect(labelsOf([['‹', '‹ x']], 'en').flat()).toEqual(['‹', '‹ x'])
})
