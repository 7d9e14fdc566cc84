import { expect, test } from 'vitest'
import { Envelope } from './envelope.ts'

const MESSAGE = {
  alertId: 41,
  incidentId: 9,
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
  isRecovery: true,
  canRecover: false,
} as const

const ENVELOPE = {
  deliveryId: '0b8c6a4e-6f0e-4f0e-9a43-0d9b1f3c2a11',
  type: 'wallet-balance',
  signal: 'balance',
  group: 'balance',
  data: {},
  locale: 'en',
  timezone: 'Europe/Zurich',
  message: MESSAGE,
} as const

test('a stored envelope keeps every property, so that what is sent is what was planned', () => {
  const whole: Required<Envelope> = {
    ...ENVELOPE,
    data: { wallet: '0x52c1' },
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
        ...MESSAGE,
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
    card: 'abc_123',
    hasOthers: true,
    repliesToList: true,
    unacknowledgedSeconds: 900,
    buttons: [[{ label: 'Open', url: 'https://watchdog.example.org/a/abc123' }]],
  }
  expect(Envelope.parse(whole)).toEqual(whole)
})

test.each(['isRecovery', 'canRecover'] as const)('a message without %s is refused', (role) => {
  const { [role]: _missing, ...message } = MESSAGE
  expect(Envelope.safeParse({ ...ENVELOPE, message }).success).toBe(false)
  expect(Envelope.safeParse({ ...ENVELOPE, items: [MESSAGE, message] }).success).toBe(false)
})
