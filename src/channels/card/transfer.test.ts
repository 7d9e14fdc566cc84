import { describe, expect, test } from 'vitest'
import { createRenderer } from '#src/alerts/messages/render.ts'
import { signalHelp } from '#src/i18n/signal-help.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { envelopeOf } from '../../../test/support/envelopes.ts'
import { alertView } from '../telegram/alert.ts'
import { helpFormOf, transferHeading } from './transfer.ts'

const RECEIVER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const sent = {
  asset: 'FLR',
  symbol: 'FLR',
  decimals: 18,
  previousAmount: '12742500000000000000000',
  currentAmount: '12242500000000000000000',
  changeAmount: '-500000000000000000000',
  direction: 'outgoing',
  counterparty: RECEIVER,
  transactions: [],
  transactionCount: 0,
}
const received = {
  ...sent,
  previousAmount: sent.currentAmount,
  currentAmount: sent.previousAmount,
  changeAmount: '500000000000000000000',
  direction: 'incoming',
}

const heading = (data: object, locale: Locale = 'en', over: object = {}) =>
  transferHeading(envelopeOf({ data: { ...data }, locale, message: over }))

describe('the first line of a transfer', () => {
  test.each([
    [sent, 'sent 500\u00a0FLR'],
    [received, 'received 500\u00a0FLR'],
    [{ ...sent, isTopUp: true }, 'paid 500\u00a0FLR for your credits'],
    [{ ...sent, counterpartyRole: 'own-wallet' }, 'sent 500\u00a0FLR to your own wallet'],
    [{ ...sent, counterpartyRole: 'new' }, 'sent 500\u00a0FLR'],
  ])('says which watch, in which direction and how much: %#', (data, text) => {
    expect(heading(data)).toBe(`\u2068Treasury\u2069 ${text}`)
  })

  test.each(LOCALES)('has at most ten words, in %s', (locale) => {
    for (const data of [
      sent,
      received,
      { ...sent, isTopUp: true },
      { ...sent, counterpartyRole: 'own-wallet' },
    ]) {
      const text = heading(data, locale) ?? ''
      expect(text).toContain('Treasury')
      expect(text).toMatch(/500\u00a0FLR/)
      expect(text.split(/[\s\u00a0]+/).length).toBeLessThanOrEqual(10)
    }
  })

  test('never rounds the amount so far that it equals a balance in the text below', () => {
    const data = {
      ...sent,
      previousAmount: '10000000000000000000000',
      currentAmount: '400000000000000',
      changeAmount: '-9999999600000000000000',
    }
    expect(heading(data)).toContain('sent 9,999.9996\u00a0FLR')
  })

  test('is left out if the alert has no watch, is of another event, or has unreadable data', () => {
    expect(heading(sent, 'en', { watchLabel: null })).toBeUndefined()
    expect(heading(sent, 'en', { event: 'fsp.ftso-commit' })).toBeUndefined()
    expect(heading({ ...sent, changeAmount: 'many' })).toBeUndefined()
    expect(heading({ ...sent, previousAmount: null })).toBeUndefined()
  })

  test('is the title of the message, whose line below does not repeat the watch', () => {
    const lines = alertView(envelopeOf({ data: sent })).plain.split('\n')
    expect(lines.slice(0, 2)).toEqual([
      '🔵 \u2068Treasury\u2069 sent 500\u00a0FLR',
      'Info · at 14:02:31\u00a0UTC+1',
    ])
  })
})

describe('the help of a transfer', () => {
  const help = (data: object) => {
    const form = helpFormOf('wallet-balance.moved', { ...data })
    return signalHelp(translator('en'), { type: 'wallet-balance', signal: 'balance-change', form })
  }

  test('says first what to do about an outgoing transfer that the owner did not make', () => {
    expect(help(sent).action).toContain('move the remaining funds to a new wallet first')
    expect(help(sent).causes).not.toContain('Rewards were claimed')
  })

  test('asks for nothing where money arrived, or paid for credits', () => {
    expect(help(received).action).toMatch(/^1\. If you expected it: no action needed/)
    expect(help({ ...sent, isTopUp: true }).action).toMatch(/^No action needed/)
  })

  test('has the general texts of the signal where a transfer has none of its own', () => {
    const every = signalHelp(translator('en'), { type: 'wallet-balance', signal: 'balance-change' })
    expect(help({ direction: 'any' })).toEqual(every)
    expect(help(sent).why).toBe(every.why)
  })

  test('differs in the chat by the direction of the transfer', () => {
    const shown = (data: object) =>
      alertView(envelopeOf({ data: { ...data } }), { open: 'action' }).plain
    expect(shown(sent)).toContain('Whoever has the key can send again')
    expect(shown(received)).not.toContain('Whoever has the key')
  })
})

describe('the text of a transfer', () => {
  const body = (data: object, locale: Locale = 'en') =>
    createRenderer()(
      {
        ...{
          alertId: 1,
          incidentId: 1,
          watchId: 1,
          watchLabel: 'Treasury',
          event: 'wallet-balance.moved',
        },
        severity: 'warning',
        data: {
          ...sent,
          address: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
          threshold: '100',
          transactionHash: null,
          usd: null,
          blockNumber: 7,
          blockTime: '2026-11-20T13:02:31.000Z',
          ...data,
        },
        firedAt: new Date('2026-11-20T13:02:31.000Z'),
        link: 'https://watchdog.example.org/',
        test: false,
      },
      { locale, timezone: 'UTC' },
    ).body

  test.each([
    [
      { counterpartyRole: 'watched' },
      'Sent to 0x7099…79C8, an address that another of your watches covers.',
    ],
    [{ counterpartyRole: 'seen' }, 'Sent to 0x7099…79C8, as in an earlier alert of this watch.'],
    [
      { counterpartyRole: 'new' },
      'Sent to 0x7099…79C8, which does not appear in this watch’s recent alerts.',
    ],
    [{ counterpartyRole: 'unknown', counterparty: null }, 'The receiver could not be determined.'],
    [
      { counterpartyRole: 'own-wallet' },
      'The receiver 0x7099…79C8 is the wallet that you sign in with.',
    ],
    [
      { ...received, counterpartyRole: 'own-wallet' },
      'Sent from 0x7099…79C8, the wallet that you sign in with.',
    ],
    [
      { ...received, counterpartyRole: 'new' },
      'Sent from 0x7099…79C8, which does not appear in this watch’s recent alerts.',
    ],
  ])('says what is known about the other account: %j', (data, text) => {
    expect(body(data)).toContain(text)
  })

  test('does not mention the other account where nothing is known about it, or of a top-up', () => {
    expect(body({})).not.toContain('Sent')
    expect(body({ isTopUp: true, counterpartyRole: 'new' })).not.toContain('Sent')
  })

  test.each(LOCALES)('names the receiver, in %s', (locale) => {
    for (const counterpartyRole of ['watched', 'seen', 'new', 'own-wallet']) {
      expect(body({ counterpartyRole }, locale)).toContain('0x7099…79C8')
    }
  })
})
