import { describe, expect, test } from 'vitest'
import type { Cause, Envelope } from '#src/channels/envelope.ts'
import { pictureOf } from './picture-rules.ts'

const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'

const alert = (event: string, data: object = { provider: PROVIDER, votingRoundId: 40 }) =>
  ({
    data,
    message: { event: `fsp.${event}`, isRecovery: event.endsWith('.recovered') },
  }) as unknown as Envelope
const rulesOf = (parts: readonly Envelope[], over: { of?: Envelope['of']; cause?: Cause } = {}) =>
  pictureOf(parts, { of: undefined, cause: undefined, ...over })

const commit = alert('ftso-commit')
const reveal = alert('ftso-reveal', { provider: PROVIDER, votingRoundId: 41 })
const outage = { kind: 'outage', provider: PROVIDER, round: 41 }

describe('a picture', () => {
  test('shows the rounds up to the last of several failed duties, in whatever order they come', () => {
    expect(rulesOf([commit, reveal])).toEqual(outage)
    expect(rulesOf([reveal, alert('balance-low'), commit])).toEqual(outage)
  })

  test('shows the recovery of everything', () => {
    const over = [alert('ftso-commit.recovered'), alert('ftso-reveal.recovered')]
    const healthy = { kind: 'recovery', provider: PROVIDER, round: 40 }
    expect(rulesOf(over, { cause: { kind: 'healthy' } })).toEqual(healthy)
    expect(rulesOf(over)).toBeUndefined()
  })
})

describe('no picture is shown for', () => {
  const low = alert('balance-low')
  const chill = alert('chill')
  const recovered = alert('balance-low.recovered')
  test.each<readonly [string, readonly Envelope[], Parameters<typeof rulesOf>[1]]>([
    ['one failed duty', [commit], {}],
    ['one duty that failed twice', [commit, commit], {}],
    ['other alerts', [low, chill], {}],
    ['the recovery of other alerts', [recovered, recovered], { cause: { kind: 'healthy' } }],
    ['a reminder', [commit, reveal], { of: 'reminder' }],
    ['a raised severity', [commit, reveal], { of: 'raised' }],
    ['a failed duty and the recovery of another', [commit, alert('ftso-reveal.recovered')], {}],
    [
      'an unknown provider',
      [alert('ftso-commit', { votingRoundId: 1 }), alert('ftso-reveal', {})],
      {},
    ],
    [
      'unknown rounds',
      ['ftso-commit', 'ftso-reveal'].map((duty) => alert(duty, { provider: PROVIDER })),
      {},
    ],
  ])('%s', (_, parts, over) => {
    expect(rulesOf(parts, over)).toBeUndefined()
  })
})
