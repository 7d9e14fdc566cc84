import type { Envelope, EnvelopeMessage } from '#src/channels/envelope.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'

/** An alert's envelope as stored in the outbox, with the given properties. */
export function envelopeOf({
  message = {},
  ...over
}: Partial<Omit<Envelope, 'message'>> & {
  readonly message?: Partial<EnvelopeMessage>
} = {}): Envelope {
  return {
    deliveryId: '0b8c6a4e-6f0e-4f0e-9a43-0d9b1f3c2a11',
    type: 'wallet-balance',
    signal: 'balance-change',
    group: 'alerts',
    data: { before: '12742500000000000000000', after: '242500000000000000000' },
    locale: 'en',
    timezone: 'Europe/Berlin',
    ...over,
    message: {
      alertId: 4711,
      incidentId: 31,
      watchId: 42,
      watchLabel: 'Treasury',
      event: 'wallet-balance.moved',
      severity: 'info',
      title: 'Balance changed: -12,500 FLR',
      body: 'Treasury: the balance went from 12,742.5 FLR to 242.5 FLR.',
      fields: [
        {
          key: 'address',
          label: 'Address',
          value: '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c',
          href: 'https://explorer.example.org/address/0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c',
        },
        { key: 'after', label: 'Now', value: '242.5 FLR' },
      ],
      link: 'https://watchdog.example.org/a/abc123',
      firedAt: '2026-11-20T13:02:31.000Z',
      test: false,
      ...recoveryRoleOf(message.event ?? 'wallet-balance.moved'),
      ...message,
    },
  }
}

/** Texts that break missing escaping, isolation or limits. */
export const HOSTILE_TEXTS = [
  'Alice <3 & "Bob" \'s <b>bold</b></title><script>alert(1)</script>',
  '<a href="javascript:alert(1)">x</a> &lt;b&gt; &#60; &nbsp;',
  '*_`[x](y)`_* {{count}} $t(bot:x) %s',
  'line\r\nBcc: victim@example.org\r\n\r\nbody\u0000\u0007',
  '\u202eevil\u202c \u2066\u2067\u2068unclosed \u2069\u2069',
  'محفظة 0x12 \u200f\u200e سلمى',
  '👩‍👩‍👧‍👦'.repeat(40),
  '\ud800 lone \udfff',
  'x'.repeat(9000),
  '',
] as const
