/** The signal about a balance that is used up soon. */
import { z } from 'zod'
import { assetSymbol } from '#src/kernel/chains.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { Address, AssetDecimals, Instant, type JsonObject, Units } from '#src/kernel/units.ts'
import { defineSignal, type Evaluation, type WatchView } from '../signal.ts'
import { unobservedAsset } from './balance-example.ts'
import type { BalanceObservation } from './balance-observation.ts'
import type { BalanceSettings, BalanceTarget } from './balance-settings.ts'
import { daysLeftSeverity, Spending, shownSeconds, spendingAfter, timeLeft } from './burn.ts'
import { ALL_ASSETS, WalletAsset } from './own-coin.ts'

const State = z.object({ spending: Spending.nullable(), isLow: z.boolean() })
type State = z.output<typeof State>

/** `data` of both events. Amounts are in the smallest unit; what was spent is given per day. */
const DaysLeftData = z.object({
  address: Address,
  asset: WalletAsset,
  symbol: z.string(),
  decimals: AssetDecimals,
  currentAmount: Units,
  /** Per day, at the rate of the last 24 hours and of the last seven days. */
  spentDay: Units,
  spentWeek: Units,
  /** At the faster of both rates, in whole hours, below one in minutes; null if nothing is spent. */
  secondsLeft: z.number().nullable(),
  days: z.int(),
  blockNumber: z.int(),
  blockTime: Instant,
})

/**
 * Fires while the balance lasts fewer days than the watch asks for, at the faster of the rates of the last 24 hours and
 * seven days; recovers when it lasts 1.2 times as long. Says nothing in the first 24 hours.
 */
function evaluateDaysLeft(
  previous: State,
  observation: BalanceObservation,
  { target, settings }: Pick<WatchView<BalanceTarget, BalanceSettings>, 'target' | 'settings'>,
): Evaluation<State> {
  const { at, balanceUnits, symbol, decimals, position } = observation
  const spending = spendingAfter(previous.spending ?? undefined, at, balanceUnits)
  const left = timeLeft(spending)
  if (left === undefined || settings.daysLeft == null) {
    return { state: { spending, isLow: false }, phase: 'unknown', firings: [] }
  }
  const { secondsLeft, dayUnits, weekUnits } = left
  const severity = daysLeftSeverity(secondsLeft, settings.daysLeft, previous.isLow)
  const data = z.encode(DaysLeftData, {
    ...{ address: target.address, asset: assetOf(target), symbol, decimals },
    currentAmount: balanceUnits,
    ...{ spentDay: dayUnits, spentWeek: weekUnits, days: settings.daysLeft },
    secondsLeft: Number.isFinite(secondsLeft) ? shownSeconds(secondsLeft) : null,
    blockNumber: position,
    blockTime: at,
  })
  const state = { spending, isLow: severity !== undefined }
  if (severity !== undefined) {
    const firing = { event: 'wallet-balance.days-left', severity, data }
    return { state, phase: 'firing', firings: [firing] }
  }
  const firing = { event: 'wallet-balance.days-left.recovered', severity: 'info', data } as const
  return { state, phase: 'ok', firings: [firing] }
}

/** The watched asset. @throws Error for all assets, whose days left no watch may ask for */
function assetOf({ asset }: BalanceTarget): z.output<typeof WalletAsset> {
  if (asset === ALL_ASSETS) throw new Error('the days left of all assets are not watched')
  return asset
}

function present(_event: string, data: JsonObject): Presentation {
  const seen = DaysLeftData.parse(data)
  const symbol = assetSymbol(seen.asset, seen.symbol)
  const amount = { decimals: seen.decimals, symbol } as const
  return {
    facts: {
      balance: { kind: 'amount', units: seen.currentAmount, ...amount },
      spentDay: { kind: 'estimate', units: seen.spentDay, ...amount },
      spentWeek: { kind: 'estimate', units: seen.spentWeek, ...amount },
      ...(seen.secondsLeft !== null && {
        left: { kind: 'duration', seconds: seen.secondsLeft },
      }),
      wanted: { kind: 'duration', seconds: seen.days * DAY_SECONDS },
      address: { kind: 'address', address: seen.address },
    },
    fields: ['balance', 'spentDay', 'spentWeek', 'address'],
  }
}

const EXAMPLE = {
  address: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
  asset: 'FLR',
  symbol: 'FLR',
  decimals: 18,
  currentAmount: '84000000000000000000',
  spentDay: '21000000000000000000',
  spentWeek: '20400000000000000000',
  secondsLeft: 4 * DAY_SECONDS,
  days: 7,
  blockNumber: 41880123,
  blockTime: '2026-11-20T21:04:31.000Z',
}

export const balanceDaysLeft = defineSignal<
  BalanceTarget,
  BalanceSettings,
  BalanceObservation,
  State
>({
  id: 'days-left',
  group: 'alerts',
  events: { alerts: ['wallet-balance.days-left'], recovery: 'wallet-balance.days-left.recovered' },
  canBeCritical: true,
  setting: 'daysLeft',
  state: State,
  data: DaysLeftData.meta({ id: 'DaysLeftData' }),
  initial: { spending: null, isLow: false },
  evaluate: evaluateDaysLeft,
  present,
  examples: {
    'wallet-balance.days-left': EXAMPLE,
    'wallet-balance.days-left.recovered': {
      ...{ ...EXAMPLE, currentAmount: '840000000000000000000', secondsLeft: 40 * DAY_SECONDS },
    },
  },
  ownExample: ({ target, settings, observation, at }) => {
    const { symbol, decimals } = observation ?? unobservedAsset(target)
    const unit = 10n ** BigInt(decimals)
    const days = settings.daysLeft ?? 1
    const daysLeft = Math.max(1, days - 2)
    return z.encode(DaysLeftData, {
      ...{ address: target.address, asset: assetOf(target), symbol, decimals, days },
      ...{ spentDay: unit, spentWeek: unit, currentAmount: unit * BigInt(daysLeft) },
      secondsLeft: daysLeft * DAY_SECONDS,
      ...{ blockNumber: observation?.position ?? 0, blockTime: at },
    })
  },
})
