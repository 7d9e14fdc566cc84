import { describe, expect, test } from 'vitest'
import { envelopeOf } from '../../test/support/envelopes.ts'
import { alertMail } from './mail-content.ts'

const reader = {
  address: 'ops@example.org',
  wallet: '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c',
  unsubscribeUrl: 'https://watchdog.example.org/unsubscribe/xyz',
}

describe('a mail', () => {
  test('cuts a long subject after a whole word', () => {
    const message = {
      title: 'Treasury is healthy again after 4 min, 30 sec, and 12 voting rounds were lost',
      event: 'fsp.ftso-commit.recovered',
      isRecovery: true,
    }
    const { subject } = alertMail(envelopeOf({ message }), reader)
    expect(subject).toBe(
      'Treasury is healthy again after 4 min, 30 sec, and 12 voting… · Recovered',
    )
  })

  test('begins the lines of an alert in a list below each other', () => {
    const item = { ...envelopeOf().message, title: 'FTSO commit: missing' }
    const items = [item, { ...item, alertId: 4712, title: 'FTSO reveal: missing' }]
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

  test('numbers what to do as a list', () => {
    const { html } = alertMail(envelopeOf(), reader)
    expect(html).toMatch(/white-space:nowrap[^>]*>1\.<\/td><td[^>]*>[A-Z]/)
    expect(html).not.toContain('<br>1. ')
  })
})
