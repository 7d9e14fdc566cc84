import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { parseHtml } from '#src/sandbox/telegram/html.ts'
import { envelopeOf, HOSTILE_TEXTS } from '../../test/support/envelopes.ts'
import type { MessageField } from './define.ts'
import { chatText, TEXT_MAX } from './telegram-html.ts'

const button = { linkAsText: false }

describe('chatText', () => {
  test('writes an alert as it is drawn', () => {
    expect(chatText(envelopeOf(), button).html).toBe(
      [
        '🔵 <b>Balance changed: -12,500 FLR</b>',
        'Info · \u2068Treasury\u2069 · since 14:02:31\u00a0UTC+1',
        '',
        'Treasury: the balance went from 12,742.5 FLR to 242.5 FLR.',
        '',
        'Address: <code>0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c</code>',
        'Now: 242.5 FLR',
        '#4711',
      ].join('\n'),
    )
  })

  test('begins a test with a line that says so, and has no number without an alert', () => {
    const message = { test: true, alertId: null, watchLabel: null, fields: [] }
    const { html } = chatText(envelopeOf({ message }), button)
    expect(html.split('\n').slice(0, 3)).toEqual([
      '🧪 Test',
      '🔵 <b>Balance changed: -12,500 FLR</b>',
      'Info · since 14:02:31\u00a0UTC+1',
    ])
    expect(html).not.toContain('#')
  })

  test('shows recoveries in green and says so', () => {
    const message = { event: 'fsp.ftso-commit.recovered', severity: 'info' } as const
    expect(chatText(envelopeOf({ message }), button).html).toMatch(/^🟢 .*\nRecovered · /)
  })

  test('makes links of values that have one, but no code of links', () => {
    const hash = `0x${'ab'.repeat(32)}`
    const html = withFields([
      { key: 'block', label: 'Block', value: '418', href: 'https://e.example/b?a=1&b="2"' },
      { key: 'transaction', label: 'Transaction', value: hash, href: 'https://e.example/tx' },
      { key: 'hash', label: 'Hash', value: hash },
      { key: 'local', label: 'Local', value: 'here', href: 'http://localhost/x' },
    ])
    expect(html).toContain('<a href="https://e.example/b?a=1&amp;b=&quot;2&quot;">418</a>')
    expect(html).toContain(`<a href="https://e.example/tx">${hash}</a>`)
    expect(html).toContain(`Hash: <code>${hash}</code>`)
    expect(html).toContain('Local: here')
  })

  test('gives the link as text where it cannot be a button', () => {
    const message = { link: 'http://localhost:8080/a/x' }
    const { html } = chatText(envelopeOf({ message }), { linkAsText: true })
    expect(html.endsWith('Details\nhttp://localhost:8080/a/x')).toBe(true)
  })

  test('shows six fields and says where the others are', () => {
    const html = withFields(fieldsOf(8, 'x'))
    expect(html).toContain('Label 5: x')
    expect(html).not.toContain('Label 6: x')
    expect(html.endsWith('#4711\n… more in Details')).toBe(true)
  })

  test('drops fields from the end over the limit, never title, body or link', () => {
    const text = chatText(
      envelopeOf({
        message: { fields: fieldsOf(6, 'y'.repeat(900)), link: 'http://localhost/a' },
      }),
      { linkAsText: true },
    )
    expect(text.plain.length).toBeLessThanOrEqual(TEXT_MAX)
    expect(text.plain).toContain('Label 3')
    expect(text.plain).not.toContain('Label 4')
    expect(text.plain).toContain('Balance changed')
    expect(text.plain).toContain('… more in Details\nDetails\nhttp://localhost/a')
  })

  test('isolates foreign text, outside of what is copied', () => {
    const arabic = chatText(envelopeOf({ locale: 'ar' }), button).html
    expect(arabic).toMatch(/\u2068<code>0x[0-9a-fA-F]{40}<\/code>\u2069/)
    const html = withFields([{ key: 'x', label: 'Name', value: 'سلمى' }])
    expect(html).toContain('Name: \u2068سلمى\u2069')
  })

  test('is markup Telegram takes, within the limit, whatever it holds', () => {
    const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...HOSTILE_TEXTS))
    const anyField = fc.record({
      key: fc.constant('x'),
      label: anyText,
      value: anyText,
      href: fc.oneof(fc.webUrl(), anyText),
    })
    fc.assert(
      fc.property(
        fc.record({
          title: anyText,
          body: anyText,
          watchLabel: fc.option(anyText),
          fields: fc.array(anyField, { maxLength: 9 }),
        }),
        fc.constantFrom(...LOCALES),
        fc.boolean(),
        (message, locale, linkAsText) => {
          const text = chatText(envelopeOf({ locale, message }), { linkAsText })
          const shown = parseHtml(text.html).text
          expect(shown).toBe(text.plain)
          expect(shown.length).toBeLessThanOrEqual(TEXT_MAX)
          if (linkAsText) expect(shown).toContain('https://watchdog.example.org/a/abc123')
        },
      ),
    )
  })
})

function withFields(fields: readonly MessageField[]): string {
  return chatText(envelopeOf({ message: { fields } }), button).html
}

function fieldsOf(count: number, value: string): MessageField[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `field${index}`,
    label: `Label ${index}`,
    value,
  }))
}
