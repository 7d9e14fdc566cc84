import { describe, expect, test } from 'vitest'
import { causeHeading, causeOf, outageOf } from './cause.ts'
import type { Envelope } from './envelope.ts'

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

describe('the cause of several alerts', () => {
  test('is silence when all five duties are missing', () => {
    const parts = DUTIES.map((event) => missed(event))
    expect(causeOf([...parts, missed('ftso-commit', { streak: 3 })])).toEqual({
      kind: 'silent',
      since: '2026-11-20T22:18:00.000Z',
      rounds: 3,
    })
  })

  test.each([
    'fast-updates',
    'chill',
    'fdc-participation',
    'balance-low',
  ])('is silence whatever else is wrong: %s', (event) => {
    const other = part(event, { since: '2026-11-20T20:00:00.000Z', streak: 9 })
    const parts = [other, ...DUTIES.map((one) => missed(one)), other]
    expect(causeOf(parts)).toEqual({ kind: 'silent', since: '2026-11-20T22:18:00.000Z', rounds: 2 })
  })

  test.each([
    ['four duties', DUTIES.slice(1).map((event) => missed(event))],
    [
      'one that is late',
      [...DUTIES.slice(1).map((one) => missed(one)), part('ftso-commit', { reason: 'late' })],
    ],
    [
      'one that is late the second time',
      [...DUTIES.map((one) => missed(one)), part('ftso-commit', { reason: 'late' })],
    ],
    ['nothing', []],
  ])('is not silence with %s', (_, parts) => {
    expect(causeOf(parts)).toBeUndefined()
  })

  test('is health when only recoveries are left and nothing else is active', () => {
    const parts = ['ftso-commit', 'ftso-reveal'].map((event) => recovered(event))
    expect(causeOf(parts)).toEqual({
      kind: 'healthy',
      since: '2026-11-20T22:18:00.000Z',
      seconds: 360,
      rounds: 4,
    })
    const open = recovered('fdc-bitvote', {}, { hasOthers: true })
    expect(causeOf([...parts, open])).toBeUndefined()
    const at = (one: Envelope, firedAt: string) => ({
      ...one,
      message: { ...one.message, firedAt },
    })
    const later = parts.map((one) => at(one, '2026-11-20T22:26:00.000Z'))
    expect(causeOf([at(open, '2026-11-20T22:24:00.000Z'), ...later])?.kind).toBe('healthy')
    expect(causeOf([at(open, '2026-11-20T22:28:00.000Z'), ...later])).toBeUndefined()
    expect(causeOf(parts.slice(1))).toBeUndefined()
  })
})

describe('its outage', () => {
  test('is the longest of the recoveries, from its start on', () => {
    const short = recovered('ftso-reveal', { gapSeconds: 180 })
    const long = recovered('fast-updates', {
      roundStart: undefined,
      since: '2026-11-20T22:10:00.000Z',
      gapSeconds: 900,
    })
    expect(outageOf(causeOf([short, long]), {})).toEqual({
      from: new Date('2026-11-20T22:10:00Z'),
      to: new Date('2026-11-20T22:25:00Z'),
    })
  })

  test('of a silence begins when its heading says, and is unknown while no recovery has its length', () => {
    const cause = { kind: 'silent', since: '2026-11-20T04:46:00.000Z', rounds: 2 } as const
    expect(outageOf(cause, { seconds: 450 })).toEqual({
      from: new Date('2026-11-20T04:46:00Z'),
      to: new Date('2026-11-20T04:53:30Z'),
    })
    expect(outageOf(cause, {})).toBeUndefined()
    expect(outageOf(undefined, { seconds: 450 })).toBeUndefined()
  })
})

describe('its heading', () => {
  const of = {
    watch: 'Alpha',
    since: '2026-11-20T22:18:00.000Z',
    recoveredAt: undefined,
    isOver: false,
    loss: {},
  }
  const heading = (cause: Envelope['cause'], over: object = {}) =>
    causeHeading({ locale: 'en', timezone: 'UTC', ...(cause && { cause }) }, { ...of, ...over })

  test('says in one sentence what happened', () => {
    expect(heading({ kind: 'silent', since: of.since, rounds: 2 })).toBe(
      '\u2068Alpha\u2069 has sent nothing since 22:18 (2 rounds)',
    )
    expect(heading({ kind: 'healthy', seconds: 360, rounds: 4 }, { isOver: true })).toBe(
      '\u2068Alpha\u2069 is healthy again · 6 min, 4 rounds lost',
    )
  })

  test('of a silence that is over has the length and the loss that its recovery says', () => {
    const recoveredAt = new Date('2026-11-20T22:24:00Z')
    const cause = { kind: 'silent', since: of.since, rounds: 2 } as const
    expect(heading(cause, { isOver: true, recoveredAt })).toBe('\u2068Alpha\u2069 is healthy again')
    const loss = { seconds: 540, rounds: 6 }
    expect(heading(cause, { isOver: true, recoveredAt, loss })).toBe(
      heading({ kind: 'healthy', ...loss }, { isOver: true }),
    )
    expect(heading({ kind: 'healthy' }, { isOver: true, recoveredAt })).toBe(
      '\u2068Alpha\u2069 is healthy again · 6 min',
    )
  })

  test('is missing where nothing is known', () => {
    expect(heading(undefined)).toBeUndefined()
  })
})
