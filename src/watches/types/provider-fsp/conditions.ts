import { z } from 'zod'
import { checkOf, type ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import { defineSignal, type Evaluation } from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { signalEvents } from './events.ts'
import { PROVIDER_EXAMPLE } from './round-examples.ts'

/** The minimal conditions of a reward epoch, judged over the last rounds with evidence. */

/** Maximum number of rounds with evidence that count: two hours, if there are no gaps. */
export const CONDITION_WINDOW_ROUNDS = 80
/** Minimum number of rounds for a rate. */
export const ROUNDS_MIN = 40
const POLLS_MIN = 30
/** Rate below which an alert fires. */
const MINIMUM = 0.8

/** Number of fulfilled and of possible cases in each round, oldest first. */
const Counts = z.array(z.tuple([z.int(), z.int()]))

const RateState = z.object({ kept: Counts, isLow: z.boolean() })
type RateState = z.output<typeof RateState>

/** `data` of `mc-anchor` and `mc-fdc`. */
const Rate = z
  .object({
    provider: Address,
    rewardEpochId: z.int(),
    votingRoundId: z.int(),
    rate: z.number(),
    threshold: z.number(),
    /** The protocol's minimum over the epoch. */
    protocolMinimum: z.number(),
    rounds: z.int(),
  })
  .meta({ id: 'MinimalConditionData' })

/** One of the two conditions that are counted in rounds. */
export interface RateCondition {
  readonly id: 'mc-anchor' | 'mc-fdc'
  readonly protocolMinimum: number
  /** Number of fulfilled and of possible cases in a round; undefined: skipped. */
  count(observation: ProviderObservation): readonly [number, number] | undefined
}

/** Fires while fewer than 80 % of the possible cases were fulfilled over the last 80 judged rounds. */
function lowRate(
  condition: RateCondition,
  previous: RateState,
  observation: ProviderObservation,
): Evaluation<RateState> {
  const counted = condition.count(observation)
  if (counted === undefined) {
    return { state: previous, phase: previous.isLow ? 'firing' : 'unknown', firings: [] }
  }
  const kept: RateState['kept'] = [...previous.kept, [...counted] as [number, number]]
  while (kept.length > CONDITION_WINDOW_ROUNDS) kept.shift()
  if (kept.length < ROUNDS_MIN) {
    return { state: { kept, isLow: previous.isLow }, phase: 'unknown', firings: [] }
  }
  const rate = fulfilledShare(kept)
  const isLow = rate < MINIMUM
  const data = z.encode(Rate, {
    provider: observation.provider,
    rewardEpochId: observation.rewardEpoch,
    votingRoundId: observation.round,
    rate,
    threshold: MINIMUM,
    protocolMinimum: condition.protocolMinimum,
    rounds: kept.length,
  })
  return { state: { kept, isLow }, ...verdictOf(condition.id, isLow, data) }
}

/** Ratio of fulfilled to possible cases. */
export function fulfilledShare(counts: readonly (readonly [number, number])[]): number {
  const hits = counts.reduce((sum, [hit]) => sum + hit, 0)
  return hits / counts.reduce((sum, [, possible]) => sum + possible, 0)
}

/** Phase and firings of a condition, by whether its rate is low. */
function verdictOf(id: string, isLow: boolean, data: JsonObject) {
  const firing = isLow
    ? ({ event: `fsp.${id}`, severity: 'warning', data } as const)
    : ({ event: `fsp.${id}.recovered`, severity: 'info', data } as const)
  return { phase: isLow ? 'firing' : 'ok', firings: [firing] } as const
}

function presentRate(_event: string, json: JsonObject): Presentation {
  const { provider, rate, threshold, protocolMinimum, rounds, rewardEpochId } = Rate.parse(json)
  return {
    facts: {
      provider: { kind: 'address', address: provider },
      rate: { kind: 'percent', value: rate },
      threshold: { kind: 'percent', value: threshold },
      minimum: { kind: 'percent', value: protocolMinimum },
      rounds: { kind: 'number', value: rounds },
      epoch: { kind: 'identifier', value: rewardEpochId },
    },
    fields: ['provider', 'rate', 'minimum', 'epoch'],
  }
}

function rateSignal(condition: RateCondition, rate: number) {
  const example = {
    provider: PROVIDER_EXAMPLE.provider,
    rewardEpochId: 452,
    votingRoundId: 1_519_400,
    rate,
    threshold: MINIMUM,
    protocolMinimum: condition.protocolMinimum,
    rounds: CONDITION_WINDOW_ROUNDS,
  }
  return defineSignal<ProviderTarget, unknown, ProviderObservation, RateState>({
    id: condition.id,
    group: 'registration',
    events: signalEvents(condition.id),
    state: RateState,
    data: Rate,
    initial: { kept: [], isLow: false },
    evaluate: (previous, observation) => lowRate(condition, previous, observation),
    present: presentRate,
    claim: (json) => {
      const { provider, rewardEpochId, votingRoundId: round, ...rest } = Rate.parse(json)
      const { rounds, rate: share, threshold } = rest
      const about = { provider, condition: condition.id, rewardEpoch: rewardEpochId, round }
      return { kind: 'rate', ...about, rounds, rate: share, threshold }
    },
    examples: {
      [`fsp.${condition.id}`]: example,
      [`fsp.${condition.id}.recovered`]: { ...example, rate: 0.82 },
    },
  })
}

/** Condition: prices close to the median. */
export const ANCHOR_CONDITION: RateCondition = {
  id: 'mc-anchor',
  protocolMinimum: 0.8,
  count: ({ anchors }) => (anchors === null ? undefined : [anchors.hits, anchors.possible]),
}

/** Condition: participation in the FDC. */
export const PARTICIPATION_CONDITION: RateCondition = {
  id: 'mc-fdc',
  protocolMinimum: 0.6,
  count: (observation) => {
    const checks = [checkOf(observation, 'bitVote'), checkOf(observation, 'fdcSignature')]
    if (checks.some(({ verdict }) => verdict !== 'good' && verdict !== 'bad')) return undefined
    return [checks.every(({ verdict }) => verdict === 'good') ? 1 : 0, 1]
  },
}

/** The protocol's minimum of the validators' uptime. */
export const UPTIME_MINIMUM = 0.8

/** Minimal condition: prices close to the median. */
export const mcAnchor = rateSignal(ANCHOR_CONDITION, 0.76)

/** Minimal condition: participation in the FDC. */
export const mcFdc = rateSignal(PARTICIPATION_CONDITION, 0.74)

const NodesState = z.object({
  /** For each node and round: number of connected polls, and of all polls, oldest first. */
  kept: z.record(z.string(), Counts),
  isLow: z.boolean(),
})
type NodesState = z.output<typeof NodesState>

/** `data` of `mc-uptime`: the worst node. */
const Uptime = z.object({
  provider: Address,
  nodeId: z.string(),
  rate: z.number(),
  threshold: z.number(),
  protocolMinimum: z.number(),
  polls: z.int(),
})

/** Fires while a validator was connected in fewer than 80 % of the polls of the counted rounds. */
function lowUptime(
  previous: NodesState,
  { provider, nodes }: ProviderObservation,
): Evaluation<NodesState> {
  const listed = nodes?.filter(({ isListed, polls }) => isListed && polls > 0) ?? []
  if (listed.length === 0) {
    return { state: previous, phase: previous.isLow ? 'firing' : 'unknown', firings: [] }
  }
  const kept = Object.fromEntries(
    listed.map(({ nodeId, connectedPolls, polls }) => {
      const before: NodesState['kept'][string] = previous.kept[nodeId] ?? []
      const counts: NodesState['kept'][string] = [...before, [connectedPolls, polls]]
      return [nodeId, counts.slice(-CONDITION_WINDOW_ROUNDS)]
    }),
  )
  const rates = Object.entries(kept).flatMap(([nodeId, counts]) => {
    const polls = counts.reduce((sum, [, polled]) => sum + polled, 0)
    return polls < POLLS_MIN ? [] : [{ nodeId, polls, rate: fulfilledShare(counts) }]
  })
  const worst = rates.toSorted((a, b) => a.rate - b.rate)[0]
  if (worst === undefined) {
    return { state: { kept, isLow: previous.isLow }, phase: 'unknown', firings: [] }
  }
  const isLow = worst.rate < MINIMUM
  const protocolMinimum = UPTIME_MINIMUM
  const data = z.encode(Uptime, { ...worst, provider, threshold: MINIMUM, protocolMinimum })
  return { state: { kept, isLow }, ...verdictOf('mc-uptime', isLow, data) }
}

function presentUptime(_event: string, json: JsonObject): Presentation {
  const { provider, nodeId, rate, threshold, protocolMinimum, polls } = Uptime.parse(json)
  return {
    facts: {
      provider: { kind: 'address', address: provider },
      rate: { kind: 'percent', value: rate },
      threshold: { kind: 'percent', value: threshold },
      minimum: { kind: 'percent', value: protocolMinimum },
      polls: { kind: 'number', value: polls },
      node: { kind: 'identifier', value: nodeId },
    },
    fields: ['provider', 'rate', 'minimum', 'node'],
  }
}

const EXAMPLE_NODE = 'NodeID-EPLACd344ouymyJAQYXZBvbmU3NJ6ooeB'
const uptimeExample = {
  provider: PROVIDER_EXAMPLE.provider,
  nodeId: EXAMPLE_NODE,
  rate: 0.74,
  threshold: MINIMUM,
  protocolMinimum: UPTIME_MINIMUM,
  polls: 120,
}

/** Minimal condition: uptime of the validators. */
export const mcUptime = defineSignal<ProviderTarget, unknown, ProviderObservation, NodesState>({
  id: 'mc-uptime',
  group: 'registration',
  events: signalEvents('mc-uptime'),
  state: NodesState,
  data: Uptime.meta({ id: 'UptimeData' }),
  initial: { kept: {}, isLow: false },
  evaluate: (previous, observation) => lowUptime(previous, observation),
  present: presentUptime,
  claim: () => 'p-chain',
  examples: {
    'fsp.mc-uptime': uptimeExample,
    'fsp.mc-uptime.recovered': { ...uptimeExample, rate: 0.81 },
  },
})

const ListedState = z.object({
  /** Nodes that are missing. */
  missing: z.array(z.string()),
})
type ListedState = z.output<typeof ListedState>

/** `data` of `validator-not-listed`. */
const Listing = z.object({
  provider: Address,
  nodeIds: z.array(z.string()),
  listed: z.int(),
  /** Earliest known end of the missing nodes' stakes; only in the alert. */
  stakeEndsAt: Instant.exactOptional(),
})

/** Fires while a node of the provider is not a current validator; recovers when all are. */
function notListed(
  previous: ListedState,
  { provider, nodes }: ProviderObservation,
): Evaluation<ListedState> {
  if (nodes === null || nodes.length === 0) {
    const phase = previous.missing.length > 0 ? 'firing' : 'unknown'
    return { state: previous, phase, firings: [] }
  }
  const gone = nodes.filter(({ isListed }) => !isListed)
  const missing = gone.map(({ nodeId }) => nodeId)
  const listed = nodes.length - missing.length
  if (missing.length === 0) {
    const data = z.encode(Listing, { provider, nodeIds: previous.missing, listed })
    const firing = { event: 'fsp.validator-not-listed.recovered', severity: 'info', data } as const
    return { state: { missing: [] }, phase: 'ok', firings: [firing] }
  }
  const ends = gone.flatMap(({ endsAt }) => endsAt ?? [])
  const data = z.encode(Listing, {
    provider,
    nodeIds: missing,
    listed,
    ...(ends.length > 0 && { stakeEndsAt: new Date(Math.min(...ends) * 1000) }),
  })
  const firing = { event: 'fsp.validator-not-listed', severity: 'critical', data } as const
  return { state: { missing }, phase: 'firing', firings: [firing] }
}

function presentListing(_event: string, json: JsonObject): Presentation {
  const { provider, nodeIds, stakeEndsAt } = Listing.parse(json)
  return {
    facts: {
      provider: { kind: 'address', address: provider },
      node: { kind: 'name', text: nodeIds.join(', ') },
      ...(stakeEndsAt !== undefined && { stakeEnd: { kind: 'instant', at: stakeEndsAt } }),
    },
    fields: ['provider', 'node', ...(stakeEndsAt === undefined ? [] : ['stakeEnd'])],
    count: nodeIds.length,
  }
}

/** A node of the provider is not a current validator. */
export const validatorNotListed = defineSignal<
  ProviderTarget,
  unknown,
  ProviderObservation,
  ListedState
>({
  id: 'validator-not-listed',
  group: 'registration',
  events: signalEvents('validator-not-listed'),
  defaultEnabled: false,
  canBeCritical: true,
  state: ListedState,
  data: Listing.meta({ id: 'ValidatorListingData' }),
  initial: { missing: [] },
  evaluate: (previous, observation) => notListed(previous, observation),
  present: presentListing,
  claim: (json, { block }) => ({ kind: 'listing', block, ...Listing.parse(json) }),
  examples: {
    'fsp.validator-not-listed': {
      provider: PROVIDER_EXAMPLE.provider,
      nodeIds: [EXAMPLE_NODE],
      listed: 1,
      stakeEndsAt: '2026-11-20T12:00:00.000Z',
    },
    'fsp.validator-not-listed.recovered': {
      provider: PROVIDER_EXAMPLE.provider,
      nodeIds: [EXAMPLE_NODE],
      listed: 2,
    },
  },
})

export const CONDITION_SIGNALS = [mcAnchor, mcFdc, mcUptime, validatorNotListed] as const
