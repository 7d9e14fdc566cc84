import { parseUnits } from 'viem/utils'
import { z } from 'zod'
import type { ChangedBalance } from '#src/chain/chain.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { assetSymbol } from '#src/kernel/chains.ts'
import { textFormat } from '#src/kernel/text-format.ts'
import { Address, Hash, Instant, Units } from '#src/kernel/units.ts'
import { type BlockSpan, defineWatchType, type ObservationSources } from '../define.ts'
import { defineSignal, type Evaluation, type ExampleWatch, type WatchView } from '../signal.ts'
import { undefinedIfUnavailable } from '../unavailable.ts'
import { usdCents } from '../usd-value.ts'
import { BalanceChangeData, presentBalanceChange, TRANSACTIONS_MAX } from './balance-change.ts'
import { BALANCE_EXAMPLE, unobservedAsset } from './balance-example.ts'
import { balanceHistory } from './balance-history.ts'
import { WalletAsset } from './own-coin.ts'

const THRESHOLD_MIN = '0.000001'
const THRESHOLD_MAX = '1000000000000000'

/** Threshold in whole units of the asset: 0.000001 to 10^15. */
const Threshold = textFormat(/^(0|[1-9]\d{0,15})(\.\d{1,18})?$/, () => ({ code: 'decimal' }))
  .refine((text) => parseUnits(text, 18) >= parseUnits(THRESHOLD_MIN, 18), {
    params: { code: 'too_small', minimum: THRESHOLD_MIN },
  })
  .refine((text) => parseUnits(text, 18) <= parseUnits(THRESHOLD_MAX, 18), {
    params: { code: 'too_big', maximum: THRESHOLD_MAX },
  })
  .meta({ examples: ['250', '1250.5'] })

const Target = z.strictObject({
  address: Address,
  asset: WalletAsset,
})
type Target = z.output<typeof Target>

const Settings = z.strictObject({
  threshold: Threshold,
  direction: z.enum(['any', 'up', 'down']).default('any'),
})
type Settings = z.output<typeof Settings>

/** A signed amount in the smallest unit: decimal text in JSON. */
const SignedUnits = z.codec(z.string().regex(/^-?\d{1,78}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (units) => units.toString(),
})

/** Cause of the change since the last observation, and the price by which the change is valued. */
const Movement = z.object({
  /** The balance before the change, in the smallest unit. */
  fromUnits: Units,
  transactionHash: Hash.nullable(),
  counterparty: Address.nullable(),
  /** The first ten transactions behind the change, and how many there are. */
  transactions: z.array(
    z.object({ hash: Hash, units: SignedUnits, counterparty: Address.nullable() }),
  ),
  transactionCount: z.int(),
  /** US dollars for one whole unit: `value / 10 ** decimals`; null without a feed. */
  usdPrice: z.object({ value: Units, decimals: z.int() }).nullable(),
})

const Observation = z.object({
  position: z.int(),
  at: Instant,
  balanceUnits: Units,
  symbol: z.string(),
  decimals: z.int(),
  /** Null if nothing changed, or the change was never looked up: on the first observation, and in past ones. */
  movement: Movement.nullable(),
})
type Observation = z.output<typeof Observation>

const State = z.object({ balanceUnits: Units.nullable() })
type State = z.output<typeof State>

/**
 * Fires when the balance changed by at least the threshold since the last observation, in the chosen direction:
 * a decrease is a warning, an increase is info. The first observation only sets the baseline.
 */
export function evaluateBalanceChange(
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
  const isSent = change < 0n
  const { movement } = observation
  const cause = movement?.fromUnits === previous.balanceUnits ? movement : null
  const data = z.encode(BalanceChangeData, {
    ...target,
    symbol: observation.symbol,
    decimals: observation.decimals,
    previousAmount: previous.balanceUnits,
    currentAmount: observation.balanceUnits,
    changeAmount: change.toString(),
    threshold: settings.threshold,
    direction: isSent ? 'outgoing' : 'incoming',
    counterparty: cause?.counterparty ?? null,
    transactionHash: cause?.transactionHash ?? null,
    transactions: (cause?.transactions ?? []).map(({ hash, units, counterparty }) => ({
      transactionHash: hash,
      amount: units.toString(),
      counterparty,
    })),
    transactionCount: cause?.transactionCount ?? 0,
    usd: usdOf(isSent ? -change : change, observation),
    blockNumber: observation.position,
    blockTime: observation.at,
  })
  return {
    state,
    phase: 'ok',
    firings: [{ event: 'wallet-balance.moved', severity: isSent ? 'warning' : 'info', data }],
  }
}

/** The value of an amount in US dollars, rounded to cents; null without a price. */
function usdOf(units: bigint, { decimals, movement }: Observation): string | null {
  if (movement?.usdPrice == null) return null
  const cents = usdCents(units, decimals, movement.usdPrice)
  return `${cents / 100n}.${(cents % 100n).toString().padStart(2, '0')}`
}

/**
 * Data of an example: the smallest change that fires. It ends at the last observed balance; with the direction `up` it
 * starts there.
 */
function ownExample({
  target,
  settings,
  observation,
  at,
}: ExampleWatch<Target, Settings, Observation>) {
  const { symbol, decimals } = observation ?? unobservedAsset(target)
  const threshold = parseUnits(settings.threshold, decimals)
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

const balanceChangeSignal = defineSignal({
  id: 'balance-change',
  group: 'alerts',
  events: { alerts: ['wallet-balance.moved'] },
  state: State,
  data: BalanceChangeData.meta({ id: 'BalanceChangeData' }),
  initial: { balanceUnits: null },
  evaluate: evaluateBalanceChange,
  present: presentBalanceChange,
  examples: { 'wallet-balance.moved': BALANCE_EXAMPLE },
  ownExample,
})

/** Watch type of one balance: the native coin or a token. */
export const walletBalance = defineWatchType<Target, Settings, Observation>({
  name: 'wallet-balance',
  target: Target,
  settings: Settings,
  observation: Observation,
  async observe(sources, requests, span, signal) {
    const { chain } = sources
    const { upTo } = span
    const targets = requests.map(({ target }) => target)
    const assets = await Promise.all(targets.map(({ asset }) => chain.assetInfo(asset, signal)))
    const balances = await chain.balances(targets, upTo, signal)
    const changes = requests.flatMap(({ target, last }, index): Change[] => {
      const fromUnits = last === null ? undefined : (last as Observation).balanceUnits
      const balanceUnits = balances[index]
      if (fromUnits === undefined || balanceUnits === undefined) return []
      if (fromUnits === balanceUnits) return []
      return [{ ...target, index, fromUnits, changeUnits: balanceUnits - fromUnits }]
    })
    const movements = await movementsOf(sources, changes, span, signal)
    return targets.map((_target, index) => {
      const balanceUnits = balances[index]
      const asset = assets[index]
      if (balanceUnits === undefined || asset === undefined) return undefined
      const movement = movements.get(index) ?? null
      return [{ position: upTo.number, at: upTo.at, balanceUnits, ...asset, movement }]
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
    `${assetSymbol(asset, shortAddress(asset))} · ${shortAddress(address)}`,
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
      const named = assetSymbol(asset, shortAddress(asset))
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
  history: balanceHistory,
  isSame: (a, b) => a.balanceUnits === b.balanceUnits,
  signals: [balanceChangeSignal],
})

const NO_CAUSE = { transactionHash: null, counterparty: null, transactions: [] }

/** A balance that changed since the last observation, with the index of its target. */
interface Change extends ChangedBalance {
  readonly index: number
  readonly fromUnits: bigint
}

/**
 * Causes and prices of the changes, by index. If the chain does not return them they are null, so that alerts do not
 * wait for them.
 */
async function movementsOf(
  { chain, facts }: ObservationSources,
  changes: readonly Change[],
  { after, upTo }: BlockSpan,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<number, z.output<typeof Movement>>> {
  if (changes.length === 0 || after === null) return new Map()
  const feeds = [...new Set(changes.flatMap(({ asset }) => facts.usdFeedOf(asset) ?? []))]
  const [found, readings] = await Promise.all([
    undefinedIfUnavailable(() => chain.movements(changes, { after, upTo: upTo.number }, signal)),
    undefinedIfUnavailable(async () =>
      feeds.length === 0 ? [] : await chain.feedPrices(feeds, upTo, signal),
    ),
  ])
  return new Map(
    changes.map(({ index, asset, fromUnits }, place) => {
      const { transactions, ...cause } = found?.[place] ?? NO_CAUSE
      const feed = facts.usdFeedOf(asset)
      const reading = feed === undefined ? undefined : readings?.[feeds.indexOf(feed)]
      const usdPrice =
        reading === undefined ? null : { value: reading.value, decimals: reading.decimals }
      const listed = transactions.slice(0, TRANSACTIONS_MAX)
      const transactionCount = transactions.length
      return [index, { ...cause, fromUnits, transactions: listed, transactionCount, usdPrice }]
    }),
  )
}
