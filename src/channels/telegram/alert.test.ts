import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseHtml } from '#sandbox/telegram/html.ts'
import { packed } from '#src/actions/codec.ts'
import { translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { type Button, labelWidth } from '#src/telegram/buttons.ts'
import { TEXT_MAX } from '#src/telegram/limits.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import { anyUnicodeCharacter, anyUrlCharacter } from '../../../test/support/any-character.ts'
import { envelopeOf, HOSTILE_TEXTS } from '../../../test/support/envelopes.ts'
import { runs } from '../../../test/support/runs.ts'
import type { Envelope, EnvelopeMessage, MessageField, MessageState } from '../envelope.ts'
import { type AlertViewOptions, alertView } from './alert.ts'

const ADDRESS = '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'

const commit = {
  type: 'provider-fsp',
  signal: 'ftso-commit',
  group: 'ftso',
  message: {
    event: 'fsp.ftso-commit',
    severity: 'warning',
    watchLabel: 'Node A',
    title: 'FTSO commit missing in 2 consecutive voting rounds',
  },
} as const

describe('an alert', () => {
  test('is written as it is drawn', () => {
    expect(alertView(envelopeOf()).html).toBe(
      [
        '🔵 <b>\u2068Treasury\u2069: Balance changed: -12,500 FLR</b>',
        'Info · at 14:02:31\u00a0UTC+1',
        '',
        'Treasury: the balance went from 12,742.5 FLR to 242.5 FLR.',
        '',
        `Address: \u2068<a href="https://explorer.example.org/address/${ADDRESS}">0x3f12…A91c</a>\u2069 · Now: 242.5 FLR · #31`,
      ].join('\n'),
    )
  })

  test('has its buttons as they are drawn', () => {
    expect(buttons(alertView(envelopeOf(commit)))).toEqual([
      ['Acknowledge 1:alert.ack:3mv', 'What to do 1:alert.open:3mv:d'],
      ['Mute… 1:alert.open:3mv:m', 'Details https://watchdog.example.org/a/abc123'],
    ])
  })

  test('has the further help in place of other buttons, while help is open', () => {
    expect(buttons(alertView(envelopeOf(commit), { open: 'action' }))).toEqual([
      ['Acknowledge 1:alert.ack:3mv', '✓ What to do 1:alert.open:3mv:d'],
      ['Why? 1:alert.open:3mv:w', 'Causes 1:alert.open:3mv:c'],
    ])
  })

  test('has the ways to mute in place of its buttons, once they are open', () => {
    const ways = [
      ['Mute 1\u00a0h 1:alert.mute:3mv:1h', 'Mute 8\u00a0h 1:alert.mute:3mv:8h'],
      ['Mute until recovered 1:alert.mute:3mv:rec'],
    ]
    const back = ['‹ Back 1:alert.open:3mv:m']
    const muting = (over: Partial<Envelope>) =>
      buttons(alertView({ ...envelopeOf(commit), ...over }, { open: 'mute' }))
    const watch = 'This watch… 1:watch.mute:16'
    expect(muting({})).toEqual([...ways, [watch], back])
    const off = 'Turn off all reminders 1:settings.remind:off'
    expect(muting({ kind: 'reminder' })).toEqual([...ways, [watch], [off], back])
    // Once it is muted, one button ends that.
    const muted = { open: 'mute', muted: { until: 'recovered' } } as const
    expect(buttons(alertView(envelopeOf(commit), muted)).at(-1)?.[0]).toBe(
      'Unmute 1:alert.mute:3mv:0',
    )
  })

  test('of severity info has its page alone', () => {
    const news = { ...commit.message, severity: 'info' } as const
    expect(buttons(alertView(envelopeOf({ ...commit, message: news })))).toEqual([
      ['Details https://watchdog.example.org/a/abc123'],
    ])
  })

  test.each([
    ['unknown', {}],
    ['isTopUp', { isTopUp: true }],
    ['isOwnPayment', { isOwnPayment: true }],
  ])('about money that left is acknowledged unless it paid the own top-up: %s', (what, paid) => {
    const sent = { event: 'wallet-balance.moved', severity: 'warning' } as const
    const view = alertView(envelopeOf({ data: { direction: 'outgoing', ...paid }, message: sent }))
    const [first = []] = buttons(view)
    expect(first).toEqual(
      what !== 'unknown'
        ? ['Details https://watchdog.example.org/a/abc123']
        : ['Acknowledge 1:alert.ack:3mv', 'What to do 1:alert.open:3mv:d'],
    )
    expect(view.rows).toHaveLength(what === 'unknown' ? 2 : 1)
  })

  test('about own payments alone, several in one message, needs no acknowledgement and no mute', () => {
    const payment = (alertId: number, form: 'topUp' | 'ownPayment' | 'sent'): EnvelopeMessage => ({
      ...envelopeOf({ message: { alertId } }).message,
      source: { type: 'wallet-balance', signal: 'balance-change', form },
    })
    const shown = (...items: readonly EnvelopeMessage[]) => {
      const [message = payment(1, 'topUp')] = items
      return alertView({ ...envelopeOf({ message }), kind: 'group', items })
    }
    // Groups are not told what a transfer was for.
    for (const form of ['topUp', 'ownPayment'] as const) {
      const { rows } = shown(payment(4711, form), payment(4712, form))
      expect(rows.flat().map(({ label }) => label)).toEqual(['Alerts'])
    }
    const other = { ...payment(4713, 'sent'), severity: 'warning' } as const
    expect(shown(payment(4711, 'topUp'), other).rows[0]?.map(({ label }) => label)).toEqual([
      'Acknowledge all',
      'What to do',
    ])
  })

  test('keeps its page and its help where nobody may change anything', () => {
    expect(buttons(alertView(envelopeOf(commit), {}, { isReceiveOnly: true }))).toEqual([
      ['What to do 1:alert.open:3mv:d'],
      ['Details https://watchdog.example.org/a/abc123'],
    ])
  })

  test('says where it can be acknowledged where nobody may change anything', () => {
    const note =
      'Acknowledge and mute them in the owner’s private chat with the bot. Here, only the whole chat can be muted.'
    const shown = (over: Partial<Envelope>, state: MessageState = {}) =>
      alertView({ ...envelopeOf(commit), ...over }, state, { isReceiveOnly: true }).plain
    const items = [itemOf(4711, {}), itemOf(4712, {})]
    expect(shown({}).endsWith(note)).toBe(true)
    expect(shown({ kind: 'group', items })).toContain(note)
    expect(alertView(envelopeOf(commit)).plain).not.toContain(note)
    const at = new Date('2026-11-20T13:05:00Z')
    expect(shown({}, { acknowledged: { at, by: 'Ann' } })).not.toContain(note)
    expect(shown({}, { recoveredAt: at })).not.toContain(note)
    expect(shown({ kind: 'rollup', items })).not.toContain(note)
  })

  test('says to whom and when it was escalated, to readers who are not the owner without names', () => {
    const at = new Date('2026-11-20T13:20:00Z')
    const line = (to: readonly string[], options: AlertViewOptions = {}, over = {}) =>
      lineOf(
        alertView({ ...envelopeOf(commit), ...over }, { escalated: { at, to } }, options).plain,
      )
    expect(line(['Ops'])).toMatch(/ · escalated to \u2068Ops\u2069, 14:20$/)
    expect(line(['Ops', 'B', 'C'])).toMatch(/ · escalated to \u2068Ops\u2069 and 2 more, 14:20$/)
    expect(line([])).toMatch(/ · escalated, 14:20$/)
    expect(line(['Ops'], { isGroup: true })).toMatch(/ · escalated, 14:20\u00a0UTC\+1$/)
    expect(line(['Ops'], { isReceiveOnly: true })).toMatch(/ · escalated, 14:20$/)
    // The message that the escalation sent has it in its text.
    expect(line(['Ops'], {}, { unacknowledgedSeconds: 900 })).not.toContain('escalated')
  })

  test('lists the acknowledgement and the escalation in the order in which they happened', () => {
    const at = (time: string) => new Date(`2026-11-20T${time}:00Z`)
    const line = (acknowledged: string, escalated: string) =>
      lineOf(
        alertView(envelopeOf(commit), {
          acknowledged: { at: at(acknowledged), by: 'Ann' },
          escalated: { at: at(escalated), to: [] },
        }).plain,
      )
    expect(line('13:25', '13:20')).toMatch(
      / · escalated, 14:20 · acknowledged by \u2068Ann\u2069, 14:25$/,
    )
    expect(line('13:15', '13:20')).toMatch(
      / · acknowledged by \u2068Ann\u2069, 14:15 · escalated, 14:20$/,
    )
  })

  test('that was escalated no longer says that no one has acknowledged it once somebody has', () => {
    const note = translate('en', 'messages:escalated', { duration: '15 minutes' })
    const { message } = envelopeOf(commit)
    const escalated = {
      ...envelopeOf(commit),
      unacknowledgedSeconds: 900,
      message: { ...message, body: `No commit.\n${note}` },
    }
    const acknowledged = { at: new Date('2026-11-20T13:25:00Z'), by: 'Ann' }
    expect(alertView(escalated).plain).toContain(note)
    expect(alertView(escalated, { acknowledged }).plain).not.toContain('No one')
    expect(alertView(escalated, { acknowledged }).plain).toContain('No commit.')
  })

  test('cannot be muted until it recovers where nothing recovers', () => {
    expect(JSON.stringify(alertView(envelopeOf()).rows)).not.toContain('alert.mute:3mv:rec')
  })

  test('about credits begins with the way to get some', () => {
    const event = 'credits.low-balance'
    const envelope = envelopeOf({
      type: 'credits-balance',
      signal: 'credits-threshold',
      message: { event, severity: 'warning' },
    })
    expect(alertView(envelope).rows[0]).toEqual([
      { label: 'Top up', data: '1:topup', style: 'primary' },
    ])
  })

  test('about the chain leads to the status instead of muting', () => {
    const envelope = envelopeOf({
      type: null,
      signal: null,
      group: null,
      message: { event: 'fsp.monitoring', severity: 'warning' },
    })
    const rows = buttons(alertView(envelope))
    expect(rows[1]?.[0]).toBe('Status 1:status')
    expect(rows.flat().join()).not.toContain('mute')
  })

  test('shortens an address also where no page shows it in full', () => {
    const html = withFields([{ key: 'sender', label: 'Sender', value: ADDRESS }])
    expect(html).toContain('Sender: <code>0x3f12…A91c</code>')
    expect(html).not.toContain(ADDRESS)
  })

  test('leads to its watch in the bot, once the bot has a name', () => {
    const { html } = alertView(envelopeOf(), {}, { botUsername: 'watchdog_bot' })
    expect(html).toContain(
      '🔵 <b>\u2068<a href="https://t.me/watchdog_bot?start=w42">Treasury</a>\u2069: Balance changed',
    )
  })

  test('shows times with their offset in a group, whose members have different clocks', () => {
    const { plain } = alertView(envelopeOf(), {}, { isGroup: true })
    expect(plain).toContain('at 14:02:31\u00a0UTC+1')
    const { message } = envelopeOf(commit)
    const items = [message, { ...message, alertId: 4712 }]
    const recovery = { event: 'fsp.ftso-commit.recovered', isRecovery: true } as const
    for (const over of [
      { ...commit, kind: 'reminder' },
      { ...commit, message: { ...commit.message, ...recovery }, startedAt: message.firedAt },
      { kind: 'group', items },
      { kind: 'rollup', items },
      { kind: 'summary', items },
    ] as const) {
      // Telegram writes such a time by the clock of each reader, the text beside it does not.
      expect(alertView(envelopeOf(over), {}, { isGroup: true }).html).not.toContain('<tg-time')
    }
  })

  test('that is delivered late says how long it has lasted', () => {
    const at = (time: string) => alertView(envelopeOf(commit), {}, { now: new Date(time) }).plain
    expect(at('2026-11-20T13:05:40Z')).toContain('since 14:02:31\u00a0UTC+1 · 3 min')
    expect(at('2026-11-20T13:03:00Z')).toMatch(/UTC\+1$/m)
  })

  test('of an example begins with its mark, and has no buttons, as it has no page', () => {
    const message = { test: true, alertId: null, incidentId: null, watchLabel: null, fields: [] }
    const view = alertView(envelopeOf({ message }))
    expect(view.html.split('\n').slice(0, 2)).toEqual([
      '🧪 Test · 🔵 <b>Balance changed: -12,500 FLR</b>',
      'Info · at 14:02:31\u00a0UTC+1',
    ])
    expect(view.html).not.toContain('#')
    expect(view.rows).toEqual([])
  })

  test('of the test of a destination has the look of the alert, and buttons that change nothing', () => {
    const link = 'https://watchdog.example.org/docs/watches/wallet-balance/balance-change'
    const real = alertView(envelopeOf({ message: { link, severity: 'warning' } }))
    const message = {
      test: true,
      alertId: null,
      incidentId: null,
      link,
      severity: 'warning',
    } as const
    const view = alertView(envelopeOf({ data: { test: true }, message }))
    const lines = (html: string) => html.replace(' · #31', '').split('\n')
    expect(lines(view.html)).toEqual(
      lines(real.html).map((line, at) => (at === 0 ? `🧪 Test · ${line}` : line)),
    )
    const labels = (rows: typeof view.rows) => rows.map((row) => row.map(({ label }) => label))
    expect(labels(view.rows)).toEqual(labels(real.rows))
    const pressed = view.rows.flat().flatMap((button) => ('data' in button ? [button.data] : []))
    expect(new Set(pressed)).toEqual(
      new Set([
        packed('test.try', { what: 'ack' }),
        ...(['d', 'm'] as const).map((part) => packed('test.open', { part })),
      ]),
    )
    expect(view.rows.flat()).toContainEqual({ label: 'Details', url: link })
  })

  test('of a test in a chat that only receives has no button that such a chat lacks', () => {
    const message = { test: true, alertId: null, incidentId: null }
    const options = { isReceiveOnly: true }
    const labels = (over: Parameters<typeof envelopeOf>[0]) =>
      alertView(envelopeOf(over), {}, options).rows.map((row) => row.map(({ label }) => label))
    expect(labels({ data: { test: true }, message })).toEqual(labels({}))
  })

  test('makes links of values that have one, and leaves other hashes to its page', () => {
    const hash = `0x${'ab'.repeat(32)}`
    const html = withFields([
      { key: 'block', label: 'Block', value: '418', href: 'https://e.example/b?a=1&b="2"' },
      { key: 'transaction', label: 'Transaction', value: hash, href: 'https://e.example/tx' },
      { key: 'hash', label: 'Hash', value: hash },
      { key: 'local', label: 'Local', value: 'here', href: 'http://localhost/x' },
    ])
    expect(html).toContain('<a href="https://e.example/b?a=1&amp;b=&quot;2&quot;">418</a>')
    expect(html).toContain('<a href="https://e.example/tx">Transaction\u00a0↗</a>')
    expect(html).not.toContain(hash)
    expect(html).toContain('Local: here')
  })

  test('gives the link as text where it cannot be on a button', () => {
    const message = { link: 'http://localhost:8080/a/x', severity: 'warning' } as const
    const { html, rows } = alertView(envelopeOf({ message }))
    expect(html.endsWith('Details\n<code>http://localhost:8080/a/x</code>')).toBe(true)
    expect(JSON.stringify(rows)).not.toContain('localhost')
    expect(JSON.stringify(rows)).toContain('alert.ack')
  })

  test('shows eight values on one line and says where the others are', () => {
    const html = withFields(fieldsOf(10, 'x'))
    expect(html).toContain('Label 7: x · #31')
    expect(html).not.toContain('Label 8: x')
    expect(html.endsWith('#31\n… more in Details')).toBe(true)
  })

  test('drops fields from the end over the limit, never title, body or link', () => {
    const link = 'http://localhost/a'
    const { plain } = alertView(
      envelopeOf({ message: { fields: fieldsOf(6, 'y'.repeat(900)), link } }),
    )
    expect(plain.length).toBeLessThanOrEqual(TEXT_MAX)
    expect(plain).toContain('Label 3')
    expect(plain).not.toContain('Label 4')
    expect(plain).toContain('Balance changed')
    expect(plain).toContain('… more in Details\nDetails\nhttp://localhost/a')
  })

  test('isolates foreign text, outside of what is copied', () => {
    const arabic = alertView(envelopeOf({ locale: 'ar' })).html
    // A number alone would run from the left.
    expect(arabic).toMatch(/\n\u200f.*#31$/)
    expect(arabic).toMatch(/\u2068<a href="[^"]*">0x3f12…A91c<\/a>\u2069/)
    const html = withFields([{ key: 'x', label: 'Name', value: 'سلمى' }])
    expect(html).toContain('Name: \u2068سلمى\u2069')
  })
})

describe('after a press', () => {
  const acknowledged = { at: new Date('2026-11-20T13:05:00Z'), by: 'Ann <3' }

  test('an acknowledged alert says by whom, and offers to take it back', () => {
    const view = alertView(envelopeOf(commit), { acknowledged })
    expect(lineOf(view.plain)).toMatch(/ · acknowledged by \u2068Ann <3\u2069, 14:05$/)
    expect(buttons(view)[0]?.[0]).toBe('Unacknowledge 1:alert.unack:3mv')
    const nobody = alertView(envelopeOf(commit), { acknowledged: { ...acknowledged, by: null } })
    expect(lineOf(nobody.plain)).toMatch(/ · acknowledged, 14:05$/)
  })

  test('a muted watch says until when, and offers to end it', () => {
    const view = alertView(envelopeOf(commit), {
      muted: { until: new Date('2026-11-20T14:05:00Z') },
    })
    expect(lineOf(view.plain)).toMatch(/ · 🔕 until 15:05$/)
    expect(buttons(view)[1]?.[0]).toBe('Unmute 1:watch.unmute:16')
    expect(buttons(view)).toHaveLength(2)
  })

  test('an episode that is muted until it recovers says so, and offers to end it', () => {
    const view = alertView(envelopeOf(commit), { acknowledged, muted: { until: 'recovered' } })
    expect(lineOf(view.plain)).toMatch(/, 14:05 · 🔕 until recovered$/)
    expect(buttons(view)[1]?.[0]).toBe('Unmute 1:alert.mute:3mv:0')
  })

  test('help opens as a quote below the text, and its button carries a tick', () => {
    for (const [help, part, label] of [
      ['why', 'why', '✓ Why?'],
      ['causes', 'causes', '✓ Causes'],
      ['action', 'action', '✓ What to do'],
    ] as const) {
      const view = alertView(envelopeOf(commit), { open: help })
      const key = `signals:provider-fsp.ftso-commit.help.${part}` as const
      const text = translate('en', key)
      expect(view.html).toMatch(/<blockquote>[^<]+<\/blockquote>$/)
      expect(view.plain).toContain(text)
      expect(view.rows.flat().map((button) => button.label)).toContain(label)
    }
    const { plain } = alertView(envelopeOf(commit), { open: 'why' })
    expect(plain).toContain(translate('en', 'signals:provider-fsp.ftso-commit.help.checked'))
  })

  test('a recovered alert is green, says from when to when and who had it, and keeps only Details', () => {
    const recoveredAt = new Date('2026-11-20T13:15:01Z')
    const view = alertView(envelopeOf(commit), { acknowledged, recoveredAt })
    expect(view.plain.split('\n').slice(0, 2)).toEqual([
      '🟢 \u2068Node A\u2069: FTSO commit missing in 2 consecutive voting rounds · recovered',
      'Recovered · active 14:02 to 14:15\u00a0UTC+1 · 12 min, 30 s · acknowledged by \u2068Ann <3\u2069, 14:05',
    ])
    expect(buttons(view)).toEqual([['Details https://watchdog.example.org/a/abc123']])
  })

  test('a range over two days has both dates, and one form in every chat', () => {
    const recoveredAt = new Date('2026-11-20T13:15:01Z')
    const lineOf = (since: string, to: Date, isGroup: boolean, timezone = 'Europe/Berlin') => {
      const about = envelopeOf({ ...commit, data: { since }, timezone })
      const { plain } = alertView(about, { recoveredAt: to }, { isGroup })
      return / · (.* to .*?UTC\S*)/.exec(plain.replaceAll(/[\u2066-\u2069]/g, ''))?.[1]
    }
    for (const isGroup of [false, true]) {
      expect(lineOf('2026-11-19T12:50:00Z', recoveredAt, isGroup)).toBe(
        'active Nov 19, 13:50 to Nov 20, 14:15\u00a0UTC+1',
      )
      expect(lineOf('2026-11-20T12:50:00Z', recoveredAt, isGroup)).toBe(
        'active 13:50 to 14:15\u00a0UTC+1',
      )
      // The clock was set back in between.
      expect(lineOf('2026-10-24T12:50:00Z', recoveredAt, isGroup)).toBe(
        'active Oct 24, 14:50\u00a0UTC+2 to Nov 20, 14:15\u00a0UTC+1',
      )
    }
  })

  test('a recovered alert tells what was wrong as past, in the words of its recovery', () => {
    const title = 'FTSO commits are arriving again'
    const recovery = () => ({ title, seconds: 840 })
    const over = {
      lostRounds: 8,
      recoveredAt: new Date('2026-11-20T13:15:01Z'),
      recovery,
      open: 'action',
    } as const
    const body = 'Node A sends nothing. Check that the client is running.'
    const envelope = envelopeOf({ ...commit, message: { ...commit.message, body } })
    expect(alertView(envelope, over).plain.split('\n').filter(Boolean)).toEqual([
      '🟢 \u2068Node A\u2069: FTSO commits are arriving again',
      'Recovered · active 14:02 to 14:15\u00a0UTC+1',
      'Duration: 14 minutes. 8 voting rounds affected.',
      'FTSO commit missing in 2 consecutive voting rounds · recovered',
      '#31',
    ])
    const unknown = alertView(envelope, { ...over, recovery: () => undefined }).plain
    expect(unknown).not.toContain('sends nothing')
    expect(unknown).toMatch(/^🟢 \u2068Node A\u2069: FTSO commit missing .* · recovered\n/)
  })

  test.each(LOCALES)('a recovered alert has no text of its start in %s', (locale) => {
    const { body, fields } = envelopeOf({ message: { body: 'It is bad.' } }).message
    const state = { recoveredAt: new Date('2026-11-20T13:15:01Z') }
    const { plain } = alertView(
      envelopeOf({ ...commit, locale, message: { ...commit.message, body, fields } }),
      state,
    )
    expect(plain).not.toContain('It is bad.')
    expect(plain).toContain('🟢 ')
    expect(plain.indexOf('🟢 FTSO')).toBe(-1)
  })
})

describe('other messages', () => {
  test('a recovery is green and has only Details', () => {
    const message = {
      ...commit.message,
      event: 'fsp.ftso-commit.recovered',
      severity: 'info',
    } as const
    const view = alertView(envelopeOf({ ...commit, message }))
    expect(view.html).toMatch(/^🟢 .*\nRecovered · /)
    expect(view.rows).toHaveLength(1)
  })

  test('a raised severity says so and has the buttons of an alert', () => {
    const message = { ...commit.message, severity: 'critical' } as const
    const view = alertView(envelopeOf({ ...commit, kind: 'raised', answers: 4711, message }))
    expect(lineOf(view.plain)).toMatch(/^Severity raised to critical · since/)
    expect(buttons(view)[0]?.[0]).toBe('Acknowledge 1:alert.ack:3mv')
  })

  test('a reminder can be acknowledged; its ways to mute switch reminders off, too', () => {
    const message = { ...commit.message, severity: 'critical' } as const
    const view = alertView(envelopeOf({ ...commit, kind: 'reminder', answers: 4711, message }))
    expect(buttons(view)[0]).toEqual([
      'Acknowledge 1:alert.ack:3mv',
      'What to do 1:alert.open:3mv:d',
    ])
    const muting = alertView(envelopeOf({ ...commit, kind: 'reminder', answers: 4711, message }), {
      open: 'mute',
    })
    expect(buttons(muting).flat()).toContain('Turn off all reminders 1:settings.remind:off')
  })

  test('a reminder shows the current state: acknowledged and recovered alerts have none', () => {
    const title = 'FTSO commit missing'
    const envelope = envelopeOf({
      ...commit,
      kind: 'reminder',
      answers: 4711,
      answered: { severity: 'critical', title },
      message: {
        ...commit.message,
        title: `${title} · not resolved`,
        body: 'Active for 15 minutes, not acknowledged. Reminder 1. Next reminder: 15:02 UTC.',
        fields: [],
      },
    })
    const at = new Date('2026-11-20T13:20:00Z')
    const shown = (state: MessageState) => alertView(envelope, state).plain
    expect(shown({})).toContain('Next reminder: 15:02 UTC.')
    const over = shown({ recoveredAt: at }).split('\n').filter(Boolean)
    expect(over).toEqual([
      `🟢 \u2068Node A\u2069: ${title} · recovered`,
      expect.stringMatching(/^Recovered · active .*14:02 to 14:20/),
      '#31',
    ])
    for (const state of [{ acknowledged: { at, by: 'Ann' } }, { muted: { until: at } }]) {
      const text = shown(state)
      expect(text).toContain(`🟠 \u2068Node A\u2069: ${title} · not resolved`)
      expect(text).not.toMatch(/not acknowledged|Next reminder/)
    }
  })

  test('a follow-up that is over says so in a line: the recovery says what it cost', () => {
    const recoveredAt = new Date('2026-11-20T13:15:01Z')
    const recovery = () => ({ title: 'Commits are arriving again', seconds: 840, rounds: 8 })
    const items = new Map([4711, 4712, 4713].map((id) => [id, { recoveredAt, recovery }] as const))
    const shown = (view: ReturnType<typeof alertView>) => view.plain.split('\n').filter(Boolean)
    for (const kind of ['raised', 'reminder'] as const) {
      const group = alertView({ ...groupOf(), of: kind }, { items, recoveredAt })
      expect(shown(group)).toEqual([
        '🟢 \u2068Node A\u2069: FTSO reveal missing · 2 more alerts · recovered',
        'Recovered · active 14:02 to 14:15\u00a0UTC+1',
        '#31',
      ])
      const envelope = envelopeOf({ ...commit, kind, answers: 4710 })
      expect(shown(alertView(envelope, { recoveredAt, recovery }))).toEqual([
        '🟢 \u2068Node A\u2069: FTSO commit missing in 2 consecutive voting rounds · recovered',
        'Recovered · active 14:02 to 14:15\u00a0UTC+1',
        '#31',
      ])
    }
    const first = shown(alertView(groupOf(), { items, recoveredAt }))
    expect(first).toHaveLength(7)
    expect(first[1]).toBe('Recovered · active 14:02 to 14:15\u00a0UTC+1 · 12 min, 30 s')
  })

  test('a group is written as it is drawn', () => {
    const view = alertView(groupOf(), {}, { botUsername: 'watchdog_bot' })
    expect(view.html).toBe(
      [
        '🔴 <b>\u2068<a href="https://t.me/watchdog_bot?start=w42">Node A</a>\u2069: FTSO reveal missing · 2 more alerts</b>',
        'Critical · since 14:02:32\u00a0UTC+1',
        '🟠 <a href="https://t.me/watchdog_bot?start=a4711">FTSO commit missing</a>',
        '🔴 <a href="https://t.me/watchdog_bot?start=a4712">FTSO reveal missing</a>',
        '🟠 <a href="https://t.me/watchdog_bot?start=a4713">FDC bit vote missing</a>',
        'Sender: 0x52c1…07ae',
        '#31',
      ].join('\n'),
    )
    expect(buttons(view)).toEqual([
      ['Acknowledge all 1:alert.ackAll'],
      ['Mute… 1:alert.open:3mw:m', 'Alerts 1:alert.list:d16:'],
    ])
    const muting = alertView(groupOf(), { open: 'mute' })
    expect(buttons(muting)).toEqual([
      ['Mute 1\u00a0h 1:alert.mute:3mw:1h', 'Mute 8\u00a0h 1:alert.mute:3mw:8h'],
      ['Mute until recovered 1:alert.mute:3mw:rec'],
      ['This watch… 1:watch.mute:16'],
      ['‹ Back 1:alert.open:3mw:m'],
    ])
    const [commit, ...others] = groupOf().items ?? []
    const items = [{ ...commit, incidentId: 32 } as EnvelopeMessage, ...others]
    const { plain } = alertView({ ...groupOf(), items })
    expect(plain.match(/#\d+/g)).toEqual(['#32', '#31', '#31'])
    expect(plain).toContain('🟠 FTSO commit missing #32')
    const received = alertView(groupOf(), {}, { isReceiveOnly: true })
    expect(buttons(received)).toEqual([['Alerts 1:alert.list:d16:']])
  })

  test('a group shows which of its alerts are over, and when all are', () => {
    const over = (minute: number) => ({ recoveredAt: new Date(Date.UTC(2026, 10, 20, 13, minute)) })
    const some = new Map<number, MessageState>([[4712, over(10)]])
    expect(alertView(groupOf(), { items: some }).plain.split('\n').slice(0, 4)).toEqual([
      '🟠 \u2068Node A\u2069: FTSO commit missing · 1 more alert',
      'Warning · since 14:02:31\u00a0UTC+1',
      '🟠 FTSO commit missing',
      '🟢 FTSO reveal missing · recovered',
    ])
    const all = new Map([4711, 4712, 4713].map((id, index) => [id, over(10 + index)]))
    const view = alertView(groupOf(), { items: all })
    expect(view.plain.split('\n').slice(0, 2)).toEqual([
      '🟢 \u2068Node A\u2069: 3 alerts have ended',
      'Recovered · active 14:02 to 14:12\u00a0UTC+1 · 9 min, 29 s',
    ])
    expect(buttons(view)).toEqual([['Alerts 1:alert.list:d16:']])
  })

  test('a group names what to do first, and takes back an acknowledgement of all', () => {
    const group = groupOf()
    const items = (group.items ?? []).map((item, index) => {
      const signal = ['ftso-commit', 'ftso-reveal', 'fdc-bitvote'][index] ?? null
      return { ...item, source: { type: 'provider-fsp', signal } }
    })
    const envelope = { ...group, items }
    const at = new Date('2026-11-20T13:10:00Z')
    expect(buttons(alertView(envelope))[0]?.[1]).toBe('What to do 1:alert.open:3mw:d')
    const acknowledged = alertView(envelope, { acknowledged: { at, by: 'Ann' }, open: 'action' })
    expect(buttons(acknowledged)[0]?.[0]).toBe('Unacknowledge 1:alert.unackAll')
    expect(buttons(acknowledged)[0]?.[1]).toBe('✓ What to do 1:alert.open:3mw:d')
    const text = translate('en', 'signals:provider-fsp.ftso-reveal.help.action')
    expect(acknowledged.plain.endsWith(`FTSO reveal missing\n${text}`)).toBe(true)
    // Over, the most severe one needs nothing any more.
    const over = { items: new Map([[4712, { recoveredAt: at }]]) }
    expect(buttons(alertView(envelope, over))[0]?.[1]).toBe('What to do 1:alert.open:3mv:d')
  })

  test('a roll-up counts by severity and watch, and names the newest', () => {
    const items = Array.from({ length: 17 }, (_, index) => {
      const severity = index < 9 ? 'critical' : index < 15 ? 'warning' : 'info'
      const watchLabel = index % 3 === 0 ? 'Node B' : 'Node A'
      return itemOf(5000 + index, { severity, watchLabel, title: `Alert ${index}` }, index)
    })
    const view = alertView(envelopeOf({ kind: 'rollup', items }))
    expect(view.plain.split('\n')).toEqual([
      '🔴 17 more alerts in the last minute',
      '9 critical · 6 warnings · 2 info',
      '\u2068Node A\u2069 (11) · \u2068Node B\u2069 (6)',
      'Newest: 14:02:47 \u2068Node A\u2069, Alert 16',
    ])
    expect(buttons(view)).toEqual([
      ['Show alerts 1:alert.list:d:'],
      ['Mute all 1\u00a0h 1:mute.all:1h'],
    ])
    // Muting the chat needs no right to the wallet.
    const received = alertView(envelopeOf({ kind: 'rollup', items }), {}, { isReceiveOnly: true })
    expect(buttons(received)).toEqual(buttons(view))
  })

  test('a roll-up keeps the direction of what its newest title holds, and counts no single ones', () => {
    const title = 'تغيّر الرصيد: \u2068-12,500\u00a0FLR\u2069'
    const items = [1, 2].map((number) =>
      itemOf(number, { watchLabel: `Wallet ${number}`, title }, number),
    )
    const view = alertView(envelopeOf({ kind: 'rollup', items, locale: 'ar' }))
    expect(view.plain).toContain('\u200f\u2068Wallet 1\u2069 · \u2068Wallet 2\u2069\n')
    expect(view.plain).toContain(title)
  })

  test('a summary names at most twenty, and how many more there are', () => {
    const items = Array.from({ length: 32 }, (_, index) => itemOf(5000 + index, {}, index))
    const title = '☀️ During quiet hours, 22:00 – 07:00'
    const view = alertView(
      envelopeOf({ kind: 'summary', items, message: { title, body: '32 alerts.', fields: [] } }),
    )
    const lines = view.plain.split('\n')
    expect(lines[0]).toBe(title)
    expect(lines[2]).toBe('32 alerts.')
    expect(lines[4]).toBe('14:02 🟠 \u2068Node A\u2069: FTSO commit missing')
    expect(lines.at(-1)).toBe('and 12 more')
    expect(buttons(view)).toEqual([['Show alerts 1:alert.list:d:']])
  })

  test('a notice has the buttons it brings, and pages no button can hold as text', () => {
    const view = alertView(
      envelopeOf({
        kind: 'notice',
        message: {
          title: '🎟️ 3 slots end on 20 Jan',
          body: 'Without renewal Node A stops.',
          fields: [],
        },
        buttons: [
          [
            { label: 'Renew', act: packed('slots') },
            { label: 'Open', url: 'https://watchdog.example.org/x' },
          ],
          [{ label: 'Local', url: 'http://localhost/x' }],
        ],
      }),
    )
    expect(view.html).toBe(
      '<b>🎟️ 3 slots end on 20 Jan</b>\n\nWithout renewal Node A stops.\n\nLocal\n<code>http://localhost/x</code>',
    )
    expect(buttons(view)).toEqual([['Renew 1:slots', 'Open https://watchdog.example.org/x']])
  })
})

describe('every view', () => {
  const KINDS = ['alert', 'raised', 'reminder', 'group', 'rollup', 'summary', 'notice'] as const

  test('is markup Telegram takes, within the limit, whatever it holds', () => {
    const anyText = fc.oneof(
      fc.string({ unit: anyUnicodeCharacter }),
      fc.constantFrom(...HOSTILE_TEXTS),
    )
    const anyUrl = fc
      .tuple(fc.domain(), fc.string({ unit: anyUrlCharacter }))
      .map(([host, rest]) => `https://${host}/${rest}`)
    const anyField = fc.record({
      key: fc.constantFrom('x', 'sender'),
      label: anyText,
      value: anyText,
      href: fc.oneof(anyUrl, anyText),
    })
    const anyMessage = fc.record({
      title: anyText,
      body: anyText,
      watchLabel: fc.option(anyText),
      fields: fc.array(anyField, { maxLength: 9 }),
    })
    const anyState = fc.record(
      {
        acknowledged: fc.record({ at: fc.date({ noInvalidDate: true }), by: fc.option(anyText) }),
        muted: fc.constantFrom({ until: 'recovered' as const }, { until: new Date(0) }),
        recoveredAt: fc.constant(new Date('2026-11-20T14:00:00Z')),
        help: fc.constantFrom('why', 'causes', 'action'),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        anyMessage,
        fc.array(anyMessage, { maxLength: 30 }),
        anyState,
        fc.constantFrom(...LOCALES),
        fc.constantFrom(...KINDS),
        fc.record({ linksAsText: fc.boolean(), isGroup: fc.boolean() }),
        (message, more, state, locale, kind, options) => {
          const items = more.map((values, index) => itemOf(index + 1, values))
          const envelope = envelopeOf({ ...commit, locale, kind, items, message })
          const view = alertView(envelope, state, options)
          const shown = parseHtml(view.html).text
          expect(shown).toBe(view.plain)
          expect(shown.length).toBeLessThanOrEqual(TEXT_MAX)
          const isAlert = kind === 'alert' || kind === 'raised' || kind === 'reminder'
          if (isAlert && options.linksAsText) {
            expect(view.html).toContain('<a href="https://watchdog.example.org/a/abc123">https:')
          }
        },
      ),
      { numRuns: runs(200) },
    )
  })

  test('cuts the longest title that a group leads with', () => {
    const items = [1, 2].map((id) => itemOf(id, { title: 'x'.repeat(9000) }))
    const view = alertView(envelopeOf({ ...commit, kind: 'group', items }), {})
    expect(view.plain.length).toBeLessThanOrEqual(TEXT_MAX)
    expect(view.plain).toContain('…')
  })

  test('cuts the longest value that a group shares', () => {
    const sender = { key: 'sender', label: 'l'.repeat(9000), value: 'x'.repeat(9000) }
    const items = [1, 2].map((id) => itemOf(id, { fields: [sender] }))
    const view = alertView(envelopeOf({ ...commit, kind: 'group', items }))
    expect(view.plain.length).toBeLessThanOrEqual(TEXT_MAX)
    expect(view.plain).toContain('xxx')
  })

  test.each(LOCALES)('fits with the longest values of every signal, help open: %s', (locale) => {
    const options: AlertViewOptions = { botUsername: 'b'.repeat(32), isGroup: true }
    for (const { name, signals } of WATCH_TYPES) {
      for (const { id, group, events } of signals) {
        for (const help of ['why', 'causes', 'action'] as const) {
          const envelope = envelopeOf({
            type: name,
            signal: id,
            group,
            locale,
            message: {
              event: events.alerts[0] ?? '',
              alertId: 2_147_483_647,
              watchId: 2_147_483_647,
              watchLabel: 'ص'.repeat(40),
              severity: 'critical',
              title: 't'.repeat(60),
              body: 'b'.repeat(320),
              fields: fieldsOf(9, `0x${'ab'.repeat(32)}`),
            },
          })
          const state = { open: help, acknowledged: { at: new Date(0), by: 'n'.repeat(64) } }
          const view = alertView(envelope, state, options)
          expect(view.plain.length).toBeLessThanOrEqual(TEXT_MAX)
          expect(view.plain).toContain('b'.repeat(320))
          for (const row of view.rows) {
            const budget = [24, 16, 10][row.length - 1] ?? 0
            for (const button of row) {
              if (row.length > 1) expect(labelWidth(button.label)).toBeLessThanOrEqual(budget)
              if ('data' in button) {
                expect(Buffer.byteLength(button.data)).toBeLessThanOrEqual(64)
              }
            }
          }
          // The card of the alert adds three rows, and a keyboard has eight.
          const own = view.rows.length - (events.alerts[0] === 'credits.low-balance' ? 1 : 0)
          expect(own, id).toBeLessThanOrEqual(5)
        }
      }
    }
  })
})

describe('a silence of a provider', () => {
  const startedAt = '2026-11-20T12:57:00.000Z'
  const silence = envelopeOf({
    ...commit,
    kind: 'group',
    items: [4711, 4712].map((id) => itemOf(id, { canRecover: true, startedAt })),
    cause: { kind: 'silent', rounds: 2 },
  })

  test('says everywhere since when it lasts', () => {
    const { plain } = alertView(silence)
    expect(plain).toContain('has sent no votes since 13:57 (2 rounds)')
    expect(plain).toContain('Critical · since 13:57\u00a0UTC+1')
    expect(plain).not.toContain('14:02')
    expect(plain).toContain('FTSO commit missing')
  })

  test('counts its rounds, and names none of them', () => {
    const fields = [{ key: 'round', label: 'Round', value: '1526452' }]
    const items = (silence.items ?? []).map((item) => ({ ...item, fields }))
    const { cause: _, ...other } = silence
    expect(alertView({ ...other, items }).plain).toContain('1526452')
    expect(alertView({ ...silence, items }).plain).not.toContain('1526452')
  })

  test('that is over keeps its list, each line with what is well again, and says what it cost', () => {
    const over = (what: string): MessageState => ({
      recoveredAt: new Date('2026-11-20T13:09:00Z'),
      recovery: () => ({ title: `${what} are arriving again`, seconds: 720 }),
      lostRounds: 8,
    })
    const items = new Map([
      [4711, over('Commits')],
      [4712, over('Reveals')],
    ])
    expect(alertView(silence, { items }).plain.split('\n')).toEqual([
      '🟢 \u2068Node A\u2069 is healthy again · down 12 min, 8 rounds lost',
      'Recovered · active 13:57 to 14:09\u00a0UTC+1',
      '🟢 Commits are arriving again',
      '🟢 Reveals are arriving again',
      '#31',
    ])
  })

  test.each(LOCALES)('says what to do about all duties, not about the first one: %s', (locale) => {
    const items = (silence.items ?? []).map((item) => {
      return { ...item, source: { type: 'provider-fsp', signal: 'ftso-commit' } }
    })
    const helped = { ...silence, items, locale }
    const action = translate(locale, 'messages:group.silentAction')
    const commits = translate(locale, 'signals:provider-fsp.ftso-commit.help.action')
    const whole = alertView(helped, { open: 'action' })
    expect(whole.plain.endsWith(`\n\n${action}`)).toBe(true)
    expect(whole.plain).not.toContain(commits)
    expect(whole.rows[0]?.[1]).toMatchObject({ data: '1:alert.open:3mv:d' })
    const recoveredAt = new Date('2026-11-20T13:09:00Z')
    const part = { items: new Map([[4712, { recoveredAt }]]), open: 'action' } as const
    expect(alertView(helped, part).plain.endsWith(commits)).toBe(true)
  })

  test('of which a part is over is no silence any more', () => {
    const items = new Map([[4711, { recoveredAt: new Date('2026-11-20T13:09:00Z') }]])
    const { plain } = alertView(silence, { items })
    expect(plain).not.toContain('has sent no votes')
    expect(plain).toContain('🟢 FTSO commit missing · recovered')
    expect(plain).toContain('🟠 FTSO commit missing')
  })
})

function groupOf(): Envelope {
  const sender = { key: 'sender', label: 'Sender', value: '0x52c1…07ae' }
  const of = (
    alertId: number,
    severity: EnvelopeMessage['severity'],
    title: string,
    second: number,
  ) => itemOf(alertId, { severity, title, fields: [sender] }, second)
  return envelopeOf({
    ...commit,
    kind: 'group',
    items: [
      of(4711, 'warning', 'FTSO commit missing', 0),
      of(4712, 'critical', 'FTSO reveal missing', 1),
      of(4713, 'warning', 'FDC bit vote missing', 3),
    ],
  })
}

function itemOf(alertId: number, over: Partial<EnvelopeMessage>, second = 0): EnvelopeMessage {
  const firedAt = new Date(Date.UTC(2026, 10, 20, 13, 2, 31 + second)).toISOString()
  const title = 'FTSO commit missing'
  return envelopeOf({
    message: { ...commit.message, alertId, title, firedAt, fields: [], ...over },
  }).message
}

function buttons({ rows }: ReturnType<typeof alertView>): string[][] {
  const leadsTo = (button: Button) =>
    'url' in button ? button.url : 'data' in button && button.data
  return rows.map((row) => row.map((button) => `${button.label} ${leadsTo(button)}`))
}

function lineOf(plain: string): string {
  return plain.split('\n')[1] ?? ''
}

function withFields(fields: readonly MessageField[]): string {
  return alertView(envelopeOf({ message: { fields } })).html
}

function fieldsOf(count: number, value: string): MessageField[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `field${index}`,
    label: `Label ${index}`,
    value,
  }))
}
