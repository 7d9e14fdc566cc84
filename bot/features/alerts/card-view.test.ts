import { expect, test } from 'vitest'
import type { AlertCard } from '#src/alerts/history/card.ts'
import type { MessageState } from '#src/channels/envelope.ts'
import { translator } from '#src/i18n/translate.ts'
import { withoutJoiners } from '#src/kernel/inert-text.ts'
import { deliveryText } from '../recipients/delivery-log-view.ts'
import { alertCard } from './card-view.ts'

const now = new Date('2026-11-20T12:00:00Z')
const reader = { t: translator('de'), timezone: 'UTC', isGroup: false, bot: 'WatchdogBot' }
const failed = {
  status: 'failed',
  attempts: 1,
  lastStatusCode: null,
  lastError: null,
  nextAttemptAt: null,
  deliveredAt: null,
} as const

const textOf = (over: object) => deliveryText(reader, { ...failed, ...over }, now).html

test('a failed delivery says in words why nothing arrived, and the response', () => {
  expect(textOf({ lastError: 'unknown_host' })).toMatch(/ · Servername nicht gefunden$/)
  expect(textOf({ lastError: 'status_503', lastStatusCode: 503 })).toMatch(
    / · letzte Antwort: 503$/,
  )
  expect(textOf({ lastError: 'chat_not_found' })).toMatch(/ · Telegram findet den Chat nicht$/)
})

const LINK = 'https://watchdog.example.org/a/abc'

function cardIn(
  type: string,
  event: string,
  state: MessageState = {},
  over: { readonly data?: object; readonly severity?: string } = {},
): AlertCard {
  const { data = {}, severity = 'warning' } = over
  const message = {
    ...{ alertId: 7, watchId: 1, watchLabel: 'Alpha', event, severity, title: 'T' },
    ...{ body: 'B', fields: [], link: LINK, firedAt: now.toISOString(), test: false },
    ...{ isRecovery: false, canRecover: true },
  }
  const envelope = {
    ...{ deliveryId: 'd', type, signal: null, group: null, data, locale: 'en' },
    ...{ timezone: 'UTC', message },
  }
  return { alert: { id: 7 }, envelope, state } as unknown as AlertCard
}

test('an alert of the history has what its message has, and the way back', () => {
  const card = cardIn('provider-fsp', 'fsp.ftso-commit')
  const labels = (rights: 'none' | 'read' | 'write') =>
    alertCard(reader, card, { rights, now })
      .rows.flat()
      .map(({ label }) => label)
  expect(labels('write')).toEqual(['Acknowledge', 'Mute…', 'Details', '‹ Alarme'])
  expect(labels('read')).toEqual(['Details', '‹ Alarme'])
  expect(labels('none')).toEqual(['Details'])
})

test('the payment of an own top-up has its page and the way back, and nothing else', () => {
  const of = { data: { direction: 'outgoing', isTopUp: true }, severity: 'info' }
  const card = cardIn('wallet-balance', 'wallet-balance.moved', {}, of)
  const { rows } = alertCard(reader, card, { rights: 'write', now })
  expect(rows.flat().map(({ label }) => label)).toEqual(['Details', '‹ Alarme'])
})

test('an alert of the history names the recipients of its escalation only to who may change it', () => {
  const state = { escalated: { at: now, to: ['boss@example.org'] } }
  const card = cardIn('provider-fsp', 'fsp.ftso-commit', state)
  const html = (rights: 'none' | 'read' | 'write') =>
    withoutJoiners(alertCard(reader, card, { rights, now }).html)
  expect(html('write')).toContain('boss@example.org')
  for (const rights of ['none', 'read'] as const) {
    expect(html(rights)).toContain('escalated')
    expect(html(rights)).not.toContain('boss@example.org')
  }
})
