import { parseUnits } from 'viem/utils'
import { z } from 'zod'
import { shortAddress } from '#src/i18n/format.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Address, Instant, type JsonObject, Units } from '#src/kernel/units.ts'
import { defineSignal, defineWatchType, type Evaluation, type WatchView } from '../define.ts'

const THRESHOLD_MIN = '0.000001'
const THRESHOLD_MAX = '1000000000000000'

/** Whole units of the asset, more than zero: 0.000001 to 10^15. */
const Threshold = z
  .string()
  .regex(/^(0|[1-9]\d{0,15})(\.\d{1,18})?$/, { abort: true })
  .refine((text) => isThreshold(text), { params: { code: 'too_small', minimum: THRESHOLD_MIN } })
  .meta({ examples: ['250', '1250.5'] })

const Target = z.strictObject({
  address: Address,
  asset: z.union([z.literal('FLR'), Address]),
})
type Target = z.output<typeof Target>

const Settings = z.strictObject({
  threshold: Threshold,
  direction: z.enum(['any', 'up', 'down']).default('any'),
})
type Settings = z.output<typeof Settings>

const Observation = z.object({
  position: z.int(),
  at: Instant,
  balanceUnits: Units,
  symbol: z.string(),
  decimals: z.int(),
})
type Observation = z.output<typeof Observation>

const State = z.object({ balanceUnits: Units.nullable() })
type State = z.output<typeof State>

/** `data` of `wallet-balance.moved`. Amounts are in the asset's smallest unit; `threshold` in whole units. */
const Moved = z.object({
  address: Address,
  asset: z.union([z.literal('FLR'), Address]),
  symbol: z.string(),
  decimals: z.int(),
  previousAmount: Units,
  currentAmount: Units,
  changeAmount: z.string().regex(/^-?\d+$/),
  threshold: z.string(),
  direction: z.enum(['any', 'up', 'down']),
  blockNumber: z.int(),
  blockTime: Instant,
})

/**
 * Fires when the balance moved by at least the threshold since the last observation, in the chosen
 * direction. The first observation only sets the baseline.
 */
export function balanceChange(
  previous: State,
  observation: Observation,
  { target, settings }: Pick<WatchView<Target, Settings>, 'target' | 'settings'>,
): Evaluation<State> {
  const state = { balanceUnits: observation.balanceUnits }
  if (previous.balanceUnits === null) return { state, phase: 'ok', firings: [] }
  const change = observation.balanceUnits - previous.balanceUnits
  const threshold = parseUnits(settings.threshold, observation.decimals)
  const isFar = change >= threshold || -change >= threshold
  const isWanted = settings.direction === 'any' || (settings.direction === 'up') === change > 0n
  if (change === 0n || !isFar || !isWanted) return { state, phase: 'ok', firings: [] }
  const data = z.encode(Moved, {
    ...target,
    symbol: observation.symbol,
    decimals: observation.decimals,
    previousAmount: previous.balanceUnits,
    currentAmount: observation.balanceUnits,
    changeAmount: change.toString(),
    threshold: settings.threshold,
    direction: settings.direction,
    blockNumber: observation.position,
    blockTime: observation.at,
  })
  return {
    state,
    phase: 'ok',
    firings: [{ event: 'wallet-balance.moved', severity: 'info', data }],
  }
}

function presentMoved(_event: string, data: JsonObject): Presentation {
  const moved = Moved.parse(data)
  const amount = { kind: 'amount', decimals: moved.decimals, symbol: moved.symbol } as const
  return {
    facts: {
      delta: { ...amount, units: BigInt(moved.changeAmount), signed: true },
      before: { ...amount, units: moved.previousAmount },
      after: { ...amount, units: moved.currentAmount },
      threshold: { kind: 'decimal', value: moved.threshold, symbol: moved.symbol },
      address: { kind: 'address', address: moved.address },
      time: { kind: 'instant', at: moved.blockTime },
      block: { kind: 'block', number: moved.blockNumber },
    },
    fields: ['address', 'before', 'after', 'threshold'],
  }
}

const balanceChangeSignal = defineSignal({
  id: 'balance-change',
  group: 'alerts',
  events: { alerts: ['wallet-balance.moved'] },
  state: State,
  data: Moved,
  initial: { balanceUnits: null },
  evaluate: balanceChange,
  present: presentMoved,
  examples: {
    'wallet-balance.moved': {
      address: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
      asset: 'FLR',
      symbol: 'FLR',
      decimals: 18,
      previousAmount: '12742500000000000000000',
      currentAmount: '242500000000000000000',
      changeAmount: '-12500000000000000000000',
      threshold: '100',
      direction: 'any',
      blockNumber: 41880123,
      blockTime: '2026-11-20T21:04:31.000Z',
    },
  },
})

/** Watch type of one balance: the native coin or a token. */
export const walletBalance = defineWatchType({
  name: 'wallet-balance',
  target: Target,
  settings: Settings,
  observation: Observation,
  async observe({ chain }, looks, { upTo }, signal) {
    const targets = looks.map(({ target }) => target)
    const assets = await Promise.all(targets.map(({ asset }) => chain.assetInfo(asset, signal)))
    const balances = await chain.balances(targets, upTo, signal)
    return targets.map((_target, index) => {
      const balanceUnits = balances[index]
      const asset = assets[index]
      if (balanceUnits === undefined || asset === undefined) return undefined
      return [{ position: upTo.number, at: upTo.at, balanceUnits, ...asset }]
    })
  },
  async check({ chain }, target, settings) {
    const asset = await chain.assetInfo(target.asset)
    if (asset === undefined) return [{ pointer: '/target/asset', code: 'not_a_token' }]
    const decimals = settings.threshold.split('.')[1]?.length ?? 0
    if (decimals <= asset.decimals) return []
    const values = { maximum: asset.decimals }
    return [{ pointer: '/settings/threshold', code: 'too_many_decimals', values }]
  },
  defaultLabel: ({ address, asset }) =>
    `${asset === 'FLR' ? asset : shortAddress(asset)} · ${shortAddress(address)}`,
  form: {
    icon: '💰',
    target: [
      { key: 'address', kind: 'address' },
      { key: 'asset', kind: 'asset' },
    ],
    settings: [
      {
        key: 'threshold',
        code: 'thr',
        kind: 'decimal',
        unit: 'asset',
        min: THRESHOLD_MIN,
        max: THRESHOLD_MAX,
        decimals: 18,
        presets: ['10', '100', '1000'],
        suggested: '100',
        shares: { of: 'balance', parts: [0.01, 0.1] },
        as: 'text',
      },
      {
        key: 'direction',
        code: 'dir',
        kind: 'choice',
        options: ['any', 'up', 'down'],
        suggested: 'any',
      },
    ],
    facts: ({ target: { address, asset }, settings, observation }) => {
      const named = asset === 'FLR' ? asset : shortAddress(asset)
      const symbol = observation?.symbol ?? named
      return {
        address: { kind: 'address', address },
        asset: { kind: 'name', text: symbol },
        ...(settings && { threshold: { kind: 'decimal', value: settings.threshold, symbol } }),
        ...(observation && {
          balance: { ...observation, kind: 'amount', units: observation.balanceUnits },
          block: { kind: 'block', number: observation.position },
        }),
      }
    },
  },
  isSame: (a, b) => a.balanceUnits === b.balanceUnits,
  signals: [balanceChangeSignal],
})

function isThreshold(text: string): boolean {
  const units = parseUnits(text, 18)
  return units >= parseUnits(THRESHOLD_MIN, 18) && units <= parseUnits(THRESHOLD_MAX, 18)
}
