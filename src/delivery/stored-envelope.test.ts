import { describe, expect, test } from 'vitest'
import type { Envelope } from '#src/channels/envelope.ts'
import { EVENTS, recoveryRoleOf } from '#src/watches/events.ts'
import { DecodedEnvelope } from './stored-envelope.ts'

/** Envelopes as the outbox stored them before messages carried `isRecovery` and `canRecover`. */
const OLD_MESSAGE = {
  alertId: 41,
  watchId: 7,
  watchLabel: 'Treasury',
  event: 'credits.recovered',
  severity: 'info',
  title: 'Balance is above 100 FLR again',
  body: 'Treasury has 120 FLR.',
  fields: [{ key: 'wallet', label: 'Wallet', value: '0x52c1…07ae' }],
  link: 'https://watchdog.example.org/a/abc123',
  firedAt: '2026-11-20T13:02:31.000Z',
  test: false,
}

const OLD_ENVELOPE = {
  deliveryId: '0b8c6a4e-6f0e-4f0e-9a43-0d9b1f3c2a11',
  type: 'wallet-balance',
  signal: 'balance',
  group: 'balance',
  data: {},
  locale: 'en',
  timezone: 'Europe/Zurich',
  message: OLD_MESSAGE,
}

describe('DecodedEnvelope', () => {
  test.each([
    ['credits.low-balance', { isRecovery: false, canRecover: true }],
    ['credits.recovered', { isRecovery: true, canRecover: false }],
    ['wallet-balance.moved', { isRecovery: false, canRecover: false }],
    ['signing.done', { isRecovery: true, canRecover: false }],
    ['fsp.monitoring', { isRecovery: false, canRecover: true }],
    ['fsp.monitoring.recovered', { isRecovery: true, canRecover: false }],
    ['summary', { isRecovery: false, canRecover: false }],
  ])('gives an old envelope of %s the role of its event', (event, role) => {
    const old = { ...OLD_ENVELOPE, message: { ...OLD_MESSAGE, event } }
    expect(DecodedEnvelope.parse(old)).toEqual({ ...old, message: { ...old.message, ...role } })
  })

  test('gives each message of an old group its own role', () => {
    const items = [
      { ...OLD_MESSAGE, event: 'credits.low-balance', severity: 'warning' },
      OLD_MESSAGE,
    ]
    const decoded = DecodedEnvelope.parse({ ...OLD_ENVELOPE, kind: 'group', items })
    expect(decoded.items).toEqual([
      { ...items[0], isRecovery: false, canRecover: true },
      { ...items[1], isRecovery: true, canRecover: false },
    ])
  })

  test('keeps every property, so that what is sent is what was planned', () => {
    const message = { ...OLD_MESSAGE, isRecovery: true, canRecover: false } as const
    const whole: Required<Envelope> = {
      ...OLD_ENVELOPE,
      data: { wallet: '0x52c1' },
      locale: 'en',
      message: { ...message, severity: 'info' },
      kind: 'group',
      answers: 40,
      answersEach: [40, 41],
      answered: { severity: 'critical', title: 'Balance is below 100 FLR' },
      startedAt: '2026-11-20T13:00:00.000Z',
      takenBy: 'Ann',
      picture: {
        kind: 'outage',
        provider: '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE',
        round: 1_519_400,
      },
      of: 'reminder',
      items: [
        {
          ...message,
          severity: 'info',
          startedAt: '2026-11-20T13:00:00.000Z',
          endedAt: '2026-11-20T13:02:31.000Z',
          source: { type: 'wallet-balance', signal: 'balance' },
        },
      ],
      more: 3,
      cause: {
        kind: 'moved',
        rounds: 2,
        sent: { units: '500', decimals: 18, symbol: 'FLR' },
        received: { units: '200', decimals: 18, symbol: 'FLR' },
      },
      hasOthers: true,
      repliesToList: true,
      unacknowledgedSeconds: 900,
      buttons: [[{ label: 'Open', url: 'https://watchdog.example.org/a/abc123' }]],
    }
    expect(DecodedEnvelope.parse(whole)).toEqual(whole)
  })

  test('keeps the role that was stored', () => {
    const message = { ...OLD_MESSAGE, isRecovery: false, canRecover: true }
    expect(DecodedEnvelope.parse({ ...OLD_ENVELOPE, message }).message).toEqual(message)
  })

  test('knows the recoveries that old envelopes were recognized by', () => {
    const recoveries = EVENTS.filter((event) => recoveryRoleOf(event).isRecovery)
    const byName = EVENTS.filter(
      (event) => event.endsWith('.recovered') || event === 'signing.done',
    )
    expect(recoveries).toEqual(byName)
  })
})
