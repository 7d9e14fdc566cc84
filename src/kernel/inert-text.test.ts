import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyUnicodeCharacter } from '../../test/support/any-character.ts'
import { inertMarkup, inertText, withoutJoiners } from './inert-text.ts'

test.each([
  ['https://evil.example/claim', 'https:|//evil.|example/claim'],
  ['HTTP://evil', 'HTTP:|//evil'],
  ['www.evil.co.uk', 'www.|evil.|co.|uk'],
  ['例子.测试', '例子.|测试'],
  ['t.me/evil', 't.|me/evil'],
  ['http://127.0.0.1:80/x', 'http:|//127.|0.|0.|1:80/x'],
  ['mailto:x', 'mailto:|x'],
  ['8.8.8.8, now', '8.|8.|8.|8, now'],
  ['a@b.com', 'a@|b.|com'],
  ['@evil_bot', '@|evil_bot'],
  ['@everyone', '@|everyone'],
  ['#free #1st', '#|free #|1st'],
  ['$USDC $1INCH', '$|USDC $|1INCH'],
  ['/stop (/stop)', '/|stop (/|stop)'],
  ['+49 301 234', '+|4|9| |3|0|1| |2|3|4'],
  ['now,+49301234', 'now,+|4|9|3|0|1|2|3|4'],
  ['555-0100', '5|5|5|-|0|1|0|0'],
  ['(212) 555 0100', '(|2|1|2|)| |5|5|5| |0|1|0|0'],
  ['2125550100', '2|1|2|5|5|5|0|1|0|0'],
])('%s is not pressed any more', (text, shown) => {
  expect(inertText(text)).toBe(shown.replaceAll('|', '\u2060'))
})

test.each([
  'FLR/USD −12.5% in 1 h · 22:04:31 UTC+1 · #4711',
  '+12,345,678.9 FLR · 12.345.678,9 FLR · 12 345 678,90 FLR · 0.03 USD',
  'Round 1519400, block 55123456, Nov 20, 2026, 22:04, 20.11.2026, 2026-11-20',
  '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c 0x3f12…A91c',
  'Alpha: no votes. It lost 2 rounds… 是。它失去了',
])('a text of the service stays: %s', (text) => {
  expect(inertText(text)).toBe(text)
})

test('any text reads as before, and stays when it is inert', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyUnicodeCharacter, maxLength: 60 }), (text) => {
      const inert = inertText(text)
      expect(withoutJoiners(inert)).toBe(withoutJoiners(text))
      expect(inertText(inert)).toBe(inert)
    }),
  )
})

test('links and code of markup stay', () => {
  const kept = '<a href="https://x.org/@a">x</a> <code>a@x.org</code><pre>/stop</pre><br>'
  expect(inertMarkup(`${kept}<b>x.org</b>`)).toBe(`${kept}<b>x.\u2060org</b>`)
})
