import { describe, expect, test } from 'vitest'
import { translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { envelopeOf } from '../../../test/support/envelopes.ts'
import type { Envelope, MessageState } from '../envelope.ts'
import { REGISTRY as CHANNELS } from '../index.ts'
import { alertMail } from '../mail/content.ts'
import { alertView } from '../telegram/alert.ts'
import { ALL_DUTIES, DUTIES } from './duties.ts'
import type { Failure } from './group.ts'
import { groupTimes } from './times.ts'

const WALLET = '0x3f12B8ac9D2e7F4b6A1c5D8E0F9A7B3c2d1ea91C'

const DUTIES_OF: Readonly<Record<Failure, readonly string[]>> = { ...DUTIES, silent: ALL_DUTIES }
const FAILURES = ['silent', 'ftso', 'fdc'] as const
const READER = {
  address: 'a@example.org',
  wallet: `0x${'1'.repeat(40)}`,
  unsubscribeUrl: undefined,
}

/** Duties of a provider that all fail. */
function failureOf(kind: Failure, locale: Envelope['locale']): Envelope {
  const items = DUTIES_OF[kind].map((event, index) => {
    const { message } = envelopeOf({ message: { alertId: index + 1, event, watchLabel: 'Alpha' } })
    const signal = event.replace('fsp.', '')
    return { ...message, title: `No ${signal}`, source: { type: 'provider-fsp', signal } }
  })
  const [message] = items
  if (message === undefined) throw new Error('no duty')
  return {
    ...envelopeOf({ type: 'provider-fsp', signal: null, group: null }),
    ...{ kind: 'group', cause: { kind, rounds: 2 }, message, items, locale },
  }
}

const withoutMarks = (text: string) => text.replace(/[\u2066-\u2069\u200e\u200f]/g, '')

describe.each(FAILURES)('the failure “%s”', (kind) => {
  test.each(LOCALES)('has its damage and its first step in every channel, in %s', (locale) => {
    const envelope = failureOf(kind, locale)
    const body = withoutMarks(translate(locale, `messages:group.${kind}Body`))
    const action = withoutMarks(translate(locale, `messages:group.${kind}Action`))
    const chat = withoutMarks(alertView(envelope, { open: 'action' }).plain)
    expect(chat).toContain(body)
    expect(chat.endsWith(`\n\n${action}`)).toBe(true)
    const mail = withoutMarks(alertMail(envelope, READER).text)
    const flat = mail.replace(/\s+/g, ' ')
    expect(flat).toContain(body)
    expect(flat).toContain(action.split('\n').slice(0, 2).join(' '))
    const page = withoutMarks(CHANNELS.pagerduty.preview.write(envelope, WALLET).body)
    expect(page).toContain(body)
  })

  test('is named in at most ten words', () => {
    const [first = ''] = alertView(failureOf(kind, 'en')).plain.split('\n')
    expect(first.replace(/^\P{L}+/u, '').split(' ').length).toBeLessThanOrEqual(10)
  })

  test('loses its damage and its first step with the first duty that is well again', () => {
    const state: MessageState = {
      items: new Map([[1, { recoveredAt: new Date('2026-11-20T13:09:00Z') }]]),
      open: 'action',
    }
    const text = withoutMarks(alertView(failureOf(kind, 'en'), state).plain)
    expect(text).not.toContain(withoutMarks(translate('en', `messages:group.${kind}Body`)))
    expect(text).not.toContain(withoutMarks(translate('en', `messages:group.${kind}Action`)))
  })
})

test.each([
  ['ftso', 'fsp.fdc-bitvote'],
  ['fdc', 'fsp.ftso-commit'],
] as const)('the failure “%s” goes on when a duty of the other protocol is well again', (kind, other) => {
  const failure = failureOf(kind, 'en')
  const startedAt = '2026-11-20T11:00:00.000Z'
  const { message } = envelopeOf({ message: { alertId: 99, event: other, watchLabel: 'Alpha' } })
  const items = [...(failure.items ?? []), { ...message, title: 'No other vote', startedAt }]
  const state: MessageState = {
    items: new Map([[99, { recoveredAt: new Date('2026-11-20T13:09:00Z') }]]),
  }
  const envelope = { ...failure, items }
  const text = withoutMarks(alertView(envelope, state).plain)
  expect(text).toContain(`Alpha: no valid ${kind.toUpperCase()} votes since`)
  expect(text).toContain(withoutMarks(translate('en', `messages:group.${kind}Body`)))
  expect(text).toContain('🟢 No other vote · recovered')
  // It began when the duties of its own protocol failed.
  expect(groupTimes(envelope, state).from).toEqual(new Date(message.firedAt))
})
