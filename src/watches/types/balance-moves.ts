/** The signal about a balance that changed by at least a threshold. */
import { parseUnits } from 'viem/utils'
import { z } from 'zod'
import { Units } from '#src/kernel/units.ts'
import { defineSignal, type Evaluation, type ExampleWatch, type WatchView } from '../signal.ts'
import { usdCents } from '../usd-value.ts'
import { BalanceChangeData, presentBalanceChange } from './balance-change.ts'
import { BALANCE_EXAMPLE, unobservedAsset } from './balance-example.ts'
import { type BalanceObservation, type Holding, type Movement, USD } from './balance-observation.ts'
import type { BalanceSettings, BalanceTarget } from './balance-settings.ts'
import { ALL_ASSETS } from './own-coin.ts'

const State = z.object({
  balanceUnits: Units.nullable(),
  /** Of a watch of all assets: the balance of each. */
  holdings: z.record(z.string(), Units).exactOptional(),
})
type State = z.output<typeof State>
type BalanceWatch = Pick<WatchView<BalanceTarget, BalanceSettings>, 'target' | 'settings'>

/** A change of one asset. */
interface AssetChange extends Omit<Holding, 'usdPrice' | 'movement'> {
  readonly fromUnits: bigint
  readonly changeUnits: bigint
  readonly movement: Movement | null
  readonly usd: bigint | null
}

/**
 * Fires when the balance changed by at least the threshold since the last observation, in the chosen direction:
 * a decrease is a warning, an increase is info. The first observation only sets the baseline. Of all assets of a wallet
 * each is compared with the threshold in US dollars, and a token without a price alerts whenever it moves.
 */
export function evaluateBalanceChange(
  previous: State,
  observation: BalanceObservation,
  watch: BalanceWatch,
): Evaluation<State> {
  const state = stateOf(observation)
  const changes =
    observation.holdings === undefined
      ? soleChange(previous, observation, watch)
      : changesOfAll(previous, observation.holdings, watch)
  const [main, ...others] = changes.filter((change) => isWanted(change, watch.settings))
  if (main === undefined) return { state, phase: 'ok', firings: [] }
  const isSent = main.changeUnits < 0n
  const data = dataOf(main, others, observation, watch)
  return {
    state,
    phase: 'ok',
    firings: [{ event: 'wallet-balance.moved', severity: isSent ? 'warning' : 'info', data }],
  }
}

function stateOf({ balanceUnits, holdings }: BalanceObservation): State {
  if (holdings === undefined) return { balanceUnits }
  const units = holdings.map(({ asset, balanceUnits: own }) => [asset, own] as const)
  return { balanceUnits, holdings: Object.fromEntries(units) }
}

function isWanted({ changeUnits }: AssetChange, { direction }: BalanceSettings): boolean {
  return changeUnits !== 0n && (direction === 'any' || (direction === 'up') === changeUnits > 0n)
}

/** The change of the one asset, if it reaches the threshold. */
function soleChange(
  previous: State,
  { balanceUnits, symbol, decimals, movement }: BalanceObservation,
  { target: { asset }, settings }: BalanceWatch,
): readonly AssetChange[] {
  const { balanceUnits: fromUnits } = previous
  if (fromUnits === null || settings.threshold == null || asset === ALL_ASSETS) return []
  const changeUnits = balanceUnits - fromUnits
  if (absolute(changeUnits) < parseUnits(settings.threshold, decimals)) return []
  const price = movement?.usdPrice ?? null
  const usd = price && usdCents(absolute(changeUnits), decimals, price)
  return [{ asset, symbol, decimals, balanceUnits, fromUnits, changeUnits, movement, usd }]
}

/** The changes that reach the threshold: outgoing before incoming ones, then by value. */
function changesOfAll(
  { holdings: before }: State,
  holdings: readonly Holding[],
  { settings }: BalanceWatch,
): readonly AssetChange[] {
  if (before === undefined || settings.threshold == null) return []
  const threshold = parseUnits(settings.threshold, USD.decimals)
  const changes = holdings.flatMap(({ usdPrice, ...holding }): AssetChange[] => {
    const fromUnits = before[holding.asset]
    // A token that was not counted before has no change.
    if (fromUnits === undefined) return []
    const changeUnits = holding.balanceUnits - fromUnits
    const usd = usdPrice && usdCents(absolute(changeUnits), holding.decimals, usdPrice)
    return usd !== null && usd < threshold ? [] : [{ ...holding, fromUnits, changeUnits, usd }]
  })
  const isSent = ({ changeUnits }: AssetChange) => (changeUnits < 0n ? 0 : 1)
  return changes.toSorted((a, b) => {
    if (isSent(a) !== isSent(b)) return isSent(a) - isSent(b)
    return (a.usd ?? 0n) > (b.usd ?? 0n) ? -1 : 1
  })
}

function dataOf(
  change: AssetChange,
  others: readonly AssetChange[],
  { holdings, position, at }: BalanceObservation,
  { target: { address }, settings }: BalanceWatch,
) {
  const { asset, symbol, decimals, balanceUnits, fromUnits, changeUnits, movement, usd } = change
  const cause = movement?.fromUnits === fromUnits ? movement : null
  return z.encode(BalanceChangeData, {
    ...{ address, asset, symbol, decimals },
    previousAmount: fromUnits,
    currentAmount: balanceUnits,
    changeAmount: changeUnits.toString(),
    threshold: settings.threshold ?? '',
    direction: changeUnits < 0n ? 'outgoing' : 'incoming',
    counterparty: cause?.counterparty ?? null,
    transactionHash: cause?.transactionHash ?? null,
    transactions: (cause?.transactions ?? []).map(({ hash, units, counterparty }) => ({
      transactionHash: hash,
      amount: units.toString(),
      counterparty,
    })),
    transactionCount: cause?.transactionCount ?? 0,
    usd: usd === null ? null : centsText(usd),
    blockNumber: position,
    blockTime: at,
    ...(holdings !== undefined && {
      otherChanges: others.map((other) => ({
        ...{ asset: other.asset, symbol: other.symbol, decimals: other.decimals },
        changeAmount: other.changeUnits.toString(),
      })),
    }),
  })
}

function absolute(units: bigint): bigint {
  return units < 0n ? -units : units
}

/** US cents as decimal text. */
export function centsText(cents: bigint): string {
  return `${cents / 100n}.${(cents % 100n).toString().padStart(2, '0')}`
}

/**
 * Data of an example: the smallest change that fires. It ends at the last observed balance; with the direction `up` it
 * starts there. Of a watch of all assets it is a change of the first one.
 */
function ownExample({
  target,
  settings,
  observation,
  at,
}: ExampleWatch<BalanceTarget, BalanceSettings, BalanceObservation>) {
  if (target.asset === ALL_ASSETS) return exampleOfAll(target, settings, observation, at)
  const { symbol, decimals } = observation ?? unobservedAsset(target)
  const threshold = parseUnits(settings.threshold ?? '', decimals)
  const known = { position: 0, ...observation, at, symbol, decimals, movement: null }
  const after = observation?.balanceUnits ?? threshold
  const isUp = settings.direction === 'up'
  const before = isUp ? after : after + threshold
  const next = { ...known, balanceUnits: isUp ? after + threshold : after }
  const [firing] = evaluateBalanceChange({ balanceUnits: before }, next, {
    target,
    settings,
  }).firings
  return firing?.data ?? BALANCE_EXAMPLE
}

/** The example of a watch of all assets, with the watch's address and threshold; the asset of the general example. */
function exampleOfAll(
  { address }: BalanceTarget,
  { threshold, direction }: BalanceSettings,
  observation: BalanceObservation | undefined,
  at: Date,
) {
  const isUp = direction === 'up'
  const [held] = observation?.holdings ?? []
  const units = BigInt(BALANCE_EXAMPLE.currentAmount)
  const change = absolute(BigInt(BALANCE_EXAMPLE.changeAmount))
  const after = held?.balanceUnits ?? units
  const asset = held && { asset: held.asset, symbol: held.symbol, decimals: held.decimals }
  return {
    ...{ ...BALANCE_EXAMPLE, ...asset, address, threshold: threshold ?? '' },
    direction: isUp ? 'incoming' : 'outgoing',
    previousAmount: `${isUp && after > change ? after - change : after + change}`,
    currentAmount: `${after}`,
    changeAmount: `${isUp ? '' : '-'}${change}`,
    ...{ counterparty: null, transactionHash: null, transactions: [], transactionCount: 0 },
    ...{ usd: null, blockNumber: observation?.position ?? 0, blockTime: at.toISOString() },
    otherChanges: [],
  }
}

export const balanceChange = defineSignal({
  id: 'balance-change',
  group: 'alerts',
  events: { alerts: ['wallet-balance.moved'] },
  setting: 'threshold',
  state: State,
  data: BalanceChangeData.meta({ id: 'BalanceChangeData' }),
  initial: { balanceUnits: null },
  evaluate: evaluateBalanceChange,
  present: presentBalanceChange,
  examples: { 'wallet-balance.moved': BALANCE_EXAMPLE },
  ownExample,
})
