import { z } from 'zod'
import type { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { Address, type JsonObject, Units } from '#src/kernel/units.ts'
import {
  defineSignal,
  type Evaluation,
  type Parameter,
  type ParameterValues,
} from '../../signal.ts'
import { daysLeftSeverity, Spending, shownSeconds, spendingAfter, timeLeft } from '../burn.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { signalEvents } from './events.ts'
import { PROVIDER_EXAMPLE } from './round-examples.ts'

/** Days that an address has to last. */
const DAYS: Parameter = {
  ...{ key: 'days', type: 'integer', unit: 'days' },
  ...{ default: 7, min: 1, max: 90, step: 1 },
}

const State = z.object({
  /** What each address that pays has spent. */
  spending: z.record(z.string(), Spending),
  /** Addresses that last too short a time. */
  low: z.array(Address),
})
type State = z.output<typeof State>

/** `data` of both events: the address that is empty first. */
const ProviderDaysLeft = z.object({
  provider: Address,
  role: z.string(),
  address: Address,
  balanceWei: Units,
  /** Per day, at the rate of the last 24 hours and of the last seven days. */
  spentDayWei: Units,
  spentWeekWei: Units,
  /** At the faster of both rates, in whole hours, below one in minutes; null if nothing is spent. */
  secondsLeft: z.number().nullable(),
  days: z.int(),
})

/**
 * Fires while an address that pays for the provider's transactions lasts less than `days`, at the faster of the rates of
 * the last 24 hours and seven days; recovers when each lasts 1.2 times as long. An address says nothing in its first 24
 * hours.
 */
export function evaluateProviderDaysLeft(
  previous: State,
  { provider, balances, at }: Pick<ProviderObservation, 'provider' | 'balances' | 'at'>,
  parameters: ParameterValues,
): Evaluation<State> {
  const wasLow = previous.low.length > 0
  if (balances === null || balances.length === 0) {
    return { state: previous, phase: wasLow ? 'firing' : 'unknown', firings: [] }
  }
  const days = Number(parameters['days'])
  const spent = balances.map((paying) => ({
    ...paying,
    spending: spendingAfter(previous.spending[paying.address], at, BigInt(paying.balanceWei)),
  }))
  const known = spent.flatMap(({ role, address, spending }) => {
    const left = timeLeft(spending)
    if (left === undefined) return []
    const severity = daysLeftSeverity(left.secondsLeft, days, previous.low.includes(address))
    return [{ role, address, balanceWei: spending.balance, ...left, severity }]
  })
  const low = known.filter(({ severity }) => severity !== undefined)
  const state = {
    spending: Object.fromEntries(spent.map(({ address, spending }) => [address, spending])),
    low: low.map(({ address }) => address),
  }
  const [first] = known.toSorted((a, b) => (a.secondsLeft < b.secondsLeft ? -1 : 1))
  if (first === undefined) return { state, phase: 'unknown', firings: [] }
  const data = z.encode(ProviderDaysLeft, {
    ...{ provider, role: first.role, address: first.address, balanceWei: first.balanceWei, days },
    ...{ spentDayWei: first.dayUnits, spentWeekWei: first.weekUnits },
    secondsLeft: Number.isFinite(first.secondsLeft) ? shownSeconds(first.secondsLeft) : null,
  })
  const severity = low.some((one) => one.severity === 'critical') ? 'critical' : 'warning'
  if (low.length > 0) {
    return { state, phase: 'firing', firings: [{ event: 'fsp.days-left', severity, data }] }
  }
  const firing = { event: 'fsp.days-left.recovered', severity: 'info', data } as const
  return { state, phase: 'ok', firings: [firing] }
}

function present(_event: string, json: JsonObject): Presentation {
  const data = ProviderDaysLeft.parse(json)
  const flr = { decimals: 18, symbol: servedChain().symbol } as const
  return {
    facts: {
      provider: { kind: 'address', address: data.provider },
      role: { kind: 'term', key: `messages:role.${data.role}` },
      balance: { kind: 'amount', units: data.balanceWei, ...flr },
      spentDay: { kind: 'estimate', units: data.spentDayWei, ...flr },
      spentWeek: { kind: 'estimate', units: data.spentWeekWei, ...flr },
      ...(data.secondsLeft !== null && { left: { kind: 'duration', seconds: data.secondsLeft } }),
      wanted: { kind: 'duration', seconds: data.days * DAY_SECONDS },
      address: { kind: 'address', address: data.address },
    },
    fields: ['role', 'address', 'balance', 'spentDay', 'spentWeek'],
  }
}

const EXAMPLE = {
  provider: PROVIDER_EXAMPLE.provider,
  role: 'submit',
  address: PROVIDER_EXAMPLE.address,
  balanceWei: '84000000000000000000',
  spentDayWei: '21000000000000000000',
  spentWeekWei: '20400000000000000000',
  secondsLeft: 4 * DAY_SECONDS,
  days: 7,
}

/** An address that pays for transactions is empty soon. */
export const daysLeft = defineSignal<ProviderTarget, unknown, ProviderObservation, State>({
  id: 'days-left',
  group: 'transactions',
  events: signalEvents('days-left'),
  parameters: [DAYS],
  canBeCritical: true,
  state: State,
  data: ProviderDaysLeft.meta({ id: 'ProviderDaysLeftData' }),
  initial: { spending: {}, low: [] },
  evaluate: (previous, observation, { parameters }) =>
    evaluateProviderDaysLeft(previous, observation, parameters),
  present,
  // The rate follows from balances of a week, which the chain proves at each block only.
  claim: () => 'other',
  examples: {
    'fsp.days-left': EXAMPLE,
    'fsp.days-left.recovered': {
      ...{ ...EXAMPLE, balanceWei: '840000000000000000000', secondsLeft: 40 * DAY_SECONDS },
    },
  },
  ownExample: ({ target, parameters, observation, example }) => {
    const { role, address } = observation?.balances?.[0] ?? {
      ...{ role: 'identity', address: target.provider },
    }
    const days = Number(parameters['days'])
    const seconds = Math.max(1, days - 2) * DAY_SECONDS
    return { ...example, ...target, role, address, days, secondsLeft: seconds }
  },
})
