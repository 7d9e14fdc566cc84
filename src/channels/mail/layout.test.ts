import { describe, expect, test } from 'vitest'
import { envelopeOf } from '../../../test/support/envelopes.ts'
import { confirmationMail } from './confirmation.ts'
import { alertMail } from './content.ts'

const reader = {
  address: 'ops@example.org',
  wallet: '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c',
  unsubscribeUrl: 'https://watchdog.example.org/unsubscribe/xyz',
}

describe('a mail', () => {
  test('cuts a long subject after a whole word', () => {
    const message = {
      title: 'All is well again after 4 min, 30 sec, and 12 voting rounds were lost',
      event: 'fsp.ftso-commit.recovered',
      isRecovery: true,
    }
    const { subject } = alertMail(envelopeOf({ message }), reader)
    expect(subject).toBe('Treasury: All is well again after 4 min, 30 sec, and 12… · Recovered')
  })

  test.each([
    ['ar', 'سعر FLR/USD −6.21%', 'سعر FLR/USD −6.21% · معلومة'],
    ['ar', 'خرج من المحفظة 12 FLR', 'FLR/USD: خرج من المحفظة 12 FLR · معلومة'],
    ['en', 'FLR/USD −6.21%', 'FLR/USD −6.21% · Info'],
    ['en', 'Price of FLR/USD fell', 'FLR/USD: Price of FLR/USD fell · Info'],
  ] as const)('names the watch once in a subject in %s: %s', (locale, title, expected) => {
    const message = { watchLabel: 'FLR/USD', title }
    const { subject } = alertMail(envelopeOf({ locale, message }), reader)
    expect(subject.replaceAll(/[\u200f\u2066-\u2069]/g, '')).toBe(expected)
  })

  test('begins the lines of an alert in a list below each other', () => {
    const item = { ...envelopeOf().message, title: 'FTSO commit missing in 2 consecutive rounds' }
    const items = [
      item,
      { ...item, alertId: 4712, title: 'FTSO reveal missing in 2 consecutive rounds' },
    ]
    for (const [locale, end] of [
      ['en', 'right'],
      ['ar', 'left'],
    ] as const) {
      const { html } = alertMail(envelopeOf({ locale, kind: 'group', items }), reader)
      const rows = html.match(/<tr><td valign="top"[^>]*white-space:nowrap[^>]*>[^<]*<\/td>/g)
      expect(rows).toHaveLength(2)
      expect(rows?.[0]).toContain(`padding-${end}:8px`)
    }
  })

  test('breaks a long address of the reader instead of growing wider than a phone', () => {
    const address = `${'long.'.repeat(12)}name@example.org`
    const asked = {
      at: new Date('2026-11-20T13:00:00Z'),
      url: 'https://watchdog.example.org/confirm/x',
    }
    const { html } = confirmationMail({
      ...{ address, wallet: reader.wallet, url: asked.url, locale: 'en', timezone: 'UTC' },
      ...{ askedAt: asked.at, expiresAt: asked.at },
    })
    const cells = html.match(/<td[^>]*>(?=(?:<h1[^>]*>)?[^<]*(?:<span[^>]*>)?long)/g) ?? []
    expect(cells).toHaveLength(1)
    for (const cell of cells) expect(cell).toContain('word-break:break-word')
  })

  test.each(['ops-de@example.org', 'a.b+c@mail.example.co.uk'])('keeps %s whole', (address) => {
    const at = new Date('2026-11-20T13:00:00Z')
    const { html } = confirmationMail({
      ...{ address, wallet: reader.wallet, url: 'https://watchdog.example.org/confirm/x' },
      ...{ askedAt: at, expiresAt: at, locale: 'de', timezone: 'UTC' },
    })
    const heading = html.match(/<h1[^>]*>(.*)<\/h1>/)?.[1] ?? ''
    expect(heading.replaceAll(/[\u2060\u2066-\u2069]/g, '')).toContain(
      `<span style="display:inline-block;max-width:100%">${address}</span>`,
    )
  })

  test('numbers what to do as a list', () => {
    const { html } = alertMail(envelopeOf(), reader)
    expect(html).toMatch(/white-space:nowrap[^>]*>1\.<\/td><td[^>]*>[A-Z]/)
    expect(html).not.toContain('<br>1. ')
  })
})
