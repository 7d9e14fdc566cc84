import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { anyUnicodeCharacter } from '../../../test/support/any-character.ts'
import { envelopeOf, HOSTILE_TEXTS } from '../../../test/support/envelopes.ts'
import { ENVELOPE_KINDS, type EnvelopeMessage } from '../envelope.ts'
import { confirmationMail } from './confirmation.ts'
import { alertMail } from './content.ts'

const WALLET = '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'
const reader = {
  address: 'ops@example.org',
  wallet: WALLET,
  unsubscribeUrl: 'https://watchdog.example.org/unsubscribe/xyz',
}

describe('alertMail', () => {
  test('says the same in its text part as the alert does', () => {
    const { subject, text } = alertMail(envelopeOf(), reader)
    expect(subject).toBe('Treasury: Balance changed: -12,500 FLR · Info')
    expect(text).toBe(
      [
        'Watchdog',
        '',
        '🔵 Treasury: Balance changed: -12,500 FLR',
        'Info · at 14:02:31\u00a0UTC+1',
        '',
        'Treasury: the balance went from 12,742.5 FLR to 242.5 FLR.',
        '',
        'Address: 0x3f12…A91c · Now: 242.5 FLR · #31',
        '',
        'View alert',
        'https://watchdog.example.org/a/abc123',
        '',
        'What to do',
        '1. Look at the latest transactions of the address in a block explorer.',
        '2. If you do not recognize one, move the remaining funds to a new',
        'wallet.',
        '',
        '---',
        'Sent to ops@\u2060example.\u2060org at the request of the wallet 0x3f12…A91c.',
        'Unsubscribe',
        'https://watchdog.example.org/unsubscribe/xyz',
        '',
      ].join('\n'),
    )
  })

  test('holds no image, script or anything else that is loaded', () => {
    const { html } = alertMail(envelopeOf(), reader)
    expect(html).not.toMatch(/<(img|script|link|iframe|object|svg|form)\b|url\(|@import/i)
    expect(html).toContain('<meta name="color-scheme" content="light dark">')
    expect(html).toContain('@media (prefers-color-scheme:dark)')
    expect(html.match(/<table(?! role="presentation")/g)).toBeNull()
  })

  test('names language and direction on the document and its outer table', () => {
    const arabic = alertMail(envelopeOf({ locale: 'ar' }), reader).html
    expect(arabic).toContain('<html lang="ar" dir="rtl">')
    expect(arabic).toMatch(
      /<body[^>]*>\s*<div[^>]*>[^<]*<\/div>\s*<table role="presentation" dir="rtl"/,
    )
    expect(arabic).toContain('border-right:4px solid')
    expect(arabic).not.toContain('text-align:left;')
    expect(arabic).toContain('<bdi><span style="white-space:nowrap">0x3f12…A91c</span></bdi>')
    const english = alertMail(envelopeOf(), reader).html
    expect(english).toContain('<html lang="en" dir="ltr">')
    expect(english).toContain('border-left:4px solid')
  })

  test('marks a test in subject and text', () => {
    const link = 'https://watchdog.example.org/'
    const message = { test: true, alertId: null, link }
    const { subject, text, html } = alertMail(envelopeOf({ message }), reader)
    expect(subject).toBe('Test: Treasury: Balance changed: -12,500 FLR')
    const unnamed = envelopeOf({ data: { test: true }, message: { ...message, watchLabel: null } })
    expect(alertMail(unnamed, reader).subject).toBe('Test: Balance changed: -12,500 FLR')
    expect(text).toContain('🧪 Test · 🔵 Treasury: Balance changed: ')
    // It has no page, and does not lead to the home page instead.
    expect(html).not.toContain(`href="${link}"`)
    expect(text).not.toContain(`${link}\n`)
  })

  test.each(
    LOCALES,
  )('begins the subject of a test with its mark, however long it is, in %s', (locale) => {
    const title = 'long '.repeat(20)
    const { subject } = alertMail(envelopeOf({ locale, message: { test: true, title } }), reader)
    const label = translator(locale)('messages:test.label')
    expect(subject).toMatch(new RegExp(`^${label} ?[:：] ?Treasury`, 'u'))
    expect(subject.endsWith('…')).toBe(true)
    expect(subject.split(label)).toHaveLength(2)
  })

  test('begins its subject with the name of the watch, without invisible characters', () => {
    const watchLabel = '\u2068FLR/USD\u2069 \u200fover\u00a0night and a name that is much too long'
    const { subject } = alertMail(envelopeOf({ message: { watchLabel } }), reader)
    expect(subject).toMatch(/^FLR\/USD over night a…: Balance changed: -12,500 FLR · Info$/)
    expect(subject).not.toMatch(/[\p{Cf}\u00a0]/u)
    const group = alertMail(envelopeOf({ message: { title: 'Treasury: 2 alerts' } }), reader)
    expect(group.subject).toBe('Treasury: 2 alerts · Info')
    // An Arabic title begins with a mark of direction.
    const title = '\u200f\u2068Treasury\u2069: تنبيهان'
    const arabic = alertMail(envelopeOf({ locale: 'ar', message: { title } }), reader)
    expect(arabic.subject).toBe('Treasury: تنبيهان · معلومة')
  })

  test.each(
    LOCALES,
  )('cuts a long title in its subject, not the state behind it, in %s', (locale) => {
    const message = {
      title: `Treasury: ${'long '.repeat(20)}`,
      event: 'fsp.ftso-commit.recovered',
      isRecovery: true,
    }
    const { subject } = alertMail(envelopeOf({ locale, message }), reader)
    const state = translator(locale)('messages:recovered')
    expect(subject.startsWith('Treasury: long')).toBe(true)
    expect(subject.endsWith(`… · ${state}`)).toBe(true)
  })

  describe('has one form of subject: the watch, what happened, how severe it is', () => {
    const title = 'FTSO commit missing in 2 consecutive rounds'
    const alert = { watchLabel: 'Node A', severity: 'warning', title } as const
    const recovery = { ...alert, event: 'fsp.ftso-commit.recovered', title: 'Commits again' }
    const answered = { severity: 'warning', title } as const
    const group = { kind: 'group', items: itemsOf(3), message: { watchLabel: 'Node A' } } as const
    const others = itemsOf(2).map((item) => ({ ...item, watchLabel: 'Node B' }))

    test.each([
      [
        'an alert',
        { message: alert },
        'Node A: FTSO commit missing in 2 consecutive rounds · Warning',
      ],
      ['a recovery', { message: recovery }, 'Node A: Commits again · Recovered'],
      [
        'a recovery in the thread of its alert',
        { message: recovery, answers: 1, answered },
        'Node A: Commits again · Recovered',
      ],
      [
        'a raised severity',
        { kind: 'raised', message: { ...alert, severity: 'critical' }, answers: 1, answered },
        'Re: Node A: FTSO commit missing in 2 consecutive rounds · Warning',
      ],
      [
        'a reminder',
        {
          kind: 'reminder',
          message: { ...alert, title: 'x · not resolved' },
          answers: 1,
          answered,
        },
        'Re: Node A: FTSO commit missing in 2 consecutive rounds · Warning',
      ],
      ['several alerts', group, 'Node A: Alert 2 · 2 more alerts · Critical'],
      [
        'a silence',
        { ...group, cause: { kind: 'silent', rounds: 2 } },
        'Node A has sent no votes since 14:02 (2 rounds) · Critical',
      ],
      [
        'several recoveries',
        {
          kind: 'group',
          items: itemsOf(2).map((item) => ({ ...item, ...recovery, isRecovery: true })),
          cause: { kind: 'healthy' },
          message: { ...recovery, isRecovery: true },
        },
        'Node A is healthy again · down 0 s · Recovered',
      ],
      [
        'a title that begins with the name',
        { message: { ...alert, watchLabel: 'FLR/USD', title: 'FLR/USD +12%' } },
        'FLR/USD +12% · Warning',
      ],
      [
        'a title that begins with a longer name',
        { message: { ...alert, watchLabel: 'Node', title: 'Node2 is gone' } },
        'Node: Node2 is gone · Warning',
      ],
      [
        'many alerts of one watch',
        { kind: 'rollup', items: itemsOf(3), message: { watchLabel: 'Node A' } },
        'Node A: 3 more alerts in the last minute · Critical',
      ],
      [
        'many alerts of several watches',
        { kind: 'rollup', items: [...itemsOf(3), ...others], message: { watchLabel: 'Node A' } },
        '5 more alerts in the last minute · Critical',
      ],
      [
        'a test',
        { message: { ...alert, test: true } },
        'Test: Node A: FTSO commit missing in 2 consecutive rounds',
      ],
      [
        'a summary of one watch',
        {
          kind: 'summary',
          items: itemsOf(2),
          message: { watchLabel: null, title: '22:00 – 07:00' },
        },
        'Node A: 22:00 – 07:00',
      ],
      [
        'a summary of several watches',
        {
          kind: 'summary',
          items: [...itemsOf(2), ...others],
          message: { watchLabel: null, title: '22:00 – 07:00' },
        },
        '22:00 – 07:00',
      ],
      [
        'a summary with more alerts than it names',
        {
          kind: 'summary',
          items: itemsOf(2),
          more: 3,
          message: { watchLabel: null, title: '22:00' },
        },
        '22:00',
      ],
      [
        'a notice',
        { kind: 'notice', message: { watchLabel: null, title: '3 slots end on 20 Jan' } },
        '3 slots end on 20 Jan',
      ],
    ] as const)('%s', (_, over, subject) => {
      expect(alertMail(envelopeOf(over), reader).subject).toBe(subject)
    })
  })

  test('keeps direction marks in its text only beside letters from right to left', () => {
    const marks = /[\u2066-\u2069]/
    expect(alertMail(envelopeOf(), reader).text).not.toMatch(marks)
    const named = envelopeOf({ message: { watchLabel: 'خزينة' } })
    expect(alertMail(named, reader).text).toContain('\u2068خزينة\u2069')
  })

  test('has no link to unsubscribe if there is no address for it', () => {
    const { html, text } = alertMail(envelopeOf(), { ...reader, unsubscribeUrl: undefined })
    expect(html + text).not.toContain('Unsubscribe')
  })

  test('breaks lines at 72 columns, but no link', () => {
    const link = `https://watchdog.example.org/a/${'x'.repeat(90)}`
    const body = 'word '.repeat(60).trim()
    const { text } = alertMail(envelopeOf({ message: { body, link } }), reader)
    const long = text.split('\n').filter((line) => line.length > 72)
    expect(long).toEqual([link])
  })

  test('says what to do about open signals, not about recovered ones', () => {
    const textOf = (message: Partial<EnvelopeMessage>) =>
      alertMail(envelopeOf({ message }), reader).text
    expect(textOf({})).toContain('What to do\n1. Look at')
    expect(textOf({ event: 'fsp.ftso-commit.recovered' })).not.toContain('What to do')
    expect(textOf({ test: true })).not.toContain('What to do')
  })

  test.each(
    LOCALES,
  )('of a recovery says in its subject that the alert is over, in %s', (locale) => {
    const recovery = envelopeOf({
      locale,
      answers: 4711,
      answered: { severity: 'warning', title: 'FTSO commit missing in 2 rounds' },
      message: {
        alertId: 4712,
        event: 'fsp.ftso-commit.recovered',
        isRecovery: true,
        title: 'Commits again',
      },
    })
    const answer = alertMail(recovery, reader)
    const severity = translator(locale)('messages:recovered')
    const colon = locale === 'zh' ? '：' : locale === 'fr' ? ' : ' : ': '
    expect(answer.subject).toBe(`Treasury${colon}Commits again · ${severity}`)
    expect(answer.html).toMatch(/🟢 .*[:：].*Commits again/)
    expect(answer.html).toContain('#0B6B3D')
  })

  test('repeats the subject of what it reminds of, however long it is', () => {
    const alert = { severity: 'warning', title: 'long '.repeat(40) } as const
    const { subject } = alertMail(envelopeOf({ message: alert }), reader)
    const reminder = envelopeOf({ kind: 'reminder', answers: 4711, answered: alert })
    const answer = alertMail(reminder, reader)
    expect(answer.subject).toBe(`Re: ${subject}`)
    expect([...answer.subject].length).toBeLessThanOrEqual(78)
  })

  test('of a group lists its alerts, each with its page', () => {
    const { subject, html, text } = alertMail(
      envelopeOf({ kind: 'group', items: itemsOf(3), message: { watchLabel: 'Node A' } }),
      reader,
    )
    expect(subject).toBe('Node A: Alert 2 · 2 more alerts · Critical')
    for (const [line, page] of [
      ['🟠 Alert 1', 'https://watchdog.example.org/a/101'],
      ['🔴 Alert 2', 'https://watchdog.example.org/a/102'],
    ]) {
      expect(text).toContain(`${line}\n${page}\n`)
      expect(html).toContain(`href="${page}"`)
    }
    // The link leads to the page of the most severe alert, which lists all alerts of the watch.
    const { link } = envelopeOf().message
    expect(text).toContain(`View alerts\n${link}#alerts\n`)
    expect(html).toContain(`href="${link}#alerts"`)
  })

  test.each(LOCALES)('of a group names what to do first, in %s', (locale) => {
    const items = itemsOf(3).map((item, index) => {
      const signal = index === 2 ? 'ftso-reveal' : 'ftso-commit'
      return { ...item, source: { type: 'provider-fsp', signal } }
    })
    const { text } = alertMail(envelopeOf({ kind: 'group', locale, items }), reader)
    const help = translator(locale)('signals:provider-fsp.ftso-reveal.help.action')
    const start = `${translator(locale)('messages:button.action')}\nAlert 2\n${help.slice(0, 20)}`
    expect(text).toContain(start)
    const over = items.map((item) => ({ ...item, isRecovery: true }))
    const recoveries = envelopeOf({ kind: 'group', locale, items: over })
    expect(alertMail(recoveries, reader).text).not.toContain(help.slice(0, 20))
  })

  test('of a summary has its own subject and names at most twenty', () => {
    const title = '☀️ During quiet hours, 22:00 – 07:00'
    const { subject, text } = alertMail(
      envelopeOf({
        kind: 'summary',
        items: itemsOf(25),
        message: { title, body: '25 alerts, 4 recovered automatically.', fields: [] },
      }),
      reader,
    )
    expect(subject).toBe(title)
    expect(text).toContain('14:02 🟠 Node A: Alert 1\n')
    expect(text).toContain('\nand 5 more\n')
    expect(text).not.toContain('Alert 20')
  })

  test('of a notice has its pages as buttons and leaves out what the bot alone can do', () => {
    const { subject, html, text } = alertMail(
      envelopeOf({
        kind: 'notice',
        message: {
          watchLabel: null,
          title: '🎟️ 3 slots end on 20 Jan',
          body: 'Without renewal Node A stops.',
          fields: [],
        },
        buttons: [
          [
            { label: 'Turn on auto-renew', act: packed('slots') },
            { label: 'Open', url: 'https://watchdog.example.org/x' },
          ],
        ],
      }),
      reader,
    )
    expect(subject).toBe('🎟️ 3 slots end on 20 Jan')
    expect(text).toContain('Open\nhttps://watchdog.example.org/x\n')
    expect(html + text).not.toMatch(/Renew<|1:slots|View alert/)
  })

  test('takes the dots between Latin words from a Latin font in Chinese, and in no other language', () => {
    const message = {
      title: 'FLR · 0x3f12…A91c',
      body: '<b title="a · b">0x3f12…A91c</b> Alpha’s',
      fields: [],
    }
    const htmlIn = (locale: 'zh' | 'en') => alertMail(envelopeOf({ locale, message }), reader).html
    const narrow = '<span style="font-family:Segoe UI,Roboto,Helvetica,Arial,Noto Sans,sans-serif">'
    const whole = '<span style="white-space:nowrap">'
    expect(htmlIn('zh')).toContain(
      `FLR ${narrow}·</span> ${whole}0x3f12${narrow}…</span>A91c</span>`,
    )
    expect(htmlIn('zh')).toContain(`Alpha${narrow}’</span>s`)
    expect(htmlIn('en')).toContain(`FLR · ${whole}0x3f12…A91c</span>`)
    expect(htmlIn('en')).not.toContain(narrow)
  })

  test('keeps subject, size and markup whatever the message holds', () => {
    const anyText = fc.oneof(
      fc.string({ unit: anyUnicodeCharacter }),
      fc.constantFrom(...HOSTILE_TEXTS),
    )
    const field = fc.record({
      key: fc.constant('x'),
      label: anyText,
      value: anyText,
      href: anyText,
    })
    fc.assert(
      fc.property(
        fc.record({
          title: anyText,
          body: anyText,
          watchLabel: fc.option(anyText),
          fields: fc.array(field, { maxLength: 8 }),
        }),
        fc.constantFrom(...LOCALES),
        fc.constantFrom(...ENVELOPE_KINDS),
        (message, locale, kind) => {
          const items = Array.from({ length: 30 }, () => envelopeOf({ message }).message)
          const mail = alertMail(envelopeOf({ locale, kind, items, message }), reader)
          expect([...mail.subject].length).toBeLessThanOrEqual(78)
          expect(mail.subject).not.toMatch(/\p{Cc}/u)
          expect(Buffer.byteLength(mail.html)).toBeLessThan(60_000)
          expect(mail.html.isWellFormed() && mail.text.isWellFormed()).toBe(true)
          expect(tagsOf(mail.html)).toEqual(tagsOf(mail.html).filter(isOurs))
        },
      ),
    )
  })
})

describe('confirmationMail', () => {
  test('holds the question, the button, until when and who asked, and nothing else', () => {
    const mail = confirmationMail({
      address: 'ops@example.org',
      wallet: WALLET,
      url: 'https://watchdog.example.org/confirm/abc',
      askedAt: new Date('2026-11-20T13:02:00Z'),
      expiresAt: new Date('2026-11-21T13:02:00Z'),
      locale: 'en',
      timezone: 'Europe/Berlin',
    })
    expect(mail.subject).toBe('Confirm Watchdog alerts for 0x3f12…A91c')
    expect(mail.text).toBe(
      [
        'Watchdog',
        '',
        'Send Watchdog alerts to ops@\u2060example.\u2060org?',
        '',
        'Requested by the wallet 0x3f12…A91c on Nov 20, 2026, 14:02\u00a0UTC+1.',
        '',
        'Confirm or decline',
        'https://watchdog.example.org/confirm/abc',
        '',
        'The link is valid for 24 hours, until Nov 21, 2026, 14:02\u00a0UTC+1. No',
        'alerts are sent until you confirm.',
        '',
        '---',
        'If you do not recognize this wallet, you can ignore this e-mail.',
        '',
      ].join('\n'),
    )
    expect(mail.html.match(/href="[^"]*"/g)).toEqual([
      'href="https://watchdog.example.org/confirm/abc"',
    ])
  })
})

function itemsOf(count: number): EnvelopeMessage[] {
  return Array.from({ length: count }, (_, index) => {
    const severity = index === 2 ? 'critical' : 'warning'
    const link = `https://watchdog.example.org/a/${100 + index}`
    const about = { alertId: 100 + index, watchLabel: 'Node A', title: `Alert ${index}` }
    return envelopeOf({ message: { ...about, severity, event: 'fsp.ftso-commit', link } }).message
  })
}

function tagsOf(html: string): string[] {
  const body = html.slice(html.indexOf('<body'))
  return body.match(/<[^>]*>/g) ?? []
}

/**
 * Whether the service itself writes such a tag. An unescaped quote or bracket of a value would make a tag that does
 * not match.
 */
function isOurs(tag: string): boolean {
  return /^<\/?(body|div|table|tr|td|h1|a|b|bdi|span|br|html)(\s+[a-z]+="[^"<>]*")*>$/.test(tag)
}
