import { parseEther } from 'viem/utils'
import { z } from 'zod'
import type { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { Address, Instant, type JsonObject, Units } from '#src/kernel/units.ts'
import {
  defineSignal,
  type Evaluation,
  type Parameter,
  type ParameterValues,
} from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { signalEvents } from './events.ts'
import { PROVIDER_EXAMPLE } from './round-examples.ts'

/** Whole FLR below which an address counts as low. */
const MINIMUM_FLR: Parameter = {
  key: 'minimumFlr',
  type: 'integer',
  unit: 'coin',
  default: 25,
  min: 1,
  max: 100_000,
  step: 1,
}

/** Balance up to which an alert is critical. */
const CRITICAL_WEI = parseEther('5')

const WARNING_WEI = parseEther(String(MINIMUM_FLR.default))

/** Default limits of a low balance, in wei. */
export const LOW_LIMITS_WEI = [CRITICAL_WEI, WARNING_WEI] as const

/** Severity of a low balance by the default limits; undefined if it is not low. */
export function lowBalanceSeverity(balanceWei: bigint): 'warning' | 'critical' | undefined {
  if (balanceWei <= CRITICAL_WEI) return 'critical'
  return balanceWei < WARNING_WEI ? 'warning' : undefined
}

const LowState = z.object({
  /** Addresses that were below the limit and have not risen to 1.2 times the limit since. */
  low: z.array(Address),
})

type LowState = z.output<typeof LowState>

/** `data` of both events of `balance-low`: the lowest address. */
const Low = z.object({
  provider: Address,
  role: z.string(),
  address: Address,
  balanceWei: Units,
  limitWei: Units,
})

/**
 * Fires while an address that pays for the provider's transactions holds less than `minimumFlr`; recovers
 * when all such addresses hold at least 1.2 times `minimumFlr`.
 */
function balanceTooLow(
  previous: LowState,
  { provider, balances }: ProviderObservation,
  parameters: ParameterValues,
): Evaluation<LowState> {
  if (balances === null || balances.length === 0) {
    return { state: previous, phase: previous.low.length > 0 ? 'firing' : 'unknown', firings: [] }
  }
  const limitWei = parseEther(String(parameters['minimumFlr']))
  const read = balances
    .map((balance) => ({ ...balance, balanceWei: BigInt(balance.balanceWei) }))
    .toSorted((a, b) => (a.balanceWei < b.balanceWei ? -1 : 1))
  const low = read.filter(
    ({ address, balanceWei }) =>
      balanceWei < limitWei ||
      (previous.low.includes(address) && balanceWei * 10n < limitWei * 12n),
  )
  const lowest = low[0] ?? read.find(({ address }) => previous.low.includes(address)) ?? read[0]
  if (lowest === undefined) return { state: { low: [] }, phase: 'ok', firings: [] }
  const data = z.encode(Low, { ...lowest, provider, limitWei })
  const state = { low: low.map(({ address }) => address) }
  if (low.length > 0) {
    const severity = lowest.balanceWei <= CRITICAL_WEI ? 'critical' : 'warning'
    return { state, phase: 'firing', firings: [{ event: 'fsp.balance-low', severity, data }] }
  }
  return {
    state,
    phase: 'ok',
    firings: [{ event: 'fsp.balance-low.recovered', severity: 'info', data }],
  }
}

function presentLow(_event: string, json: JsonObject): Presentation {
  const data = Low.parse(json)
  const flr = { kind: 'amount', decimals: 18, symbol: servedChain().symbol } as const
  return {
    facts: {
      provider: { kind: 'address', address: data.provider },
      role: { kind: 'term', key: `messages:role.${data.role}` },
      balance: { ...flr, units: data.balanceWei },
      limit: { ...flr, units: data.limitWei },
      address: { kind: 'address', address: data.address },
    },
    fields: ['role', 'address', 'balance', 'limit'],
  }
}

const lowExample = {
  provider: PROVIDER_EXAMPLE.provider,
  role: 'submit',
  address: PROVIDER_EXAMPLE.address,
  balanceWei: '18200000000000000000',
  limitWei: '25000000000000000000',
}

/** An address that pays for transactions is low on FLR. */
export const balanceLow = defineSignal<ProviderTarget, unknown, ProviderObservation, LowState>({
  id: 'balance-low',
  group: 'transactions',
  events: signalEvents('balance-low'),
  defaultEnabled: false,
  parameters: [MINIMUM_FLR],
  canBeCritical: true,
  state: LowState,
  data: Low.meta({ id: 'LowBalanceData' }),
  initial: { low: [] },
  evaluate: (previous, observation, { parameters }) =>
    balanceTooLow(previous, observation, parameters),
  present: presentLow,
  claim: (json, { block }) => ({ kind: 'balance', block, ...Low.parse(json) }),
  examples: {
    'fsp.balance-low': lowExample,
    'fsp.balance-low.recovered': { ...lowExample, balanceWei: '60000000000000000000' },
  },
  ownExample: ({ target, parameters, observation }) => {
    const limitWei = parseEther(String(parameters['minimumFlr']))
    const identity = { role: 'identity', address: target.provider }
    const { role, address } = observation?.balances?.[0] ?? identity
    return z.encode(Low, { ...target, role, address, balanceWei: limitWei - 1n, limitWei })
  },
})

/** Unclaimed rewards become a warning this long before the oldest of them expire. */
const NEAR_EXPIRY_SECONDS = 14 * DAY_SECONDS

/** `data` of both events of `rewards-unclaimed`. */
const Unclaimed = z.object({
  provider: Address,
  epochs: z.array(z.int()),
  amountWei: Units,
  expiresAt: Instant.nullable(),
})

/** Fires while rewards wait to be claimed, with a warning when the oldest rewards are about to expire. */
function rewardsWaiting({
  provider,
  at,
  rewards,
}: ProviderObservation): Pick<Evaluation<unknown>, 'firings' | 'phase'> | undefined {
  if (rewards === null) return undefined
  const { epochs, amountWei, expiresAt } = rewards
  const data = z.encode(Unclaimed, {
    provider,
    epochs,
    amountWei: BigInt(amountWei),
    expiresAt: expiresAt === null ? null : new Date(expiresAt * 1000),
  })
  if (epochs.length === 0) {
    const firing = { event: 'fsp.rewards-unclaimed.recovered', severity: 'info', data } as const
    return { phase: 'ok', firings: [firing] }
  }
  const isNear = expiresAt !== null && expiresAt - at.getTime() / 1000 <= NEAR_EXPIRY_SECONDS
  const severity = isNear ? 'warning' : 'info'
  return { phase: 'firing', firings: [{ event: 'fsp.rewards-unclaimed', severity, data }] }
}

function presentUnclaimed(_event: string, json: JsonObject): Presentation {
  const { provider, epochs, amountWei, expiresAt } = Unclaimed.parse(json)
  const first = epochs[0]
  return {
    facts: {
      provider: { kind: 'address', address: provider },
      amount: { kind: 'amount', units: amountWei, decimals: 18, symbol: servedChain().symbol },
      epochs: { kind: 'name', text: epochs.join(', ') },
      ...(first !== undefined && { epoch: { kind: 'identifier', value: first } }),
      ...(expiresAt !== null && { expires: { kind: 'instant', at: expiresAt } }),
    },
    fields:
      epochs.length === 0
        ? ['provider']
        : ['provider', 'amount', 'epochs', ...(expiresAt === null ? [] : ['expires'])],
    count: epochs.length,
  }
}

const WaitingState = z.object({ isWaiting: z.boolean() })

const unclaimedExample = {
  provider: PROVIDER_EXAMPLE.provider,
  epochs: [449, 450, 451],
  amountWei: '184500000000000000000000',
  expiresAt: '2027-02-08T07:00:00.000Z',
}

/** Rewards that wait to be claimed, and expire. */
export const rewardsUnclaimed = defineSignal<
  ProviderTarget,
  unknown,
  ProviderObservation,
  z.output<typeof WaitingState>
>({
  id: 'rewards-unclaimed',
  group: 'transactions',
  events: signalEvents('rewards-unclaimed'),
  defaultEnabled: false,
  state: WaitingState,
  data: Unclaimed.meta({ id: 'UnclaimedRewardsData' }),
  initial: { isWaiting: false },
  evaluate: (previous, observation) => {
    const judged = rewardsWaiting(observation)
    if (judged === undefined) {
      return { state: previous, phase: previous.isWaiting ? 'firing' : 'unknown', firings: [] }
    }
    return { ...judged, state: { isWaiting: judged.phase === 'firing' } }
  },
  present: presentUnclaimed,
  claim: (json, { block }) => ({ kind: 'rewards', block, ...Unclaimed.parse(json) }),
  examples: {
    'fsp.rewards-unclaimed': unclaimedExample,
    'fsp.rewards-unclaimed.recovered': {
      ...unclaimedExample,
      epochs: [],
      amountWei: '0',
      expiresAt: null,
    },
  },
})

export const BALANCE_SIGNALS = [balanceLow, rewardsUnclaimed] as const
