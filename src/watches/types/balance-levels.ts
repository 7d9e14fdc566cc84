/** The signals about a balance below its floor or above its ceiling. */
import { parseUnits } from 'viem/utils'
import { z } from 'zod'
import { assetSymbol } from '#src/kernel/chains.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Address, AssetDecimals, Instant, type JsonObject, Units } from '#src/kernel/units.ts'
import { defineSignal, type ExampleWatch, type WatchView } from '../signal.ts'
import { usdCents } from '../usd-value.ts'
import { unobservedAsset } from './balance-example.ts'
import { centsText } from './balance-moves.ts'
import type { BalanceObservation } from './balance-observation.ts'
import type { BalanceSettings, BalanceTarget } from './balance-settings.ts'
import { isBeyondLevel, type LevelSide, LevelState, levelEvaluation } from './level.ts'
import { WatchedAsset } from './own-coin.ts'

/** A balance counts as back when it is 5 % beyond its level. */
const MARGIN_PERCENT = 5n

/**
 * `data` of the alerts and recoveries about a level. The balance is in the asset's smallest unit, of all assets in US
 * cents; `level` is in whole units. `usd` is the value of the balance, null without a price.
 */
const BalanceLevelData = z
  .object({
    address: Address,
    asset: WatchedAsset,
    symbol: z.string(),
    decimals: AssetDecimals,
    currentAmount: Units,
    level: z.string(),
    usd: z
      .string()
      .regex(/^\d+\.\d{2}$/)
      .nullable(),
    blockNumber: z.int(),
    blockTime: Instant,
  })
  .meta({ id: 'BalanceLevelData' })

const EVENTS = { below: 'wallet-balance.floor', above: 'wallet-balance.ceiling' } as const
const SETTINGS = { below: 'floor', above: 'ceiling' } as const

type BalanceWatch = Pick<WatchView<BalanceTarget, BalanceSettings>, 'target' | 'settings'>

function dataOf(
  { balanceUnits, symbol, decimals, movement, position, at }: BalanceObservation,
  { target: { address, asset } }: BalanceWatch,
  level: string,
): JsonObject {
  const price = movement?.usdPrice
  return z.encode(BalanceLevelData, {
    ...{ address, asset, symbol, decimals, level },
    currentAmount: balanceUnits,
    usd: price == null ? null : centsText(usdCents(balanceUnits, decimals, price)),
    blockNumber: position,
    blockTime: at,
  })
}

/** Judges a balance by its floor or ceiling; the first balance, too. */
export function evaluateBalanceLevel(
  side: LevelSide,
  previous: LevelState,
  observation: BalanceObservation,
  watch: BalanceWatch,
) {
  const level = watch.settings[SETTINGS[side]]
  if (level == null) return { state: previous, phase: 'unknown', firings: [] } as const
  const { balanceUnits: value, decimals } = observation
  const limit = { value, level: parseUnits(level, decimals), marginPercent: MARGIN_PERCENT }
  const isBeyond = isBeyondLevel(previous, side, limit)
  return levelEvaluation(isBeyond, EVENTS[side], dataOf(observation, watch, level))
}

function present(_event: string, data: JsonObject): Presentation {
  const seen = BalanceLevelData.parse(data)
  const symbol = assetSymbol(seen.asset, seen.symbol)
  return {
    facts: {
      balance: { kind: 'amount', units: seen.currentAmount, decimals: seen.decimals, symbol },
      level: { kind: 'decimal', value: seen.level, symbol },
      address: { kind: 'address', address: seen.address },
      ...(seen.usd !== null && {
        usd: { kind: 'amount', units: parseUnits(seen.usd, 2), decimals: 2, symbol: 'USD' },
      }),
      block: { kind: 'block', number: seen.blockNumber },
    },
    fields: ['balance', ...(seen.usd === null ? [] : ['usd']), 'level', 'address'],
  }
}

const EXAMPLE = {
  address: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
  asset: 'FLR',
  symbol: 'FLR',
  decimals: 18,
  usd: null,
  blockNumber: 41880123,
  blockTime: '2026-11-20T21:04:31.000Z',
} as const

/** Data of an example: a balance one percent beyond the level. */
function ownExample(
  side: LevelSide,
  watch: ExampleWatch<BalanceTarget, BalanceSettings, BalanceObservation>,
): JsonObject {
  const { target, settings, observation, at } = watch
  const level = settings[SETTINGS[side]] ?? '1'
  const { symbol, decimals } = observation ?? unobservedAsset(target)
  const balanceUnits = (parseUnits(level, decimals) * (side === 'below' ? 99n : 101n)) / 100n
  const seen = { position: 0, ...observation, at, symbol, decimals, balanceUnits, movement: null }
  return dataOf(seen, watch, level)
}

function levelSignal(side: LevelSide, examples: Readonly<Record<string, JsonObject>>) {
  const event = EVENTS[side]
  return defineSignal<BalanceTarget, BalanceSettings, BalanceObservation, LevelState>({
    id: side === 'below' ? 'balance-floor' : 'balance-ceiling',
    group: 'alerts',
    events: { alerts: [event], recovery: `${event}.recovered` },
    setting: SETTINGS[side],
    state: LevelState,
    data: BalanceLevelData,
    initial: { isBeyond: false },
    evaluate: (previous, observation, watch) =>
      evaluateBalanceLevel(side, previous, observation, watch),
    present,
    examples,
    ownExample: (watch) => ownExample(side, watch),
  })
}

export const balanceFloor = levelSignal('below', {
  'wallet-balance.floor': { ...EXAMPLE, currentAmount: '82500000000000000000', level: '100' },
  'wallet-balance.floor.recovered': {
    ...{ ...EXAMPLE, currentAmount: '1500000000000000000000', level: '100' },
  },
})

export const balanceCeiling = levelSignal('above', {
  'wallet-balance.ceiling': {
    ...{ ...EXAMPLE, currentAmount: '52400000000000000000000', level: '50000' },
  },
  'wallet-balance.ceiling.recovered': {
    ...{ ...EXAMPLE, currentAmount: '12000000000000000000000', level: '50000' },
  },
})
