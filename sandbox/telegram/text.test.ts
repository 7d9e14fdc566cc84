import { describe, expect, test } from 'vitest'
import { detectEntities, storedEntities } from './entities.ts'
import { checkLink } from './links.ts'
import { isBlank, storedText } from './text.ts'

const plain = (text: string) => storedText({ text, entities: [] }).text

describe('a stored text', () => {
  test('loses bidirectional embeddings but keeps isolates', () => {
    expect(plain('a\u202eb\u202ac\u2028d \u2068x\u2069')).toBe('abcd \u2068x\u2069')
  })

  test('keeps the last of a run of direction marks', () => {
    expect(plain('a\u200e\u200f\u200eb')).toBe('a\u200c\u200c\u200eb')
  })

  test('is trimmed, and its entities move along', () => {
    const stored = storedText({
      text: '\n a\u202eb <c \n',
      entities: [{ type: 'bold', offset: 4, length: 7 }],
    })
    expect(stored).toEqual({ text: 'ab <c', entities: [{ type: 'bold', offset: 1, length: 4 }] })
  })

  test('is blank when nothing would be seen', () => {
    expect(['', ' \n', '\u200b\u2060', '\u2800', '\u3164'].map(isBlank)).toEqual([
      true,
      true,
      true,
      true,
      true,
    ])
    expect(['a', '🔴', '０'].map(isBlank)).toEqual([false, false, false])
  })
})

describe('entities', () => {
  test('finds commands, links, addresses, mentions and hashtags', () => {
    const text = '/start@dog_bot abc https://a.example/x. b@c.example @ann #node and/or 1/2'
    const found = detectEntities(text).map((e) => [
      e.type,
      text.slice(e.offset, e.offset + e.length),
    ])
    expect(found).toEqual([
      ['bot_command', '/start@dog_bot'],
      ['url', 'https://a.example/x'],
      ['email', 'b@c.example'],
      ['mention', '@ann'],
      ['hashtag', '#node'],
    ])
  })

  test.each([
    ['see evil.com/claim, www.evil.co.uk', ['url evil.com/claim', 'url www.evil.co.uk']],
    ['t.me/evil tg://resolve?domain=x', ['url t.me/evil', 'url tg://resolve?domain=x']],
    ['127.0.0.1:80 例子.中国', ['url 127.0.0.1:80', 'url 例子.中国']],
    ['$USDC $us +49 301 2345', ['cashtag $USDC', 'phone_number +49 301 2345']],
    ['12.345,6 FLR v1.2 e.g. fsp.monitoring FLR/USD #4711 UTC+1 20.11.2026', []],
    ['evil.\u2060com @\u2060evil #\u2060tag /\u2060stop https:\u2060//x.\u2060org', []],
  ])('finds domains, tags and phone numbers as Telegram does: %s', (text, found) => {
    const entities = detectEntities(text)
    expect(entities.map((e) => `${e.type} ${text.substr(e.offset, e.length)}`)).toEqual(found)
  })

  test('marks nothing up inside code', () => {
    const bold = { type: 'bold', offset: 0, length: 10 }
    const code = { type: 'code', offset: 2, length: 3 }
    const link = { type: 'text_link', offset: 3, length: 1, url: 'https://a.example/' }
    expect(storedEntities([bold, code, link], [{ type: 'mention', offset: 2, length: 3 }])).toEqual(
      [{ type: 'bold', offset: 0, length: 2 }, code, { type: 'bold', offset: 5, length: 5 }],
    )
  })

  test('joins equal neighbours', () => {
    const part = (offset: number, length: number) => ({ type: 'italic', offset, length })
    expect(storedEntities([part(2, 2), part(0, 2), part(1, 2)], [])).toEqual([part(0, 4)])
  })
})

describe('a link', () => {
  test.each([
    ['https://Example.org', 'https://example.org/'],
    ['example.org/a b', 'http://example.org/a%20b'],
    ['http://127.0.0.1:3000/pay?x=1#y', 'http://127.0.0.1:3000/pay?x=1#y'],
    ['http://[::1]:80', 'http://[::1]:80/'],
    ['tg://resolve?domain=x', 'tg://resolve?domain=x'],
    ['https://münchen.example/', 'https://münchen.example/'],
  ])('takes %s', (link, url) => {
    expect(checkLink(link)).toEqual({ ok: true, url })
  })

  test.each([
    ['http://localhost:3000', 'Wrong HTTP URL'],
    ['ethereum:0x52908400098527886E0F7030069857D2E4169EE7@14?value=1', 'Wrong HTTP URL'],
    ['xrpl:rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', 'Wrong port number specified in the URL'],
    ['metamask://pay', 'Unsupported URL protocol'],
    ['https://', 'URL host is empty'],
    ['https://a<b.example', 'Disallowed character in URL host'],
    ['https://a.example:0/', 'Wrong port number specified in the URL'],
  ])('refuses %s', (link, reason) => {
    expect(checkLink(link)).toEqual({ ok: false, reason })
  })
})
