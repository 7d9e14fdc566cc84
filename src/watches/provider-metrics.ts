/** Figures of a watched data provider in the text format of Prometheus. */
import { Gauge, Registry } from 'prom-client'
import { formatEther } from 'viem/utils'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import type { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import { checkedKey, translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { createSharedCache, type SharedCache } from '#src/kernel/shared-cache.ts'
import { Address } from '#src/kernel/units.ts'
import type { WatchTypeFacts } from './facts.ts'
import {
  DUTIES,
  DUTY_RESULTS,
  dutyResultOf,
  dutyResultsOf,
  minimalConditionsOf,
  newestOf,
} from './provider-rounds.ts'
import { type ProviderSnapshot, readPastSnapshot } from './provider-snapshot.ts'
import { isProviderWatched } from './store.ts'
import { CONDITION_ROUNDS } from './types/provider-fsp/conditions.ts'

/** The provider of a request for its metrics. */
export const MetricsPath = z.strictObject({
  provider: Address.meta({ description: 'operations:field.providerIdentity' }),
})

interface Deps {
  readonly db: Db
  readonly facts: WatchTypeFacts
  readonly clock: Clock
}

/** Time for which metrics are cached; a round takes 90 seconds. */
const FRESH_MS = 10_000
const KEPT_MAX = 1000

const caches = new WeakMap<WatchTypeFacts, SharedCache<string, string>>()

/**
 * Metrics of a provider that a running watch of the wallet is about. Only stored rounds are read.
 *
 * @throws AppError not_found `provider_not_watched`
 */
export async function getProviderMetrics(
  { db, facts, clock }: Deps,
  caller: Caller,
  { provider, locale }: { readonly provider: Address; readonly locale: Locale },
): Promise<string> {
  if (!(await isProviderWatched(db, caller.wallet, provider)))
    throw new AppError('not_found', 'provider_not_watched')
  const cache =
    caches.get(facts) ?? createSharedCache(clock, { max: KEPT_MAX, freshMs: () => FRESH_MS })
  caches.set(facts, cache)
  return cache.get(`${locale} ${provider}`, async () =>
    metricsText(await readPastSnapshot({ facts }, { provider, rounds: CONDITION_ROUNDS }), locale),
  )
}

/** A value with its labels. */
type Sample = readonly [value: number, labels?: Readonly<Record<string, string>>]

/**
 * One metric: the end of its name, the key of its meaning, and its values. A metric without values is left
 * out.
 */
interface Metric {
  readonly name: string
  readonly help: string
  readonly samples: readonly Sample[]
}

/** The metrics of a provider as text. */
export function metricsText(
  { provider, rounds }: Pick<ProviderSnapshot, 'provider' | 'rounds'>,
  locale: Locale,
): Promise<string> {
  const t = translator(locale)
  const registry = new Registry()
  const common = { provider, chain: servedChain().key }
  for (const { name, help, samples } of metricsOf(rounds)) {
    if (samples.length === 0) continue
    const labelNames = Object.keys(samples[0]?.[1] ?? {})
    const gauge = new Gauge({
      name: `flare_provider_${name}`,
      help: t(checkedKey(`operations:metric.${help}`)),
      labelNames: [...Object.keys(common), ...labelNames],
      registers: [registry],
    })
    for (const [value, labels] of samples) gauge.set({ ...common, ...labels }, value)
  }
  return registry.metrics()
}

function metricsOf(rounds: readonly ProviderObservation[]): readonly Metric[] {
  return [
    ...dutyMetrics(rounds),
    ...membershipMetrics(rounds),
    ...conditionMetrics(rounds),
    ...moneyMetrics(rounds),
  ]
}

/** The sample of a value; empty if the value is unknown. */
function some(value: number | boolean | null | undefined): readonly Sample[] {
  return value === null || value === undefined ? [] : [[Number(value)]]
}

function dutyMetrics(rounds: readonly ProviderObservation[]): readonly Metric[] {
  const cells = rounds.map(dutyResultsOf)
  const [newest] = rounds
  const counts = DUTIES.flatMap((duty) =>
    DUTY_RESULTS.map((result): Sample => {
      const fitting = cells.filter((round) => dutyResultOf(round, duty) === result)
      return [fitting.length, { duty, result }]
    }),
  )
  const last = DUTIES.flatMap((duty): Sample[] => {
    const known = cells.map((round) => dutyResultOf(round, duty)).find((cell) => cell !== 'unknown')
    return known === undefined ? [] : [[Number(known === 'ok'), { duty }]]
  })
  return [
    { name: 'rounds', help: 'rounds', samples: [[rounds.length]] },
    { name: 'duties', help: 'duties', samples: counts },
    { name: 'duty_ok', help: 'dutyOk', samples: last },
    { name: 'round', help: 'round', samples: some(newest?.round) },
    {
      name: 'evaluated_timestamp_seconds',
      help: 'evaluated',
      samples: some(newest && newest.at.getTime() / 1000),
    },
  ]
}

function membershipMetrics(rounds: readonly ProviderObservation[]): readonly Metric[] {
  const silence = newestOf(rounds, ({ fastUpdates }) => fastUpdates)
  const [newest] = rounds
  return [
    { name: 'reward_epoch', help: 'rewardEpoch', samples: some(newest?.rewardEpoch) },
    {
      name: 'in_policy',
      help: 'inPolicy',
      samples: some(newestOf(rounds, ({ policy }) => policy)?.current.isMember),
    },
    // Only the newest round counts: an earlier round may be about an earlier epoch.
    {
      name: 'registered_next',
      help: 'registeredNext',
      samples: some(newest?.registration?.isRegistered),
    },
    { name: 'weight_ratio', help: 'weight', samples: some(silence?.weightShare) },
    {
      name: 'fast_update_silence_blocks',
      help: 'silenceBlocks',
      samples: some(silence?.blocksSinceUpdate),
    },
    {
      name: 'fast_update_silence_probability',
      help: 'silenceProbability',
      samples: some(silence && Math.exp(-silence.exponent)),
    },
  ]
}

function conditionMetrics(rounds: readonly ProviderObservation[]): readonly Metric[] {
  const conditions = Object.entries(minimalConditionsOf(rounds)).flatMap(([condition, rate]) =>
    rate === null ? [] : [{ condition, ...rate }],
  )
  const nodes = newestOf(rounds, (round) => round.nodes) ?? []
  const uptimes = nodes.flatMap(({ nodeId }): Sample[] => {
    const seen = rounds.flatMap(
      (round) => round.nodes?.filter((node) => node.nodeId === nodeId) ?? [],
    )
    const polls = seen.reduce((sum, node) => sum + node.polls, 0)
    const connected = seen.reduce((sum, node) => sum + node.connectedPolls, 0)
    return polls === 0 ? [] : [[connected / polls, { node: nodeId }]]
  })
  return [
    {
      name: 'condition_ratio',
      help: 'condition',
      samples: conditions.map(({ condition, rate }) => [rate, { condition }]),
    },
    {
      name: 'condition_minimum_ratio',
      help: 'minimum',
      samples: conditions.map(({ condition, minimum }) => [minimum, { condition }]),
    },
    {
      name: 'condition_budget_used_ratio',
      help: 'budget',
      samples: conditions.map(({ condition, used }) => [used, { condition }]),
    },
    {
      name: 'validator_listed',
      help: 'listed',
      samples: nodes.map(({ nodeId, isListed }) => [Number(isListed), { node: nodeId }]),
    },
    { name: 'validator_uptime_ratio', help: 'uptime', samples: uptimes },
  ]
}

function moneyMetrics(rounds: readonly ProviderObservation[]): readonly Metric[] {
  const balances = newestOf(rounds, (round) => round.balances) ?? []
  const rewards = newestOf(rounds, (round) => round.rewards)
  const sent = rounds.flatMap(({ transactions }) => transactions)
  const resultOf = ({ ok, isBenign }: (typeof sent)[number]) =>
    ok ? 'ok' : isBenign ? 'lost_race' : 'failed'
  return [
    {
      name: 'balance_coins',
      help: 'balance',
      samples: balances.map(({ role, address, balanceWei }) => [
        coins(balanceWei),
        { role, address },
      ]),
    },
    {
      name: 'transactions',
      help: 'transactions',
      samples: ['ok', 'failed', 'lost_race'].map((result) => [
        sent.filter((transaction) => resultOf(transaction) === result).length,
        { result },
      ]),
    },
    {
      name: 'unclaimed_rewards_coins',
      help: 'unclaimed',
      samples: some(rewards && coins(rewards.amountWei)),
    },
    {
      name: 'unclaimed_reward_epochs',
      help: 'unclaimedEpochs',
      samples: some(rewards?.epochs.length),
    },
    {
      name: 'unclaimed_expiry_timestamp_seconds',
      help: 'unclaimedExpiry',
      samples: some(rewards?.expiresAt),
    },
  ]
}

function coins(wei: string): number {
  return Number(formatEther(BigInt(wei)))
}
