import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { evaluateWatch } from '../evaluate/evaluate.ts'
import type { EvaluatedWatch, StoredState } from '../model.ts'
import { evaluatePriceMove, feedMove } from './feed-move.ts'

const START = new Date('2026-11-20T12:00:00Z').getTime()
const at = (seconds: number) => new Date(START + seconds * 1000)

interface Seen {
  readonly seconds: number
  readonly value: bigint
  readonly decimals?: number
}

/** Observations: the oldest price inside the window, of those so far. */
function observations(seen: readonly Seen[], windowSeconds: number) {
  return seen.map(({ seconds, value, decimals = 5 }, index) => {
    const inside = seen
      .slice(0, index + 1)
      .find((point) => point.seconds >= seconds - windowSeconds)
    const oldest = inside ?? { seconds, value, decimals }
    return {
      position: index + 1,
      at: at(seconds),
      feed: 'FLR/USD',
      feedId: '0x01464c522f55534400000000000000000000000000',
      price: { value, decimals },
      updatedAt: at(seconds),
      oldest: { value: oldest.value, decimals: oldest.decimals ?? 5, at: at(oldest.seconds) },
    }
  })
}

interface Choice {
  readonly percent?: number
  readonly windowSeconds?: number
  readonly direction?: 'any' | 'up' | 'down'
}

function settingsOf({ percent = 5, windowSeconds = 3600, direction = 'any' }: Choice) {
  return { percent, windowSeconds, direction }
}

/** Folds observations through the signal alone. */
function fold(seen: readonly Seen[], choice: Choice = {}) {
  const settings = settingsOf(choice)
  let state: Parameters<typeof evaluatePriceMove>[0] = { baseline: null, firedAt: null }
  return observations(seen, settings.windowSeconds).flatMap((observation) => {
    const outcome = evaluatePriceMove(state, observation, { settings })
    state = outcome.state
    return outcome.firings.map(({ severity, data }) => ({
      seconds: observation.at,
      severity,
      data,
    }))
  })
}

const prices = (...values: readonly number[]): Seen[] =>
  values.map((value, index) => ({ seconds: index * 30, value: BigInt(value) }))

describe('price-move (evaluation rule 2)', () => {
  test('never fires on its first observation', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 100n }), (value) => {
        expect(fold([{ seconds: 0, value }])).toEqual([])
      }),
    )
  })

  test.each([
    ['below the percentage', [100_000, 104_999], {}, []],
    ['at the percentage', [100_000, 105_000], {}, ['warning']],
    ['at the percentage, downwards', [100_000, 95_000], {}, ['warning']],
    ['just below twice the percentage', [100_000, 109_999], {}, ['warning']],
    ['at twice the percentage', [100_000, 110_000], {}, ['critical']],
    ['up, wanted up', [100_000, 106_000], { direction: 'up' }, ['warning']],
    ['down, wanted up', [100_000, 94_000], { direction: 'up' }, []],
    ['up, wanted down', [100_000, 106_000], { direction: 'down' }, []],
    ['down, wanted down', [100_000, 94_000], { direction: 'down' }, ['warning']],
  ] as const)('gives the right severities for a move %s', (_name, values, choice, severities) => {
    expect(fold(prices(...values), choice).map(({ severity }) => severity)).toEqual(severities)
  })

  test('compares with the oldest price inside the window, not with the last one', () => {
    const [firing] = fold(prices(100_000, 102_000, 104_000, 105_000))
    expect(firing?.data).toMatchObject({ fromPrice: '1', toPrice: '1.05', movePercent: 5 })
    const gone = fold([...prices(100_000, 104_000), { seconds: 3631, value: 106_000n }])
    expect(gone).toEqual([])
  })

  test('fires at most once per window', () => {
    const seen = Array.from({ length: 240 }, (_, index) => ({
      seconds: index * 30,
      value: BigInt(100_000 + index * 1000),
    }))
    expect(fold(seen, { windowSeconds: 1800 }).map(({ seconds }) => seconds)).toEqual([
      at(150),
      at(1950),
      at(3750),
      at(5550),
    ])
  })

  test('stays at one alert when the move passes twice the percentage inside the window, and is critical after it', () => {
    const seen = Array.from({ length: 244 }, (_, index) => ({
      seconds: index * 30,
      value: index === 0 ? 100_000n : index === 1 ? 106_000n : 159_000n,
    }))
    const notified = fold(seen).map(({ seconds, severity, data }) => [
      seconds,
      severity,
      data.movePercent,
    ])
    expect(notified).toEqual([
      [at(30), 'warning', 6],
      [at(3630), 'critical', 50],
    ])
  })

  test('starts from zero after a gap longer than the window', () => {
    const after = [
      { seconds: 0, value: 100_000n },
      { seconds: 4000, value: 200_000n },
      { seconds: 4030, value: 201_000n },
    ]
    expect(fold(after)).toEqual([])
    expect(fold([...after, { seconds: 4060, value: 210_000n }])).toHaveLength(1)
  })

  test('compares across a gap inside the window', () => {
    expect(
      fold([
        { seconds: 0, value: 100_000n },
        { seconds: 3600, value: 105_000n },
      ]),
    ).toHaveLength(1)
  })

  test('compares prices with different or negative decimals', () => {
    expect(
      fold([
        { seconds: 0, value: 100n, decimals: 2 },
        { seconds: 30, value: 100_000n, decimals: 5 },
        { seconds: 60, value: 10n, decimals: 1 },
      ]),
    ).toEqual([])
    const [firing] = fold([
      { seconds: 0, value: 5n, decimals: -2 },
      { seconds: 30, value: 525n, decimals: 0 },
    ])
    expect(firing?.data).toMatchObject({ fromPrice: '500', toPrice: '525', movePercent: 5 })
  })

  test('compares exactly also for large prices', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2n ** 120n }),
        fc.bigInt({ min: 1n, max: 2n ** 120n }),
        fc.integer({ min: 1, max: 100_000 }),
        (before, after, hundredths) => {
          const seen = [
            { seconds: 0, value: before },
            { seconds: 30, value: after },
          ]
          const change = after > before ? after - before : before - after
          const isFar = change * 10_000n >= before * BigInt(hundredths) && change > 0n
          expect(fold(seen, { percent: hundredths / 100 }).length).toBe(isFar ? 1 : 0)
        },
      ),
    )
  })

  test('fires at most as often when observations are missing', () => {
    fc.assert(
      fc.property(walk, fc.func(fc.boolean()), (seen, isKept) => {
        const settings = settingsOf({ windowSeconds: 300 })
        const all = observations(seen, settings.windowSeconds)
        const count = (looks: typeof all) => {
          let state: Parameters<typeof evaluatePriceMove>[0] = { baseline: null, firedAt: null }
          return looks.flatMap((look) => {
            const outcome = evaluatePriceMove(state, look, { settings })
            state = outcome.state
            return outcome.firings
          }).length
        }
        const kept = all.filter((_look, index) => index === 0 || isKept(index))
        expect(count(kept)).toBeLessThanOrEqual(count(all))
      }),
    )
  })
})

/** A random walk of prices, observed at uneven intervals. */
const walk = fc
  .array(
    fc.record({
      step: fc.constantFrom(30, 30, 30, 60, 120, 400),
      percent: fc.integer({ min: -7, max: 8 }),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((steps) => {
    let seconds = 0
    let value = 1_000_000_000n
    return steps.map(({ step, percent }): Seen => {
      seconds += step
      value = (value * BigInt(100 + percent)) / 100n + 1n
      return { seconds, value }
    })
  })

const choices = fc.record({
  percent: fc.constantFrom(1, 3, 5, 10),
  direction: fc.constantFrom('any' as const, 'up' as const, 'down' as const),
})

describe('watches on one feed', () => {
  const watchOf = (settings: unknown, states: readonly StoredState[]): EvaluatedWatch => ({
    id: 1,
    wallet: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
    label: 'Test',
    settings,
    signals: [],
    recipientIds: null,
    minSeverity: 'info',
    cooldownSeconds: 0,
    mutedUntil: null,
    states,
  })

  test('are skipped only when none of them would have fired', () => {
    const { prefilter } = feedMove
    if (prefilter === undefined) throw new Error('there is no prefilter')
    fc.assert(
      fc.property(
        walk,
        fc.array(fc.record({ choice: choices, joins: fc.nat({ max: 40 }) }), { minLength: 1 }),
        (seen, watches) => {
          const looks = observations(seen, 300)
          const judged = (isGuarded: boolean) => {
            let states = watches.map((): readonly StoredState[] => [])
            let summary: unknown
            return looks.flatMap((look, index) => {
              const isStale = watches.some(({ joins }) => joins === index) || index === 0
              const isQuiet =
                summary !== undefined &&
                prefilter.isQuiet(z.decode(prefilter.schema, summary as never), look)
              if (isGuarded && isQuiet && !isStale) return []
              let next = prefilter.empty
              const fired = watches.flatMap(({ choice, joins }, place) => {
                if (joins > index) return []
                const settings = settingsOf({ ...choice, windowSeconds: 300 })
                const watch = watchOf(settings, states[place] ?? [])
                const outcome = evaluateWatch(feedMove, { feed: 'FLR/USD' }, watch, look)
                states = states.with(place, outcome.states)
                const byId = new Map(outcome.states.map(({ signal, state }) => [signal, state]))
                next = prefilter.add(next, { settings, states: byId }, look)
                return outcome.candidates.map(({ data }) => ({ place, index, data }))
              })
              summary = z.encode(prefilter.schema, next)
              return fired
            })
          }
          expect(judged(true)).toEqual(judged(false))
        },
      ),
    )
  })

  test('give equal results with a restart at any point or a repeated observation', () => {
    fc.assert(
      fc.property(walk, fc.nat({ max: 60 }), (seen, twice) => {
        const settings = settingsOf({ windowSeconds: 300 })
        const looks = observations(seen, 300)
        const run = (all: typeof looks) => {
          let states: readonly StoredState[] = []
          return all.flatMap((look) => {
            // Stored states are read back as JSON.
            const watch = watchOf(
              settings,
              states.map((state) => ({ ...state, state: stored(state) })),
            )
            const outcome = evaluateWatch(feedMove, { feed: 'FLR/USD' }, watch, look)
            states = outcome.states
            return outcome.candidates.map(({ position, data }) => ({ position, data }))
          })
        }
        const again = looks.flatMap((look, index) => (index === twice ? [look, look] : [look]))
        expect(run(again)).toEqual(run(looks))
        expect(run(looks).map(({ position }) => position)).toEqual(
          fold(seen, { windowSeconds: 300 }).map(
            ({ seconds }) =>
              looks.find((look) => look.at.getTime() === seconds.getTime())?.position,
          ),
        )
      }),
    )
  })

  const stored = ({ state }: StoredState): unknown => JSON.parse(JSON.stringify(state))

  test('fire after the cooldown if the condition persists until then', () => {
    const seen = Array.from({ length: 60 }, (_, index) => ({
      seconds: index * 30,
      value: index === 0 ? 100_000n : 120_000n,
    }))
    let states: readonly StoredState[] = []
    const settings = settingsOf({ windowSeconds: 3600 })
    const notified = observations(seen, 3600).flatMap((look, index) => {
      const before =
        index === 1 ? states.map((state) => ({ ...state, lastFiredAt: at(0) })) : states
      const watch = { ...watchOf(settings, before), cooldownSeconds: 600 }
      const outcome = evaluateWatch(feedMove, { feed: 'FLR/USD' }, watch, look)
      states = outcome.states
      return outcome.candidates.map(({ firedAt }) => firedAt)
    })
    expect(notified).toEqual([at(600)])
  })
})

describe('a watch of a feed', () => {
  test.each([
    [{ percent: 0.009, windowSeconds: 60 }],
    [{ percent: 1000.01, windowSeconds: 60 }],
    [{ percent: 5, windowSeconds: 59 }],
    [{ percent: 5, windowSeconds: 604_801 }],
    [{ percent: 5, windowSeconds: 60.5 }],
    [{ percent: 5.001, windowSeconds: 60 }],
    [{ percent: 5 }],
  ])('refuses %j', (settings) => {
    expect(feedMove.settings.safeParse(settings).success).toBe(false)
  })

  test.each([
    [{ percent: 0.01, windowSeconds: 60 }],
    [{ percent: 1000, windowSeconds: 604_800 }],
    [{ percent: 0.07, windowSeconds: 3600, direction: 'down' }],
  ])('accepts %j', (settings) => {
    expect(feedMove.settings.safeParse(settings).success).toBe(true)
  })
})
