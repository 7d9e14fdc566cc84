import { expect, test } from 'vitest'
import { inReadingOrder } from './reading-order.ts'

const button = (label: string) => ({ label, data: 'x' })

test('rows run from right to left in Arabic, and as drawn elsewhere', () => {
  const rows = [[button('first'), button('second')], [button('alone')]]
  const labels = inReadingOrder(rows, 'ar').map((row) => row.map(({ label }) => label))
  expect(labels).toEqual([['second', 'first'], ['alone']])
  expect(inReadingOrder(rows, 'hi')).toEqual(rows)
})

test('an arrow alone is turned in Arabic', () => {
  const labels = (locale: 'ar' | 'en') =>
    inReadingOrder([[button('‹'), button('‹ x')]], locale)
      .flat()
      .map(({ label }) => label)
  expect(labels('ar')).toEqual(['‹ x', '\u200f‹'])
  expect(labels('en')).toEqual(['‹', '‹ x'])
})
