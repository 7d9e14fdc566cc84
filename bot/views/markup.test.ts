import { expect, test } from 'vitest'
import { detectEntities } from '#sandbox/telegram/entities.ts'
import { parseHtml } from '#sandbox/telegram/html.ts'
import { HOSTILE_TEXTS } from '../../test/support/envelopes.ts'
import { codeHtml, linkHtml, pageHtml, preHtml, spoilerHtml, textHtml } from './markup.ts'

test.each([
  'see evil.com',
  'https://evil.com',
  'tg://resolve?domain=evil',
  '@evil_bot',
  '/stop@watchdog_bot',
  '#free',
  '$USDC',
  'claim@evil.com',
  '+49 301 2345678',
])('a text and the text of a link are not pressed: %s', (text) => {
  expect(detectEntities(text)).not.toEqual([])
  for (const markup of [textHtml(text), linkHtml(text, 'https://example.org/').html]) {
    expect(detectEntities(parseHtml(markup).text)).toEqual([])
  }
})

test('what is copied stays as it is, and markup in a text is text', () => {
  const text = '<b>a@x.org</b> & "https://x.org?a=1&b=2"'
  const all = [codeHtml(text).html, preHtml(text), spoilerHtml(text).html, pageHtml(text)]
  for (const markup of all) expect(parseHtml(markup).text).toBe(text)
  for (const hostile of HOSTILE_TEXTS.map((text) => text.toWellFormed())) {
    expect(parseHtml(textHtml(hostile)).entities).toEqual([])
    expect(parseHtml(linkHtml(hostile, hostile).html).entities.length).toBeLessThanOrEqual(1)
  }
})
