import { describe, expect, test } from 'vitest'
import { parseHtml } from './html.ts'

const problem = (source: string): string => {
  try {
    parseHtml(source)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'accepted'
}

describe('markup', () => {
  test('takes tags out and counts offsets in UTF-16 units', () => {
    expect(parseHtml('🔴 <b>Alpha</b> <i>x<u>y</u></i>')).toEqual({
      text: '🔴 Alpha xy',
      entities: [
        { type: 'bold', offset: 3, length: 5 },
        { type: 'underline', offset: 10, length: 1 },
        { type: 'italic', offset: 9, length: 2 },
      ],
    })
  })

  test('decodes the four names and numbers, and leaves other references as they are', () => {
    expect(parseHtml('&lt;&gt;&amp;&quot;&#65;&#x1F534;&nbsp;&apos; & b').text).toBe(
      '<>&"A🔴&nbsp;&apos; & b',
    )
  })

  test('reads links, quotes, spoilers, times and code with a language', () => {
    const { entities } = parseHtml(
      '<a href="https://example.org/?a=1&amp;b=2">l</a><blockquote expandable>q</blockquote>' +
        '<span class="tg-spoiler">s</span><tg-time unix="1790000000" format="t">14:02</tg-time>' +
        '<pre><code class="language-json">{}</code></pre>',
    )
    expect(entities).toEqual([
      { type: 'text_link', offset: 0, length: 1, url: 'https://example.org/?a=1&b=2' },
      { type: 'expandable_blockquote', offset: 1, length: 1 },
      { type: 'spoiler', offset: 2, length: 1 },
      { type: 'date_time', offset: 3, length: 5, unix_time: 1790000000, date_time_format: 't' },
      { type: 'pre', offset: 8, length: 2, language: 'json' },
    ])
  })

  test('drops a link Telegram would not open, without an error', () => {
    expect(parseHtml('<a href="ethereum:0xabc@14?value=1">pay</a>')).toEqual({
      text: 'pay',
      entities: [],
    })
  })
})

describe('refusals', () => {
  test.each([
    ['Alice <3', 'Unclosed start tag at byte offset 6'],
    ['<b>Alice <3</b>', 'Unsupported start tag "3</b" at byte offset 9'],
    ['ü<br>', 'Unsupported start tag "br" at byte offset 2'],
    ['<p>x</p>', 'Unsupported start tag "p" at byte offset 0'],
    ['</b>', 'Unexpected end tag at byte offset 0'],
    ['<b><i>x</b></i>', 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
    ['<b>x', 'Can\'t find end tag corresponding to start tag "b"'],
    ['<b>x</b', 'Unclosed end tag at byte offset 4'],
    ['<a href="x', 'Unclosed start tag at byte offset 0'],
    ['<a href=x"y>l</a>', 'Unexpected end of name token at byte offset 8'],
    ['<a ="x">l</a>', 'Empty attribute name in the tag "a" at byte offset 0'],
    ['<span>x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
    ['<tg-emoji emoji-id="x">x</tg-emoji>', 'Invalid custom emoji identifier specified'],
  ])('refuses %s', (source, expected) => {
    expect(problem(source)).toBe(`Bad Request: can't parse entities: ${expected}`)
  })
})
