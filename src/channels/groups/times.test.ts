import { describe, expect, test } from 'vitest'
import { envelopeOf } from '../../../test/support/envelopes.ts'
import type { Cause, Envelope, EnvelopeMessage, MessageState } from '../envelope.ts'
import { discordBody } from '../hooks/discord.ts'
import { REGISTRY as CHANNELS } from '../index.ts'
import { alertMail } from '../mail/content.ts'
import { alertView } from '../telegram/alert.ts'
import { groupTimes } from './times.ts'

const WALLET = '0x3f12B8ac9D2e7F4b6A1c5D8E0F9A7B3c2d1ea91C'

const at = (time: string) => new Date(`2026-11-20T${time}Z`)
const instant = (time: string) => at(time).toISOString()
const READER = {
  address: 'a@example.org',
  wallet: `0x${'1'.repeat(40)}`,
  unsubscribeUrl: undefined,
}

let alertId = 0
function item(event: string, start: string, over: Partial<EnvelopeMessage> = {}): EnvelopeMessage {
  alertId += 1
  const about = { watchLabel: 'Alpha', event: `fsp.${event}`, title: `${event} is wrong` }
  const times = { firedAt: instant(start), startedAt: instant(start), canRecover: true }
  const { message } = envelopeOf({
    message: { alertId, severity: 'warning', ...about, fields: [] },
  })
  return { ...message, ...times, ...over }
}

function groupOf(items: readonly EnvelopeMessage[], cause?: Cause, over: object = {}): Envelope {
  const [message] = items.toSorted((a, b) => a.severity.localeCompare(b.severity))
  return {
    ...envelopeOf({ type: 'provider-fsp', signal: null, group: null, timezone: 'UTC' }),
    ...{ message: message ?? item('', '00:00:00'), kind: 'group', items, ...over },
    ...(cause && { cause }),
  }
}

const low = item('balance-low', '07:00:00', { severity: 'critical', body: 'Too low.' })
const duty = item('ftso-commit', '09:10:00', {
  firedAt: instant('09:13:00'),
  body: 'No commits.',
})
const over = (...all: readonly (readonly [EnvelopeMessage, string])[]): MessageState => ({
  items: new Map(all.map(([message, time]) => [message.alertId ?? 0, { recoveredAt: at(time) }])),
})
const plain = (text: string) => text.replace(/[\u2066-\u2069]/g, '').replace(/\u00a0/g, ' ')

describe('the times of several alerts', () => {
  test('are those of the alert that the heading names, not of a duty that failed later', () => {
    const group = groupOf([low, duty])
    expect(plain(alertView(group).plain)).toMatch(
      /^🔴 Alpha: balance-low is wrong · 1 more alert\nCritical · since 07:00:00 UTC/,
    )
    const texts = [
      alertMail(group, READER).text,
      alertMail(group, READER).html,
      discordBody(group),
      ...(['ntfy', 'slack'] as const).map((channel) =>
        JSON.stringify(CHANNELS[channel].preview.write(group)),
      ),
    ]
    for (const text of texts) {
      expect(plain(text)).toContain('since 07:00:00')
      expect(plain(text)).not.toContain('since 09:1')
    }
    const page = JSON.parse(CHANNELS.pagerduty.preview.write(group, WALLET).body)
    expect(page.payload.timestamp).toBe(instant('07:00:00'))
  })

  test('stay those of that alert once the duty has recovered', () => {
    const group = groupOf([low, duty])
    expect(plain(alertView(group, over([duty, '09:20:00'])).plain)).toMatch(
      /^🔴 Alpha: balance-low is wrong\nCritical · since 07:00:00 UTC/,
    )
  })

  test('become those of the duty once only the duty is open', () => {
    const group = groupOf([low, duty])
    expect(plain(alertView(group, over([low, '09:20:00'])).plain)).toMatch(
      /^🟠 Alpha: ftso-commit is wrong\nWarning · since 09:10 UTC/,
    )
  })

  test('are those of an event that nothing ends, if the heading names it', () => {
    const chill = item('chill', '09:12:05', { severity: 'critical', canRecover: false })
    expect(plain(alertView(groupOf([duty, chill])).plain)).toMatch(
      /^🔴 Alpha: chill is wrong · 1 more alert\nCritical · at 09:12:05 UTC/,
    )
  })

  test('of duties that are the common cause are theirs, whatever else is wrong', () => {
    const duties = ['fdc-bitvote', 'fdc-signature'].map((event) => item(event, '09:10:00'))
    const group = groupOf([low, ...duties], { kind: 'fdc', rounds: 2 })
    expect(groupTimes(group, {})).toEqual({ from: at('09:10:00'), to: undefined })
    const [first] = duties
    if (first === undefined) throw new Error('no duty')
    expect(groupTimes(group, over([first, '09:20:00'])).from).toEqual(at('07:00:00'))
  })

  test.each([
    ['ftso', ['ftso-commit', 'ftso-reveal', 'ftso-signature'], 'no valid FTSO votes since 05:00'],
    ['fdc', ['fdc-bitvote', 'fdc-signature'], 'no valid FDC votes since 05:00'],
    [
      'silent',
      ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote', 'fdc-signature'],
      'has sent no votes since 05:00',
    ],
  ] as const)('of a common cause begin when its last duty failed: %s', (kind, events, heading) => {
    const last = item(events.at(-1) ?? '', '05:00:00')
    const items = [...events.slice(0, -1).map((event) => item(event, '01:00:00')), last]
    const group = groupOf([...items, low], { kind, rounds: 2 })
    const [title, line] = plain(alertView(group).plain).split('\n')
    expect(title).toContain(heading)
    expect(line).toMatch(/^Critical · since 05:00/)
    const ended = over(...items.map((message) => [message, '09:00:00'] as const))
    // The whole outage began with the first of them.
    expect(groupTimes(groupOf(items, { kind, rounds: 2 }), ended)).toEqual({
      from: at('01:00:00'),
      to: at('09:00:00'),
    })
  })

  test('of a common cause follow the last alert about each duty', () => {
    const before = item('fdc-bitvote', '01:00:00')
    const later = ['fdc-bitvote', 'fdc-signature'].map((event) => item(event, '05:00:00'))
    const group = groupOf([before, ...later], { kind: 'fdc', rounds: 2 })
    expect(groupTimes(group, {}).from).toEqual(at('05:00:00'))
  })

  test('that are over are those of the duties; without duties they are of all alerts', () => {
    const slow = item('fast-updates', '08:00:00')
    const all = over([low, '09:40:00'], [duty, '09:30:00'], [slow, '09:20:00'])
    expect(groupTimes(groupOf([low, duty, slow]), all)).toEqual({
      from: at('09:10:00'),
      to: at('09:30:00'),
    })
    expect(groupTimes(groupOf([low, slow]), all)).toEqual({
      from: at('07:00:00'),
      to: at('09:40:00'),
    })
  })

  test('have no end if the watch was deleted', () => {
    const closed = { closedAt: at('09:30:00') }
    expect(groupTimes(groupOf([low, duty]), closed)).toEqual({
      from: at('07:00:00'),
      to: undefined,
    })
  })

  test('are followed by the text of the alert that a reminder names', () => {
    const { plain: text } = alertView(groupOf([low, duty], undefined, { of: 'reminder' }))
    expect(text).toContain('Too low.')
    expect(text).not.toContain('No commits.')
  })
})
