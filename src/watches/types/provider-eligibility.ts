import { z } from 'zod'
import type { ProviderStatus } from '#src/fsp/indexer/provider-status.ts'
import type { DisplayValues, Presentation } from '#src/kernel/display-values.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import { defineWatchType } from '../define.ts'
import { defineSignal, type Evaluation, type Firing } from '../signal.ts'
import {
  PROVIDER_FIELDS,
  ProviderTarget,
  providerDisplayValues,
  providerLabel,
  providerName,
  resolveProvider,
} from './provider-target.ts'

/** Conditions by the id of their failure in the published eligibility data. */
const CONDITIONS: Readonly<Record<string, string>> = {
  FTSO_SCALING_FAILURE: 'conditionAnchor',
  FAST_UPDATES_FAILURE: 'conditionFastUpdates',
  FDC_FAILURE: 'conditionFdc',
  STAKING_AVAILABILITY: 'conditionStaking',
}

const Observation = z.object({
  position: z.int(),
  at: Instant,
  provider: Address,
  name: z.string().nullable(),
  /** The reward epoch in force. */
  rewardEpochId: z.int(),
  registered: z.boolean(),
  /** null if no published data says whether the provider is eligible. */
  eligible: z.boolean().nullable(),
  eligibilityEpochId: z.int().nullable(),
  passes: z.number().nullable(),
  failures: z.array(z.string()),
})
type Observation = z.output<typeof Observation>

const PARTS = ['registered', 'eligible'] as const
type Part = (typeof PARTS)[number]

const State = z.object({
  /** Registration as last observed; null if it was never observed. */
  registered: z.boolean().nullable(),
  eligible: z.boolean().nullable(),
  /** What the provider has lost and not got back. */
  lost: z.array(z.enum(PARTS)),
})
type State = z.output<typeof State>

/** `data` of all three events. */
const Status = z.object({
  provider: Address,
  providerName: z.string().nullable(),
  registered: z.boolean(),
  eligible: z.boolean().nullable(),
  rewardEpochId: z.int(),
  /** The reward epoch of the eligibility data; null if there is none yet. */
  eligibilityEpochId: z.int().nullable(),
  passes: z.number().nullable(),
  failures: z.array(z.string()),
  /** Of a recovery: what has come back. */
  recovered: z.array(z.enum(PARTS)),
  /** Of an alert: what was lost. */
  lost: z.enum(PARTS).exactOptional(),
  blockTime: Instant,
})

const LOSSES = {
  registered: 'provider.unregistered',
  eligible: 'provider.eligibility-lost',
} as const

/**
 * Fires once when registration is lost and once when eligibility is lost, and recovers when either comes
 * back. The first observation is the baseline of both; if eligibility becomes known later, its first known
 * value is its baseline.
 */
function providerStatus(previous: State, observation: Observation): Evaluation<State> {
  const now: Readonly<Record<Part, boolean | null>> = {
    registered: observation.registered,
    eligible: observation.eligible ?? previous.eligible,
  }
  const fresh = PARTS.filter((part) => previous[part] === true && now[part] === false)
  const alerts = fresh.map((part): Firing => {
    const event = LOSSES[part]
    return { event, severity: 'critical', data: { ...dataOf(observation, []), lost: part } }
  })
  const open = [...previous.lost, ...fresh.filter((part) => !previous.lost.includes(part))]
  const back = open.filter((part) => now[part] === true)
  const lost = open.filter((part) => now[part] !== true)
  // One observation has at most one recovery, which names everything that has come back.
  const recoveries = back.length === 0 ? [] : [recoveryOf(observation, back)]
  const notLostYet = Object.fromEntries(fresh.map((part) => [part, true]))
  return {
    state: { ...now, lost },
    stateIfDeferred: { ...now, ...notLostYet, lost: lost.filter((part) => !fresh.includes(part)) },
    phase: lost.length > 0 ? 'firing' : 'ok',
    firings: [...recoveries, ...alerts],
  }
}

function recoveryOf(observation: Observation, parts: readonly Part[]): Firing {
  return { event: 'provider.recovered', severity: 'info', data: dataOf(observation, parts) }
}

/** Whether a recovery ends the episode of an alert: what the alert says was lost must have come back. */
function isBack(recovery: JsonObject, last: Pick<Firing, 'event' | 'data'>): boolean {
  return Status.parse(recovery).recovered.some((part) => LOSSES[part] === last.event)
}

function dataOf(observation: Observation, recovered: readonly Part[]): JsonObject {
  const { provider, name, at } = observation
  const { registered, eligible, rewardEpochId, eligibilityEpochId, passes, failures } = observation
  return z.encode(Status, {
    provider,
    providerName: name,
    registered,
    eligible,
    rewardEpochId,
    eligibilityEpochId,
    passes,
    failures,
    recovered: [...recovered],
    blockTime: at,
  })
}

function presentStatus(event: string, data: JsonObject): Presentation {
  const status = Status.parse(data)
  const isEligibility = event === 'provider.eligibility-lost'
  const epoch = isEligibility ? status.eligibilityEpochId : status.rewardEpochId
  const names = isEligibility ? status.failures.flatMap((id) => CONDITIONS[id] ?? []) : []
  const failed = Object.fromEntries(
    names.map((name) => [name, { kind: 'term', key: 'messages:condition.failed' } as const]),
  )
  const [first] = status.recovered
  const back = status.recovered.length > 1 ? 'both' : first
  const facts: DisplayValues = {
    provider: { kind: 'address', address: status.provider },
    who: providerName(status.provider, status.providerName),
    epoch: { kind: 'identifier', value: epoch ?? status.rewardEpochId },
    since: { kind: 'instant', at: status.blockTime },
    ...(back && { what: { kind: 'term', key: `messages:recovered.${back}` } }),
    ...failed,
    ...(isEligibility &&
      status.passes !== null && { passes: { kind: 'number', value: status.passes } }),
  }
  const fields = ['provider', 'epoch', 'since', 'passes', ...names]
  return { facts, fields: fields.filter((name) => name in facts) }
}

const example = {
  provider: '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE',
  providerName: 'Alpha Oracle',
  registered: true,
  eligible: true,
  rewardEpochId: 453,
  eligibilityEpochId: 451,
  passes: 2,
  failures: [],
  recovered: [],
  blockTime: '2026-11-23T07:00:31.000Z',
}

const providerStatusSignal = defineSignal<ProviderTarget, Settings, Observation, State>({
  id: 'provider-status',
  group: 'alerts',
  events: {
    alerts: ['provider.unregistered', 'provider.eligibility-lost'],
    recovery: 'provider.recovered',
  },
  canBeCritical: true,
  firesOnce: true,
  episodes: { by: ['lost'], isOver: isBack },
  state: State,
  data: Status.meta({ id: 'ProviderStatusData' }),
  initial: { registered: null, eligible: null, lost: [] },
  evaluate: providerStatus,
  present: presentStatus,
  claim: (json, { event }) => {
    const status = Status.parse(json)
    const { provider, rewardEpochId: rewardEpoch, passes, failures } = status
    if (event === LOSSES.eligible) {
      const { eligibilityEpochId: epoch } = status
      if (epoch === null) return 'other'
      return { kind: 'eligibility', provider, rewardEpoch: epoch, passes, failures }
    }
    return { kind: 'membership', provider, rewardEpoch, voters: null, startRound: null }
  },
  examples: {
    'provider.unregistered': { ...example, registered: false, lost: 'registered' },
    'provider.eligibility-lost': {
      ...example,
      eligible: false,
      passes: 0,
      failures: ['FTSO_SCALING_FAILURE'],
      lost: 'eligible',
    },
    'provider.recovered': { ...example, recovered: ['registered'] },
  },
  ownExample: ({ target, event, example: typicalData, observation, at }) => {
    const seen = observation && dataOf({ ...observation, at }, [])
    const { lost, passes, failures } = Status.parse(typicalData)
    const isEligibility = event === LOSSES.eligible
    return {
      ...(seen ?? { ...typicalData, providerName: null }),
      provider: target.provider,
      ...(lost && { lost, [lost]: false }),
      ...(isEligibility && { passes, failures }),
    }
  },
})

const Settings = z.strictObject({})
type Settings = z.output<typeof Settings>

function yesOrNo(value: boolean | null) {
  const word = value === null ? 'unknown' : value ? 'yes' : 'no'
  return { kind: 'term', key: `bot:term.${word}` } as const
}

function observationOf(
  target: ProviderTarget,
  { name, rewardEpochId, isRegistered, eligibility }: ProviderStatus,
  place: Pick<Observation, 'position' | 'at'>,
): Observation {
  return {
    ...place,
    ...target,
    name,
    rewardEpochId,
    registered: isRegistered,
    eligible: eligibility?.isEligible ?? null,
    eligibilityEpochId: eligibility?.rewardEpochId ?? null,
    passes: eligibility?.passes ?? null,
    failures: [...(eligibility?.failures ?? [])],
  }
}

/** Watch type of a provider's registration and eligibility. */
export const providerEligibility = defineWatchType<ProviderTarget, Settings, Observation>({
  name: 'provider-eligibility',
  target: ProviderTarget,
  settings: Settings,
  observation: Observation,
  everySeconds: 60,
  async observe({ facts }, requests, { upTo }, signal) {
    const voters = requests.map(({ target }) => target.provider)
    const [statuses, isUnreadable] = await Promise.all([
      facts.providers(voters, upTo, signal),
      facts.publications.isEligibilityUnreadable(),
    ])
    return requests.map(({ target, last }, index) => {
      const status = statuses[index]
      if (status === undefined) return undefined
      const seen = observationOf(target, status, { position: upTo.number, at: upTo.at })
      const before = last as Observation | null
      // Half of the data is missing. The other half is judged when it changes, so that no loss goes unnoticed.
      return isUnreadable && before?.registered === seen.registered ? undefined : [seen]
    })
  },
  history: {
    keeps: 'changes',
    hasSeenTimes: true,
    async *read({ facts }, { target, from, to }) {
      const [statuses, seenAt] = await Promise.all([
        facts.providerHistory(target.provider, { from, to }),
        facts.providersSeenAt({ from, to }),
      ])
      if (statuses.length === 0) yield { observations: [], gaps: ['no_data'] }
      yield {
        seenAt,
        observations: statuses.map((status) =>
          observationOf(target, status, { position: 0, at: status.at }),
        ),
      }
    },
  },
  check: async () => [],
  resolve: resolveProvider,
  defaultLabel: providerLabel,
  form: {
    icon: '🪪',
    target: PROVIDER_FIELDS,
    settings: [],
    facts: ({ target, observation }) => ({
      ...providerDisplayValues(target.provider),
      ...(observation && {
        epoch: { kind: 'identifier', value: observation.rewardEpochId },
        registered: yesOrNo(observation.registered),
        eligible: yesOrNo(observation.eligible),
      }),
    }),
  },
  isSame: (a, b) =>
    a.registered === b.registered &&
    a.eligible === b.eligible &&
    a.rewardEpochId === b.rewardEpochId &&
    a.eligibilityEpochId === b.eligibilityEpochId,
  signals: [providerStatusSignal],
})
