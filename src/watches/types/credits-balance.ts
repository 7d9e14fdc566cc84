import { z } from 'zod'
import { USD_PER_1000_CREDITS_MICROS } from '#src/billing/price-list.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Credits, Instant, type JsonObject } from '#src/kernel/units.ts'
import { type CreditsObservation, defineLedgerWatchType, type EmptyTarget } from '../define.ts'
import { defineSignal, type Evaluation, type WatchView } from '../signal.ts'

const LIMIT_CREDITS_MAX = 1_000_000_000

const Settings = z.strictObject({ limit: Credits.min(1).max(LIMIT_CREDITS_MAX) })
type Settings = z.output<typeof Settings>

/** The signal keeps no state: it judges by the newest balance alone. */
const State = z.object({})
type State = z.output<typeof State>

/** `data` of the alert and of its recovery. */
const Threshold = z.object({
  balanceCredits: Credits,
  limitCredits: Credits,
  nextRenewal: z.object({ at: Instant, credits: Credits }).nullable(),
})

/**
 * Fires when the credits are below the limit; recovers at or above the limit. Judges the first balance,
 * too.
 */
export function evaluateCreditsBalance(
  _previous: State,
  { balanceCredits, nextRenewal }: CreditsObservation,
  { settings: { limit } }: Pick<WatchView<EmptyTarget, Settings>, 'settings'>,
): Evaluation<State> {
  const data = z.encode(Threshold, { balanceCredits, limitCredits: limit, nextRenewal })
  if (balanceCredits < limit) {
    const firing = { event: 'credits.low-balance', severity: 'warning', data } as const
    return { state: {}, phase: 'firing', firings: [firing] }
  }
  const firing = { event: 'credits.recovered', severity: 'info', data } as const
  return { state: {}, phase: 'ok', firings: [firing] }
}

function presentThreshold(_event: string, data: JsonObject): Presentation {
  const { balanceCredits, limitCredits, nextRenewal } = Threshold.parse(data)
  return {
    facts: {
      balance: credits(balanceCredits),
      limit: credits(limitCredits),
      ...(nextRenewal !== null && {
        renewal: { kind: 'instant', at: nextRenewal.at },
        renewalPrice: credits(nextRenewal.credits),
      }),
    },
    fields: ['balance', 'limit', ...(nextRenewal === null ? [] : ['renewal', 'renewalPrice'])],
    count: balanceCredits,
  }
}

function credits(count: number) {
  const usdMicros = Math.round((count * USD_PER_1000_CREDITS_MICROS) / 1000)
  return { kind: 'counted', unit: 'credits', count, usdMicros } as const
}

const nextRenewalExample = { at: '2026-12-20T12:00:00.000Z', credits: 1500 }

const creditsThresholdSignal = defineSignal<EmptyTarget, Settings, CreditsObservation, State>({
  id: 'credits-threshold',
  group: 'alerts',
  events: { alerts: ['credits.low-balance'], recovery: 'credits.recovered' },
  state: State,
  data: Threshold.meta({ id: 'CreditsThresholdData' }),
  initial: {},
  evaluate: evaluateCreditsBalance,
  present: presentThreshold,
  examples: {
    'credits.low-balance': {
      balanceCredits: 420,
      limitCredits: 500,
      nextRenewal: nextRenewalExample,
    },
    'credits.recovered': {
      balanceCredits: 10_420,
      limitCredits: 500,
      nextRenewal: nextRenewalExample,
    },
  },
  ownExample: ({ settings: { limit }, observation }) =>
    z.encode(Threshold, {
      balanceCredits: Math.min(observation?.balanceCredits ?? limit, limit - 1),
      limitCredits: limit,
      nextRenewal: observation?.nextRenewal ?? null,
    }),
})

/** Watch type of the owner's credits. */
export const creditsBalance = defineLedgerWatchType({
  name: 'credits-balance',
  settings: Settings,
  defaultLabel: () => 'Credits',
  form: {
    icon: '💳',
    target: [],
    settings: [
      {
        key: 'limit',
        code: 'lim',
        kind: 'integer',
        unit: 'credits',
        min: '1',
        max: String(LIMIT_CREDITS_MAX),
        decimals: 0,
        presets: ['100', '500', '1000', '5000'],
        suggested: '500',
        as: 'number',
      },
    ],
    facts: ({ settings, observation }) => ({
      ...(settings && { limit: credits(settings.limit) }),
      ...(observation && { balance: credits(observation.balanceCredits) }),
    }),
  },
  history: {
    keeps: 'changes',
    async *read({ ledger }, { from, to }) {
      for await (const entries of ledger(from, to)) {
        // Prices of past renewals are not stored.
        yield {
          observations: entries.map((entry) => ({ ...entry, position: 0, nextRenewal: null })),
        }
      }
    },
  },
  signals: [creditsThresholdSignal],
})
