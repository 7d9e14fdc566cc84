import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluateWatch } from '../evaluate/evaluate.ts'
import type { EvaluatedWatch, StoredState } from '../model.ts'
import { providerEligibility } from './provider-eligibility.ts'

const provider = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'

interface Seen {
  readonly registered: boolean
  /** null: no published data says whether the provider is eligible. */
  readonly eligible: boolean | null
}

const watchOf = (over: Partial<EvaluatedWatch>): EvaluatedWatch => ({
  id: 1,
  wallet: provider,
  label: 'Test',
  settings: {},
  signals: [],
  recipientIds: null,
  minSeverity: 'info',
  cooldownSeconds: 0,
  mutedUntil: null,
  states: [],
  ...over,
})

function observationOf({ registered, eligible }: Seen, index: number) {
  return {
    position: index + 1,
    at: new Date(1_790_000_000_000 + index * 60_000),
    provider,
    name: 'Alpha Oracle',
    rewardEpochId: 453,
    registered,
    eligible,
    eligibilityEpochId: eligible === null ? null : 452,
    passes: eligible === null ? null : 1,
    failures: [],
  } as const
}

/** Folds observations through a watch whose states are stored between them. */
function fold(seen: readonly Seen[], over: Partial<EvaluatedWatch> = {}, start = 0) {
  let states: readonly StoredState[] = over.states ?? []
  const candidates = seen.flatMap((observation, index) => {
    const stored = states.map((state) => ({
      ...state,
      state: JSON.parse(JSON.stringify(state.state)),
    }))
    const watch = watchOf({ ...over, states: stored })
    const outcome = evaluateWatch(
      providerEligibility,
      { provider },
      watch,
      observationOf(observation, start + index),
    )
    states = outcome.states
    return outcome.candidates
  })
  return { candidates, states }
}

const events = (...seen: readonly Seen[]) => fold(seen).candidates.map(({ event }) => event)

const good: Seen = { registered: true, eligible: true }
const out: Seen = { registered: false, eligible: true }
const burned: Seen = { registered: true, eligible: false }
const neither: Seen = { registered: false, eligible: false }
const unknown: Seen = { registered: true, eligible: null }

const anySeen = fc.record({
  registered: fc.boolean(),
  eligible: fc.constantFrom(true, false, null),
})

describe('provider-status (evaluation rule 3)', () => {
  test('never fires on its first observation', () => {
    fc.assert(
      fc.property(anySeen, (seen) => {
        expect(events(seen)).toEqual([])
      }),
    )
  })

  test.each([
    ['the loss of registration', [good, out], ['provider.unregistered']],
    ['the loss of eligibility', [good, burned], ['provider.eligibility-lost']],
    ['both at once', [good, neither], ['provider.unregistered', 'provider.eligibility-lost']],
    [
      'one after the other',
      [good, out, neither],
      ['provider.unregistered', 'provider.eligibility-lost'],
    ],
    ['a loss once, however long it lasts', [good, out, out, out], ['provider.unregistered']],
    ['the recovery of one', [good, out, good], ['provider.unregistered', 'provider.recovered']],
    [
      'the recovery of each when it is back',
      [good, neither, burned, good],
      [
        'provider.unregistered',
        'provider.eligibility-lost',
        'provider.recovered',
        'provider.recovered',
      ],
    ],
    [
      'one recovery of both that come back at once',
      [good, neither, good],
      ['provider.unregistered', 'provider.eligibility-lost', 'provider.recovered'],
    ],
    [
      'what is back beside what is lost at the same time',
      [good, out, burned],
      ['provider.unregistered', 'provider.recovered', 'provider.eligibility-lost'],
    ],
    ['no recovery without a loss', [out, good, good], []],
    [
      'a second loss',
      [good, out, good, out],
      ['provider.unregistered', 'provider.recovered', 'provider.unregistered'],
    ],
    [
      'a recovery although eligibility is not known',
      [unknown, { registered: false, eligible: null }, unknown],
      ['provider.unregistered', 'provider.recovered'],
    ],
  ] as const)('reports %s', (_name, seen, expected) => {
    expect(events(...seen)).toEqual(expected)
  })

  test('uses the first published calculation as the baseline of eligibility', () => {
    expect(events(unknown, burned, burned)).toEqual([])
    expect(events(unknown, good, burned)).toEqual(['provider.eligibility-lost'])
  })

  test('is critical for a loss and info for its recovery', () => {
    const { candidates } = fold([good, out, good])
    expect(candidates.map(({ severity }) => severity)).toEqual(['critical', 'info'])
    expect(candidates[1]?.data).toMatchObject({ recovered: ['registered'], registered: true })
  })

  test('a recovery names the recovered status, and ends only its episode', () => {
    const { candidates } = fold([good, neither, burned])
    const [unregistered, ineligible, recovery] = candidates
    const isOver = providerEligibility.signals[0]?.episodes?.isOver
    if (!unregistered || !ineligible || !recovery) throw new Error('too few alerts')
    expect(recovery.data).toMatchObject({ recovered: ['registered'] })
    expect(
      [unregistered, ineligible].map((observation) => isOver?.(recovery.data, observation)),
    ).toEqual([true, false])
  })

  test('recovers only after an alert', () => {
    fc.assert(
      fc.property(fc.array(anySeen), fc.nat({ max: 300 }), (seen, cooldownSeconds) => {
        const lost = new Set<string>()
        for (const { event, data } of fold(seen, { cooldownSeconds }).candidates) {
          if (event !== 'provider.recovered') lost.add(String(data['lost']))
          else
            for (const part of data['recovered'] as string[]) expect(lost.delete(part)).toBe(true)
        }
      }),
    )
  })

  test('gives equal results with a restart at any point or a repeated observation', () => {
    fc.assert(
      fc.property(fc.array(anySeen, { maxLength: 20 }), fc.nat({ max: 20 }), (seen, cut) => {
        const key = ({ event, position }: { event: string; position: number }) => ({
          event,
          position,
        })
        const whole = fold(seen).candidates.map(key)
        const first = fold(seen.slice(0, cut))
        const second = fold(seen.slice(cut), { states: first.states }, Math.min(cut, seen.length))
        expect([...first.candidates, ...second.candidates].map(key)).toEqual(whole)
        const twice = seen.flatMap((observation, index) =>
          index === cut ? [observation, observation] : [observation],
        )
        expect(fold(twice).candidates.map(({ event }) => event)).toEqual(
          fold(seen).candidates.map(({ event }) => event),
        )
      }),
    )
  })

  test('creates no alert and no recovery while eligibility is unknown', () => {
    fc.assert(
      fc.property(fc.array(anySeen), fc.func(fc.boolean()), (seen, isHidden) => {
        const hidden = seen.map((observation, index) =>
          isHidden(index) ? { ...observation, eligible: null } : observation,
        )
        const count = (looks: readonly Seen[]) =>
          events(...looks).filter((event) => event === 'provider.eligibility-lost').length
        expect(count(hidden)).toBeLessThanOrEqual(count(seen))
      }),
    )
  })

  test('sends a recovery once and immediately, also while the cooldown defers a loss', () => {
    const { candidates } = fold([good, out, burned, burned, burned], { cooldownSeconds: 120 })
    expect(candidates.map(({ event, position }) => [event, position])).toEqual([
      ['provider.unregistered', 2],
      ['provider.recovered', 3],
      ['provider.eligibility-lost', 4],
    ])
  })

  test('fires after the cooldown if the condition persists until then', () => {
    const { candidates } = fold([good, out, good, out, out, out, out], { cooldownSeconds: 240 })
    expect(candidates.map(({ event, position }) => [event, position])).toEqual([
      ['provider.unregistered', 2],
      ['provider.recovered', 3],
      ['provider.unregistered', 6],
    ])
  })
})
