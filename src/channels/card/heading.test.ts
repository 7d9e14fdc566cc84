import { expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { envelopeOf } from '../../../test/support/envelopes.ts'
import { alertHeading } from './heading.ts'

const plain = (text: string) => text.replaceAll(/[\u200f\u2066-\u2069]/g, '')
const title = 'FTSO reveal does not match the commit'
const of = (over: Parameters<typeof envelopeOf>[0]) => plain(alertHeading(envelopeOf(over)))

test.each(LOCALES)('begins with the name of the watch, in %s', (locale) => {
  const text = of({ locale, message: { watchLabel: 'Alpha', title } })
  expect(text).toMatch(/^Alpha[:：\s\u00a0]/)
  expect(text.endsWith(title)).toBe(true)
})

test('is only what happened where no watch is known', () => {
  expect(of({ message: { watchLabel: null, title } })).toBe(title)
})

test.each([
  ['FLR/USD', 'FLR/USD +12%', 'FLR/USD +12%'],
  ['FLR/USD', '\u2068FLR/USD\u2069 +12%', 'FLR/USD +12%'],
  ['FLR/USD', '\u200fسعر \u2068FLR/USD\u2069 −12%', 'سعر FLR/USD −12%'],
  ['FLR/USD', 'Price of FLR/USD fell', 'FLR/USD: Price of FLR/USD fell'],
  ['submit1', 'Transaction submit1 failed', 'submit1: Transaction submit1 failed'],
  ['Node', 'Node2 is gone', 'Node: Node2 is gone'],
  ['FTSO', 'FTSO reveal missing', 'FTSO: FTSO reveal missing'],
  ['Treasury', 'Treasury: 2 alerts', 'Treasury: 2 alerts'],
  ['\u200f', 'Node is gone', 'Node is gone'],
  [' ', 'Node is gone', 'Node is gone'],
  ['\u200b', 'Node is gone', 'Node is gone'],
])('has the name once: watch %j, title %j', (watchLabel, what, text) => {
  expect(of({ message: { watchLabel, title: what } })).toBe(text)
})

test('cuts a long name, never what happened', () => {
  const message = { watchLabel: 'x'.repeat(300), title }
  const heading = plain(alertHeading(envelopeOf({ message }), { labelMax: 24 }))
  expect(heading).toBe(`${'x'.repeat(23)}…: ${title}`)
})

test('of a transfer says who sent how much', () => {
  const transfer = {
    ...{ asset: 'FLR', symbol: 'FLR', decimals: 0, previousAmount: '900', currentAmount: '400' },
    changeAmount: '-500',
  }
  expect(of({ data: transfer })).toBe('Treasury sent 500\u00a0FLR')
})
