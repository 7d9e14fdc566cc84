import { expect, test } from 'vitest'
import { masksAsCode } from './text.ts'

test.each([
  ['to a…@example.org.', 'to <code>a…@example.org</code>.'],
  [
    '✓ \u2068a…@mail.example.org\u2069 · E-mail',
    '✓ \u2068<code>a…@mail.example.org</code>\u2069 · E-mail',
  ],
  ['发送到a…@例子.测试。', '发送到<code>a…@例子.测试</code>。'],
  ['<b>&amp;…@example.org</b>', '<b><code>&amp;…@example.org</code></b>'],
  ['…@example.org', '<code>…@example.org</code>'],
  ['a…@x.org, b…@y.org', '<code>a…@x.org</code>, <code>b…@y.org</code>'],
])('a masked mailbox is code, which Telegram does not link: %s', (markup, shown) => {
  expect(masksAsCode(markup)).toBe(shown)
})

test.each([
  '<code>a…@example.org</code>',
  '<a href="https://example.org/?a…@example.org">a…@example.org</a>',
  'Ask @support, or mail ann@example.org…',
])('other text is kept: %s', (markup) => {
  expect(masksAsCode(markup)).toBe(markup)
})
