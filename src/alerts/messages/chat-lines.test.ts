import { describe, expect, test } from 'vitest'
import { transferHeading } from '#src/channels/card/transfer.ts'
import type { Envelope, MessageState } from '#src/channels/envelope.ts'
import { discordBody } from '#src/channels/hooks/discord.ts'
import { slackBody } from '#src/channels/hooks/slack.ts'
import { alertMail } from '#src/channels/mail/content.ts'
import { alertView } from '#src/channels/telegram/alert.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { usualSeverity } from '#src/watches/evaluate/usual-severity.ts'
import { EVENTS, findEventSource } from '#src/watches/events.ts'
import { every } from '../../../test/support/every.ts'
import { type AlertNote, renderMessage } from './render.ts'

/** Most lines of an alert in a chat, without empty ones. */
const LINES_MAX = 5
/** Maximum number of words of the title; Chinese has no spaces, so there its characters are counted. */
const WORDS_MAX = 10
const CHARACTERS_MAX = 40
const FIRED_AT = new Date('2026-11-20T12:01:30.000Z')
const LABEL = 'Alpha'
const STILL: AlertNote = {
  kind: 'stillFiring',
  alerts: [
    { type: 'provider-fsp', signal: 'ftso-commit', event: 'fsp.ftso-commit', seconds: 90 },
    { type: 'provider-fsp', signal: 'ftso-reveal', event: 'fsp.ftso-reveal', seconds: 90 },
  ],
}

function envelopeOf(event: string, locale: Locale): Envelope {
  const source = findEventSource(event)
  if (source === undefined) throw new Error(`no signal emits ${event}`)
  const data = source.signal.examples[event] ?? {}
  const notes: readonly AlertNote[] = source.isRecovery
    ? [{ kind: 'lasted', seconds: 720 }, STILL]
    : [{ kind: 'escalated', seconds: 900 }]
  const reader = { locale, timezone: 'UTC' }
  const message = renderMessage(
    {
      alertId: 7,
      incidentId: 4,
      watchId: 3,
      watchLabel: LABEL,
      event,
      severity: usualSeverity(event, data),
      data,
      firedAt: FIRED_AT,
      link: 'https://watchdog.example.org/a/x',
      test: false,
      notes,
    },
    reader,
  )
  return {
    deliveryId: '0b8c6a4e-6f0e-4f0e-9a43-0d9b1f3c2a11',
    type: source.type,
    signal: source.signal.id,
    group: null,
    data,
    ...reader,
    message,
    ...(source.isRecovery && { startedAt: '2026-11-20T11:49:30.000Z', takenBy: 'Ann' }),
  }
}

const plain = (text: string) => text.replaceAll(/[\u200e\u200f\u2066-\u2069]/g, '')
const linesOf = (text: string) =>
  plain(text)
    .split('\n')
    .filter((line) => line.trim() !== '')

const READER = {
  address: 'ops@example.org',
  wallet: `0x${'1'.repeat(40)}`,
  unsubscribeUrl: undefined,
}

/** Lines of an alert as people read it in each channel; in a mail those above its button. */
const LINES_BY_CHANNEL: Readonly<Record<string, (envelope: Envelope) => readonly string[]>> = {
  telegram: (envelope) => linesOf(alertView(envelope).plain),
  discord: (envelope) => {
    const [embed] = JSON.parse(discordBody(envelope)).embeds
    expect(embed.fields).toEqual([])
    return [embed.title, ...linesOf(embed.description)]
  },
  slack: (envelope) => {
    const { blocks } = JSON.parse(slackBody(envelope))
    const texts = blocks.flatMap(({ text, elements = [] }: SlackBlock) => [
      ...elements.map((element) => element.text),
      ...(text === undefined ? [] : [text.text]),
    ])
    return linesOf(texts.join('\n'))
  },
  mail: (envelope) => {
    const { html } = alertMail(envelope, READER)
    const above = html.slice(html.indexOf('<h1'), html.indexOf('<td class="button"'))
    const rows = above.replaceAll(/<\/td>|<\/h1>|<br>/g, '\n').replaceAll(/<[^>]*>|&nbsp;/g, '')
    return linesOf(rows)
  },
}

interface SlackBlock {
  readonly text?: { readonly text: string }
  readonly elements?: readonly { readonly text: string }[]
}

describe.each(LOCALES)('an alert in every channel in %s', (locale) => {
  test('is short, and begins with its watch and what happened', () =>
    every(EVENTS, (event) => {
      const envelope = envelopeOf(event, locale)
      const factCount = linesOf(alertView(envelope).plain).at(-1)?.split(' · ').length
      for (const [channel, read] of Object.entries(LINES_BY_CHANNEL)) {
        const lines = read(envelope)
        expect(lines.length, channel).toBeLessThanOrEqual(LINES_MAX)
        const first = plain(lines[0] ?? '').replaceAll('\\', '')
        expect(first.replace(/^\P{L}+/u, ''), channel).toMatch(/^Alpha\P{L}/u)
        expect(first, channel).toContain(
          plain(transferHeading(envelope) ?? envelope.message.title).slice(0, 20),
        )
        expect(lines.join('\n').replaceAll(/<[^>]*>|\([^)]*\)/g, ''), channel).not.toMatch(
          /0x[0-9a-fA-F]{40}/,
        )
        if (channel === 'mail') expect(lines.at(-1)?.split(' · ').length).toBe(factCount)
      }
    }))
})

describe.each(LOCALES)('an alert in a chat in %s', (locale) => {
  test('is short', () =>
    every(EVENTS, (event) => {
      const envelope = envelopeOf(event, locale)
      const acknowledged: MessageState = { acknowledged: { at: FIRED_AT, by: 'Ann' } }
      for (const state of [{}, acknowledged, { recoveredAt: FIRED_AT }]) {
        const lines = linesOf(alertView(envelope, state).plain)
        expect(lines.length).toBeLessThanOrEqual(LINES_MAX)
        const isOver = 'recoveredAt' in state && !envelope.message.isRecovery
        const isLabelInBody = event.startsWith('provider.') && !isOver
        expect(lines.join('\n').split(LABEL)).toHaveLength(isLabelInBody ? 3 : 2)
        expect(lines.join('\n')).not.toMatch(/0x[0-9a-fA-F]{40}/)
      }
      const { title } = envelope.message
      if (locale === 'zh') expect(title.length).toBeLessThanOrEqual(CHARACTERS_MAX)
      else expect(title.split(/\s+/).length).toBeLessThanOrEqual(WORDS_MAX)
    }))

  test('does not repeat in its fields what its text states', () =>
    every(EVENTS, (event) => {
      const envelope = envelopeOf(event, locale)
      const { fields, stated = [] } = envelope.message
      const last = linesOf(alertView(envelope).plain).at(-1) ?? ''
      for (const { key, label } of fields.filter((field) => stated.includes(field.key))) {
        const others = fields.filter((field) => field.key !== key && field.label.includes(label))
        if (others.length === 0) expect(last).not.toContain(`${plain(label)}:`)
      }
    }))
})

test.each(LOCALES)('an alert in %s names one round: the first of its outage', (locale) => {
  const envelope = envelopeOf('fsp.ftso-commit', locale)
  const data = { ...envelope.data, votingRoundId: 1_526_452, firstRoundId: 1_526_451 }
  const message = renderMessage({ ...envelope.message, data, firedAt: FIRED_AT }, envelope)
  for (const [channel, read] of Object.entries(LINES_BY_CHANNEL)) {
    const text = read({ ...envelope, data, message }).join('\n')
    expect(text, channel).toContain('1526451')
    expect(text, channel).not.toContain('1526452')
  }
  // Its values keep the last round, for programs.
  expect(message.fields).toContainEqual(expect.objectContaining({ value: '1526452' }))
})

test('transactions are links in the chat, without their hashes', () => {
  const { html, plain: text } = alertView(envelopeOf('fsp.reveal-offence', 'en'))
  expect(text).toContain('submit1\u00a0↗ · submit2\u00a0↗ · ')
  expect(html.match(/<a href="[^"]*\/tx\/0x[0-9a-f]{64}">submit\d\u00a0↗<\/a>/g)).toHaveLength(2)
})

test('an address in a sentence is a link to its page', () => {
  const envelope = envelopeOf('fsp.ftso-commit', 'en')
  const { html } = alertView(envelope)
  const provider = String(envelope.data['provider'])
  expect(html).toMatch(
    new RegExp(`<a href="[^"]*/address/${provider}">${shortAddress(provider)}</a>`),
  )
})

test('a sentence has a date only for another day than that of the alert', () => {
  const envelope = envelopeOf('fsp.ftso-commit', 'en')
  expect(envelope.message.body).toContain('since 11:58\u00a0UTC (round')
  const data = { ...envelope.data, since: '2026-11-19T11:58:30.000Z' }
  const source = { ...envelope.message, data, firedAt: FIRED_AT }
  const other = (locale: Locale) => renderMessage(source, { locale, timezone: 'UTC' }).body
  expect(other('en')).toContain('since Nov 19, 2026, 11:58\u00a0UTC (round')
  expect(other('fr')).toContain('depuis le 19 nov. 2026')
})

test('an event without duration is shown without “since”', () => {
  const secondLine = (event: string) => linesOf(alertView(envelopeOf(event, 'en')).plain)[1]
  expect(secondLine('feed-move.threshold')).toContain('at 12:01:30')
  expect(secondLine('fsp.ftso-commit')).toContain('since 11:58\u00a0UTC')
})
