import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#src/kernel/units.ts'
import { type ActiveAlertRef, findCause, isCause } from './inhibition.ts'

const ALICE = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'
const BOB = '0x00000000000000000000000000000000000F1A03'
const PROVIDER = '0x12AB4f00000000000000000000000000000Fcd34'

function alert(
  event: string,
  { wallet = ALICE, watchId = 1, data = {} }: Partial<Omit<ActiveAlertRef, 'event'>> = {},
): ActiveAlertRef {
  const signal = event === 'fsp.monitoring' ? null : (SIGNALS[event] ?? event.slice(4))
  return { wallet, watchId, signal, event, data: { provider: PROVIDER, ...data } } as ActiveAlertRef
}

const SIGNALS: Readonly<Record<string, string>> = {
  'provider.unregistered': 'provider-status',
  'provider.eligibility-lost': 'provider-status',
  'wallet-balance.moved': 'balance-change',
}

const holds = (cause: ActiveAlertRef, consequence: ActiveAlertRef) =>
  findCause(consequence, [cause]) !== undefined

const VOTING = ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote', 'fdc-signature']
const STREAKS = [...VOTING, 'fdc-bitvote-length', 'fdc-consensus']
const OTHERS = ['tx-failed', 'registration', 'not-in-policy', 'reveal-offence', 'balance-low']

describe('a chain that cannot be seen', () => {
  test.each(STREAKS)('holds back %s of its own watch alone', (signal) => {
    const monitoring = alert('fsp.monitoring')
    expect(holds(monitoring, alert(`fsp.${signal}`))).toBe(true)
    expect(holds(monitoring, alert(`fsp.${signal}`, { watchId: 2 }))).toBe(false)
  })
  test.each(OTHERS)('does not hold back %s', (signal) => {
    expect(holds(alert('fsp.monitoring'), alert(`fsp.${signal}`))).toBe(false)
  })
})

describe.each(['fsp.not-in-policy', 'provider.unregistered'])('%s', (event) => {
  test.each(VOTING)('holds back %s on every watch of the wallet on this provider', (signal) => {
    const cause = alert(event, { watchId: 7 })
    expect(holds(cause, alert(`fsp.${signal}`))).toBe(true)
    const lower = { data: { provider: PROVIDER.toLowerCase() } }
    expect(holds(cause, alert(`fsp.${signal}`, lower))).toBe(true)
    expect(holds(cause, alert(`fsp.${signal}`, { data: { provider: BOB } }))).toBe(false)
    expect(holds(cause, alert(`fsp.${signal}`, { wallet: BOB }))).toBe(false)
  })
  test.each([
    'fdc-bitvote-length',
    'fdc-consensus',
    ...OTHERS,
  ])('does not hold back %s', (signal) => {
    expect(holds(alert(event), alert(`fsp.${signal}`))).toBe(false)
  })
})

describe('a reveal that does not match its commit', () => {
  const offence = alert('fsp.reveal-offence', { data: { votingRoundId: 1519400 } })
  const reveal = (data: JsonObject) => alert('fsp.ftso-reveal', { watchId: 2, data })

  test('holds back the missing reveal of the same round', () => {
    expect(holds(offence, reveal({ firstRoundId: 1519399, votingRoundId: 1519401 }))).toBe(true)
    expect(holds(offence, reveal({ votingRoundId: 1519400 }))).toBe(true)
  })
  test('does not hold back another round, or another signal', () => {
    expect(holds(offence, reveal({ firstRoundId: 1519398, votingRoundId: 1519399 }))).toBe(false)
    expect(holds(offence, reveal({}))).toBe(false)
    expect(holds(offence, alert('fsp.ftso-commit', { data: { votingRoundId: 1519400 } }))).toBe(
      false,
    )
  })
})

const events = fc.constantFrom(
  ...[...STREAKS, ...OTHERS, 'monitoring'].map((name) => `fsp.${name}`),
  ...Object.keys(SIGNALS),
)
const statuses = fc
  .record({
    event: events,
    wallet: fc.constantFrom(ALICE, BOB),
    watchId: fc.integer({ min: 1, max: 3 }),
    data: fc.record({
      provider: fc.constantFrom(PROVIDER, BOB),
      votingRoundId: fc.integer({ min: 1, max: 3 }),
    }),
  })
  .map(({ event, ...about }) => alert(event, about as Partial<ActiveAlertRef>))

describe('for any open alerts', () => {
  test('an alert is inhibited only by a cause of the same wallet', () => {
    fc.assert(
      fc.property(statuses, fc.array(statuses), (alert, open) => {
        const cause = findCause(alert, open)
        if (cause === undefined) return
        expect(cause.wallet).toBe(alert.wallet)
        expect(isCause(cause.event)).toBe(true)
      }),
    )
  })

  test('a cause is never inhibited itself, so that one alert is always sent', () => {
    fc.assert(
      fc.property(statuses, fc.array(statuses), (alert, open) => {
        if (isCause(alert.event)) expect(findCause(alert, open)).toBeUndefined()
      }),
    )
  })

  test('an inhibited alert stays inhibited when more alerts are open, in any order', () => {
    fc.assert(
      fc.property(statuses, fc.array(statuses), statuses, (alert, open, more) => {
        const isHeld = findCause(alert, open) !== undefined
        if (isHeld) expect(findCause(alert, [...open, more])).toBeDefined()
        expect(findCause(alert, open.toReversed()) !== undefined).toBe(isHeld)
      }),
    )
  })
})
