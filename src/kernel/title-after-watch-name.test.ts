import { expect, test } from 'vitest'
import { titleAfterWatchName } from './title-after-watch-name.ts'

test.each([
  ['FLR/USD', 'FLR/USD +12% within 1 hour', '+12% within 1 hour'],
  ['FLR/USD', 'FLR/USD −12\u00a0% en 1 heure', '−12\u00a0% en 1 heure'],
  ['FLR/USD', 'FLR/USD +12%（1 小时内）', '+12%（1 小时内）'],
  ['FLR/USD', '\u200f\u2068FLR/USD\u2069 \u2068-12%\u2069', '\u2068-12%\u2069'],
  ['FLR/USD', '\u200fسعر \u2068FLR/USD\u2069 \u2068-12%\u2069', '\u2068-12%\u2069'],
  ['FLR\u200b/USD', 'FLR/USD +12%', '+12%'],
  ['A - B', 'A - B −12%', '−12%'],
  ['Treasury', '\u200f\u2068Treasury\u2069: تنبيهان', 'تنبيهان'],
  ['Treasury', 'Treasury：2 条告警', '2 条告警'],
])('the name %s is not repeated in “%s”', (label, title, shown) => {
  expect(titleAfterWatchName(label, title)).toBe(shown)
})

test.each([
  ['FLR', 'FLR/USD +12%'],
  ['FLR/USD', 'BTC/USD +12%'],
  ['FLR/USD', 'FLR/USD'],
  ['FLR/USD', 'FLR/USD '],
  ['', ' +12%'],
  ['Node', 'Node-3 is gone'],
  ['FTSO', 'FTSO commit missing in 2 consecutive rounds'],
  ['FLR/USD', 'Price of FLR/USD: falling'],
  ['\u200b', ': +12%'],
])('beside the name “%s” the title “%s” is not shortened', (label, title) => {
  expect(titleAfterWatchName(label, title)).toBe(title)
})
