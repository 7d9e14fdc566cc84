import fc from 'fast-check'
import { parseUnits } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import type { Envelope } from '../envelope.ts'
import { causeHeading, causeOf } from './cause.ts'

const DUTIES = ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote', 'fdc-signature']

function part(event: string, data: object, over: object = {}) {
  const message = { event: `fsp.${event}`, isRecovery: event.endsWith('.recovered') }
  return { message, data, ...over } as unknown as Envelope
}

const missed = (event: string, over: object = {}) =>
  part(event, { reason: 'missing', since: '2026-11-20T22:18:00.000Z', streak: 2, ...over })
const recovered = (event: string, data: object = {}, over: object = {}) =>
  part(
    `${event}.recovered`,
    { roundStart: '2026-11-20T22:24:00.000Z', gapSeconds: 360, missedRounds: 4, ...data },
    over,
  )

const moved = (over: object = {}) =>
  part(
    '',
    { asset: 'FLR', symbol: 'FLR', decimals: 0, changeAmount: '-500', ...over },
    {
      message: { event: 'wallet-balance.moved', isRecovery: false },
    },
  )

describe('the cause of several alerts', () => {
  test('is silence when all five duties are missing', () => {
    const parts = DUTIES.map((event) => missed(event))
    expect(causeOf(parts)).toEqual({ kind: 'silent', rounds: 2 })
  })

  test('lasts as many rounds as all of its duties failed, by the last alert about each', () => {
    const parts = DUTIES.map((event) => missed(event, { streak: 9 }))
    expect(causeOf([...parts, missed('ftso-commit', { streak: 3 })])?.rounds).toBe(3)
    expect(causeOf([missed('ftso-commit', { streak: 3 }), ...parts])?.rounds).toBe(9)
    expect(causeOf([...parts.slice(3), missed('fdc-bitvote', { streak: 3 })])?.rounds).toBe(3)
  })

  test.each([
    'fast-updates',
    'chill',
    'fdc-participation',
    'balance-low',
  ])('is silence whatever else is wrong: %s', (event) => {
    const other = part(event, { since: '2026-11-20T20:00:00.000Z', streak: 9 })
    const parts = [other, ...DUTIES.map((duty) => missed(duty)), other]
    expect(causeOf(parts)).toEqual({ kind: 'silent', rounds: 2 })
  })

  test.each([
    ['four duties', DUTIES.slice(1).map((event) => missed(event))],
    [
      'one that is late',
      [...DUTIES.slice(1).map((duty) => missed(duty)), part('ftso-commit', { reason: 'late' })],
    ],
    [
      'one that is late the second time',
      [...DUTIES.map((duty) => missed(duty)), part('ftso-commit', { reason: 'late' })],
    ],
    ['one duty', [missed('fdc-bitvote')]],
    ['duties of both protocols', ['ftso-commit', 'fdc-bitvote'].map((event) => missed(event))],
    ['nothing', []],
  ])('is not silence with %s', (_, parts) => {
    expect(causeOf(parts)).toBeUndefined()
  })

  test.each([
    ['fdc', DUTIES.slice(3)],
    ['ftso', DUTIES.slice(0, 3)],
  ])('is the failure of a protocol whose duties all failed, for whatever reason: %s', (kind, events) => {
    const parts = events.map((event) => missed(event, { reason: 'late', streak: 4 }))
    expect(causeOf([part('balance-low', {}), ...parts])).toEqual({ kind, rounds: 4 })
    expect(causeOf([...parts, missed('ftso-reveal', { reason: 'values-missing' })])).toBeUndefined()
  })

  test.each([
    ['what left and what arrived', ['-500', '200'], { sent: '500', received: '200' }],
    ['the sum of what left', ['-500', '-20'], { sent: '520' }],
    ['the sum of what arrived', ['500', '20'], { received: '520' }],
  ])('is %s', (_, changes, sums) => {
    const parts = changes.map((changeAmount) => moved({ changeAmount }))
    const amount = (units: string) => ({ units, decimals: 0, symbol: 'FLR' })
    const named = Object.entries(sums).map(([name, units]) => [name, amount(units)])
    expect(causeOf(parts)).toEqual({ kind: 'moved', ...Object.fromEntries(named) })
  })

  test.each([
    ['of several assets', [moved(), moved({ asset: '0x1', symbol: 'USDT0', decimals: 6 })]],
    ['with other alerts', [moved(), missed('ftso-commit')]],
    ['whose data cannot be read', [moved(), moved({ changeAmount: 'many' })]],
    ['alone', [moved()]],
  ])('is not a movement %s', (_, parts) => {
    expect(causeOf(parts)?.kind).not.toBe('moved')
  })

  test('is health when only recoveries are left and nothing else is active', () => {
    const parts = ['ftso-commit', 'ftso-reveal'].map((event) => recovered(event))
    expect(causeOf(parts)).toEqual({ kind: 'healthy', rounds: 4 })
    const open = recovered('fdc-bitvote', {}, { hasOthers: true })
    expect(causeOf([...parts, open])).toBeUndefined()
    const at = (envelope: Envelope, firedAt: string) => ({
      ...envelope,
      message: { ...envelope.message, firedAt },
    })
    const later = parts.map((part) => at(part, '2026-11-20T22:26:00.000Z'))
    expect(causeOf([at(open, '2026-11-20T22:24:00.000Z'), ...later])?.kind).toBe('healthy')
    expect(causeOf([at(open, '2026-11-20T22:28:00.000Z'), ...later])).toBeUndefined()
    expect(causeOf(parts.slice(1))).toBeUndefined()
  })
})

describe('its heading', () => {
  const from = new Date('2026-11-20T22:18:00.000Z')
  const to = new Date('2026-11-20T22:24:00Z')
  const unknown = { rounds: undefined, rewards: undefined }
  const of = { watch: 'Alpha', from, to: undefined, shownAt: to, isOver: false, ...unknown }
  const heading = (
    cause: Envelope['cause'],
    over: object = {},
    locale: Envelope['locale'] = 'en',
  ) => causeHeading({ locale, timezone: 'UTC', ...(cause && { cause }) }, { ...of, ...over })

  test('says in one sentence what happened', () => {
    expect(heading({ kind: 'silent', rounds: 2 })).toBe(
      '\u2068Alpha\u2069 has sent no votes since 22:18 (2 rounds)',
    )
    expect(heading({ kind: 'fdc', rounds: 2 })).toBe(
      '\u2068Alpha\u2069: no valid FDC votes since 22:18 (2 rounds)',
    )
    expect(heading({ kind: 'healthy', rounds: 4 }, { isOver: true, to })).toBe(
      '\u2068Alpha\u2069 is healthy again · down 6 min, 4 rounds lost',
    )
  })

  test.each([
    [{ sent: '500' }, 'sent 500'],
    [{ received: '7999.9999' }, 'received 8,000'],
    [{ sent: '500', received: '200' }, 'sent 500 and received 200'],
    [{ sent: '8000', received: '7000' }, 'sent 8,000 and received 7,000'],
    [{ sent: '8000', received: '8000' }, 'sent 8,000 and received 8,000'],
    [{ sent: '8000', received: '7999.9999' }, 'sent 8,000 and received 7,999.9999'],
    [{ sent: '8000', received: '8000.0001' }, 'sent 8,000 and received 8,000.0001'],
    [{ sent: '7999.9999', received: '7999.9998' }, 'sent 7,999.9999 and received 7,999.9998'],
    [{ sent: '500', received: '499.999979' }, 'sent 500 and received 499.999979'],
  ])('adds up what moved, rounded as in alerts: %j', (sums, text) => {
    const amount = (whole: string) => ({
      units: parseUnits(whole, 6).toString(),
      decimals: 6,
      symbol: 'FLR',
    })
    const named = Object.entries(sums).map(([name, whole]) => [name, amount(whole)])
    const cause = { kind: 'moved', ...Object.fromEntries(named) } as const
    expect(heading(cause)?.replaceAll('\u00a0FLR', '')).toBe(`\u2068Alpha\u2069 ${text}`)
  })

  test.each(LOCALES)('never writes different amounts alike, in %s', (locale) => {
    const amount = (units: bigint) => ({ units: units.toString(), decimals: 6, symbol: 'FLR' })
    const units = fc.bigInt({ min: 1n, max: 10n ** 12n })
    const difference = fc.bigInt({ min: 1n, max: 200_000n })
    fc.assert(
      fc.property(units, difference, (received, less) => {
        const text = (out: bigint, back: bigint) =>
          heading({ kind: 'moved', sent: amount(out), received: amount(back) }, {}, locale)
        const texts = [text(received, received), text(received + less, received)]
        expect(new Set([...texts, text(received, received + less)]).size).toBe(3)
        const numbers = texts[1]?.match(/[\d.,\u202f\u00a0]*\d/g) ?? []
        expect(numbers).toHaveLength(2)
        expect(numbers[0]).not.toBe(numbers[1])
      }),
    )
  })

  test.each(LOCALES)('has the date of a start on another day, in %s', (locale) => {
    const earlier = new Date('2026-11-19T23:50:00Z')
    const text = heading({ kind: 'silent', rounds: 2 }, { from: earlier }, locale)
    expect(text).toMatch(/19.*23:50/)
    expect(heading({ kind: 'silent', rounds: 2 }, {}, locale)).not.toContain('20')
  })

  test('of a silence that is over has its length, and the loss that its recovery says', () => {
    const cause = { kind: 'silent', rounds: 2 } as const
    expect(heading(cause, { isOver: true })).toBe('\u2068Alpha\u2069 is healthy again')
    const over = { isOver: true, to }
    expect(heading(cause, over)).toBe('\u2068Alpha\u2069 is healthy again · down 6 min')
    expect(heading(cause, { ...over, rounds: 6 })).toBe(
      heading({ kind: 'healthy', rounds: 6 }, over),
    )
  })

  test('is missing where nothing is known', () => {
    expect(heading(undefined)).toBeUndefined()
  })
})
