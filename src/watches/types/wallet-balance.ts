import { z } from 'zod'
import type { FspChain } from '#src/fsp/chain.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { assetSymbol } from '#src/kernel/chains.ts'
import type { DisplayValues } from '#src/kernel/display-values.ts'
import { DAY_SECONDS, HOUR_MS } from '#src/kernel/durations.ts'
import type { FieldError } from '#src/kernel/errors.ts'
import { defineWatchType, type Prefilter } from '../define.ts'
import type { DisplayInput, NumberField, SignalForm } from '../form.ts'
import { balanceDaysLeft } from './balance-days-left.ts'
import { balanceHistory } from './balance-history.ts'
import { balanceCeiling, balanceFloor } from './balance-levels.ts'
import { balanceChange } from './balance-moves.ts'
import { BalanceObservation, balanceText, USD } from './balance-observation.ts'
import { observeBalances } from './balance-readings.ts'
import {
  AMOUNT_MAX,
  AMOUNT_MIN,
  BalanceSettings,
  BalanceTarget,
  DAYS_LEFT_MAX,
} from './balance-settings.ts'
import { ALL_ASSETS } from './own-coin.ts'

/** The settings that are amounts. */
const AMOUNTS = ['threshold', 'floor', 'ceiling'] as const

/** Summary of the watches of a balance: what was judged, and whether time alone can change a result. */
const Summary = z.object({
  balance: z.string().nullable(),
  /** The hour that was judged, if a watch asks how long the balance lasts. */
  hour: z.int().nullable(),
})
type Summary = z.output<typeof Summary>

function hourOf({ at }: BalanceObservation): number {
  return Math.floor(at.getTime() / HOUR_MS)
}

/** An unchanged balance is judged again once an hour if a watch asks how long it lasts, because spending ages. */
const prefilter: Prefilter<BalanceSettings, BalanceObservation, Summary> = {
  schema: Summary,
  empty: { balance: null, hour: null },
  add: ({ hour }, { settings }, observation) => ({
    balance: balanceText(observation),
    hour: settings.daysLeft == null ? hour : hourOf(observation),
  }),
  isQuiet: ({ balance, hour }, observation) =>
    balance === balanceText(observation) && (hour === null || hour === hourOf(observation)),
}

/** Errors of a watch of all assets: amounts are dollars and cents, and days left are of one asset. */
async function checkAll(
  chain: FspChain,
  { tokens = [] }: BalanceTarget,
  settings: BalanceSettings,
): Promise<readonly FieldError[]> {
  const infos = await Promise.all(tokens.map((token) => chain.assetInfo(token)))
  const strangers = infos.flatMap((info, index) =>
    info === undefined ? [{ pointer: `/target/tokens/${index}`, code: 'not_a_token' }] : [],
  )
  const days = settings.daysLeft == null ? [] : [{ pointer: '/settings/daysLeft', code: 'unknown' }]
  return [...strangers, ...days, ...tooManyDecimals(settings, USD.decimals)]
}

function tooManyDecimals(settings: BalanceSettings, maximum: number): readonly FieldError[] {
  return AMOUNTS.flatMap((key) => {
    const decimals = settings[key]?.split('.')[1]?.length ?? 0
    if (decimals <= maximum) return []
    return [{ pointer: `/settings/${key}`, code: 'too_many_decimals', values: { maximum } }]
  })
}

/** The fields of an amount, but for its name. */
const amountField = {
  kind: 'decimal',
  unit: 'asset',
  min: AMOUNT_MIN,
  max: AMOUNT_MAX,
  decimals: 18,
  as: 'text',
} as const satisfies Partial<NumberField>

const form: SignalForm<BalanceTarget, BalanceSettings, BalanceObservation> = {
  icon: '💰',
  target: [
    { key: 'address', kind: 'address' },
    { key: 'asset', kind: 'asset' },
  ],
  settings: [
    {
      ...{ ...amountField, key: 'threshold', code: 'thr' },
      presets: ['10', '100', '1000'],
      suggested: '100',
      shares: { of: 'balance', parts: [0.01, 0.1] },
    },
    {
      key: 'direction',
      code: 'dir',
      kind: 'choice',
      options: ['any', 'up', 'down'],
      suggested: 'any',
    },
    {
      ...{ ...amountField, key: 'floor', code: 'flo' },
      presets: ['10', '100'],
      suggested: '100',
      shares: { of: 'balance', parts: [0.5] },
    },
    {
      ...{ ...amountField, key: 'ceiling', code: 'cei' },
      presets: ['1000', '10000'],
      suggested: '10000',
      shares: { of: 'balance', parts: [2] },
    },
    {
      ...{ key: 'daysLeft', code: 'day', kind: 'integer', unit: 'days' },
      ...{ min: '1', max: `${DAYS_LEFT_MAX}`, decimals: 0 },
      ...{ presets: ['3', '7', '14'], suggested: '7', as: 'number' },
    },
  ],
  rules: [
    { key: 'moves', fields: ['threshold', 'direction'] },
    { key: 'floor', fields: ['floor'] },
    { key: 'ceiling', fields: ['ceiling'] },
    { key: 'daysLeft', fields: ['daysLeft'] },
  ],
  facts,
}

function facts({
  target: { address, asset },
  settings,
  observation,
}: DisplayInput<BalanceTarget, BalanceSettings, BalanceObservation>): DisplayValues {
  const named = asset === ALL_ASSETS ? USD.symbol : assetSymbol(asset, shortAddress(asset))
  const symbol = observation?.symbol ?? named
  const amounts = AMOUNTS.flatMap((key) => {
    const value = settings?.[key]
    return value == null ? [] : [[key, { kind: 'decimal', value, symbol }] as const]
  })
  return {
    address: { kind: 'address', address },
    asset:
      asset === ALL_ASSETS
        ? { kind: 'term', key: 'messages:asset.all' }
        : { kind: 'name', text: symbol },
    ...Object.fromEntries(amounts),
    ...(settings?.daysLeft != null && {
      daysLeft: { kind: 'duration', seconds: settings.daysLeft * DAY_SECONDS },
    }),
    ...(observation && {
      balance: {
        ...{ kind: 'amount', units: observation.balanceUnits },
        ...{ symbol: observation.symbol, decimals: observation.decimals },
      },
      block: { kind: 'block', number: observation.position },
    }),
  }
}

/** Watch type of a balance: the native coin, a token, or all assets of a wallet that have a price. */
export const walletBalance = defineWatchType<
  BalanceTarget,
  BalanceSettings,
  BalanceObservation,
  unknown,
  Summary
>({
  name: 'wallet-balance',
  target: BalanceTarget,
  settings: BalanceSettings,
  observation: BalanceObservation,
  observe: observeBalances,
  async check({ chain }, target, settings) {
    if (target.asset === ALL_ASSETS) return checkAll(chain, target, settings)
    if (target.tokens !== undefined) return [{ pointer: '/target/tokens', code: 'unknown' }]
    const asset = await chain.assetInfo(target.asset)
    if (asset === undefined) return [{ pointer: '/target/asset', code: 'not_a_token' }]
    return tooManyDecimals(settings, asset.decimals)
  },
  async resolve(_sources, { tokens, ...target }) {
    const named = [...new Set(tokens)].toSorted()
    return named.length === 0 ? target : { ...target, tokens: named }
  },
  defaultLabel: ({ address, asset }) => {
    const named = asset === ALL_ASSETS ? ALL_ASSETS : assetSymbol(asset, shortAddress(asset))
    return `${named} · ${shortAddress(address)}`
  },
  form,
  history: balanceHistory,
  prefilter,
  signals: [balanceChange, balanceFloor, balanceCeiling, balanceDaysLeft],
})
