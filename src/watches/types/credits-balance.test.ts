import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { evaluateWatch } from '../evaluate/evaluate.ts'
import type { EvaluatedWatch, StoredState } from '../model.ts'
import { creditsBalance, evaluateCreditsBalance } from './credits-balance.ts'

const nextRenewal = null

function balance(balanceCredits: number, position = 1) {
  // Apart enough that no number of changes imposes a cooldown.
  const at = new Date(position * HOUR_MS)
  return { position, at, entry: position, balanceCredits, nextRenewal }
}

const judge = (balanceCredits: number, limit: number) =>
  evaluateCreditsBalance({}, balance(balanceCredits), { settings: { limit } })

const watch: EvaluatedWatch = {
  id: 1,
  wallet: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
  label: 'Credits',
  settings: { limit: 500 },
  signals: [],
  recipientIds: null,
  minSeverity: 'info',
  cooldownSeconds: 0,
  mutedUntil: null,
  states: [],
}

/** Folds balances one after another; returns the events and the states. */
function fold(balances: readonly number[], states: readonly StoredState[] = [], start = 0) {
  let folded = states
  const candidates = balances.flatMap((credits, index) => {
    const observation = balance(credits, start + index + 1)
    const outcome = evaluateWatch(creditsBalance, {}, { ...watch, states: folded }, observation)
    folded = outcome.states
    return outcome.candidates.map(({ event }) => event)
  })
  return { candidates, states: folded }
}

const LOW = 'credits.low-balance'
const AGAIN = 'credits.recovered'

describe('credits-threshold', () => {
  test.each([
    [0, 1, 'firing'],
    [499, 500, 'firing'],
    [500, 500, 'ok'],
    [501, 500, 'ok'],
  ])('with %i credits and a limit of %i is %s', (credits, limit, phase) => {
    expect(judge(credits, limit).phase).toBe(phase)
  })

  test('has the balance, the limit, and the next renewal if there is one', () => {
    const at = new Date('2026-12-20T12:00:00.000Z')
    const observation = { ...balance(420), nextRenewal: { at, credits: 1500 } }
    const { firings } = evaluateCreditsBalance({}, observation, { settings: { limit: 500 } })
    expect(firings).toEqual([
      {
        event: LOW,
        severity: 'warning',
        data: {
          balanceCredits: 420,
          limitCredits: 500,
          nextRenewal: { at: '2026-12-20T12:00:00.000Z', credits: 1500 },
        },
      },
    ])
    expect(judge(420, 500).firings).toMatchObject([{ data: { nextRenewal: null } }])
  })

  test('alerts once below the limit, also on the first observation, and recovers at the limit', () => {
    expect(fold([420, 100, 0]).candidates).toEqual([LOW])
    expect(fold([1000, 500, 499, 400, 500, 600]).candidates).toEqual([LOW, AGAIN])
    expect(fold([1000, 500]).candidates).toEqual([])
  })

  test('alerts exactly as often as the balance falls below the limit', () => {
    const credits = fc.array(fc.integer({ min: 0, max: 1000 }))
    fc.assert(
      fc.property(credits, (balances) => {
        const expected = balances.flatMap((now, index) => {
          const before = balances[index - 1] ?? 500
          if (now < 500 && before >= 500) return [LOW]
          return now >= 500 && before < 500 ? [AGAIN] : []
        })
        expect(fold(balances).candidates).toEqual(expected)
      }),
    )
  })

  test('gives equal results with a restart at any point, with stored states', () => {
    const credits = fc.array(fc.integer({ min: 0, max: 1000 }))
    fc.assert(
      fc.property(credits, fc.nat({ max: 20 }), (balances, cut) => {
        const first = fold(balances.slice(0, cut))
        const stored = first.states.map((state) => ({
          ...state,
          state: JSON.parse(JSON.stringify(state.state)),
        }))
        const second = fold(balances.slice(cut), stored, cut)
        expect([...first.candidates, ...second.candidates]).toEqual(fold(balances).candidates)
      }),
    )
  })

  test('presents every fact of its examples, with and without a renewal', () => {
    const [signal] = creditsBalance.signals
    for (const [event, example] of Object.entries(signal?.examples ?? {})) {
      const shown = signal?.present(event, example)
      expect(shown?.fields).toEqual(['balance', 'limit', 'renewal', 'renewalPrice'])
      expect(shown?.fields.every((name) => name in (shown?.facts ?? {}))).toBe(true)
      const without = signal?.present(event, { ...example, nextRenewal: null })
      expect(without?.fields).toEqual(['balance', 'limit'])
    }
  })
})

describe('the settings and the target of credits-balance', () => {
  test.each([0, -1, 1.5, 1_000_000_001, '500', null])('refuse the limit %j', (limit) => {
    expect(creditsBalance.settings.safeParse({ limit }).success).toBe(false)
  })

  test.each([1, 500, 1_000_000_000])('take the limit %i', (limit) => {
    expect(creditsBalance.settings.safeParse({ limit }).success).toBe(true)
  })

  test('contain no wallet, because it is the owner’s', () => {
    expect(z.decode(creditsBalance.target, {})).toEqual({})
    expect(creditsBalance.target.safeParse({ wallet: watch.wallet }).success).toBe(false)
  })
})
