import { z } from 'zod'
import type { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import type { Presentation, Severity } from '#src/kernel/display-values.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '#src/kernel/durations.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import {
  defineSignal,
  type Evaluation,
  type Parameter,
  type ParameterValues,
} from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { signalEvents } from './events.ts'
import { EXAMPLE_NODE, PROVIDER_EXAMPLE } from './round-examples.ts'

/** Validators of a provider. */

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

/** Days before the end of a stake at which it is announced, besides those of the setting. */
const ANNOUNCED_DAYS = [7, 2] as const
/** Days before the end from which on an announcement is critical, and before which it is for information only. */
const [CRITICAL_DAYS, WARNING_DAYS] = [2, 7]

/** Days before the end of a stake at which it is announced first. */
const DAYS: Parameter = {
  ...{ key: 'days', type: 'integer', unit: 'days' },
  ...{ default: 14, min: 2, max: 60, step: 1 },
}

const StakeState = z.object({
  /** By node: the end that was announced last, epoch seconds, and how many days before it. */
  notified: z.record(z.string(), z.object({ endsAt: z.int(), days: z.int() })),
})
type StakeState = z.output<typeof StakeState>

/** `data` of both events of `stake-end`: the node whose stake ends first. */
const StakeEnd = z.object({
  provider: Address,
  nodeId: z.string(),
  stakeEndsAt: Instant,
  /** Time to the end in whole hours, below one in minutes. */
  secondsLeft: z.int(),
  /** Days before the end of which the announcement is the one; of a recovery those of the setting. */
  days: z.int(),
})

/**
 * Announces the end of a node's stake as many days before as the setting says, then 7 and 2 days before; recovers when
 * each announced node has a stake that ends later, or is no node of the provider any more. A node that has left the list
 * without a new stake stays announced.
 */
function stakeEnding(
  previous: StakeState,
  { provider, nodes, at }: ProviderObservation,
  parameters: ParameterValues,
): Evaluation<StakeState> {
  const wasOpen = Object.keys(previous.notified).length > 0
  if (nodes === null || nodes.length === 0) {
    return { state: previous, phase: wasOpen ? 'firing' : 'unknown', firings: [] }
  }
  const days = Number(parameters['days'])
  const known = nodes.flatMap(({ nodeId, isListed, endsAt }) => {
    if (endsAt === null) return []
    const left = endsAt - at.getTime() / 1000
    const before = previous.notified[nodeId]
    const notified = before?.endsAt === endsAt ? before : undefined
    const due = [days, ...ANNOUNCED_DAYS]
      .filter((one) => one <= days && left > 0 && left <= one * DAY_SECONDS)
      .toSorted((a, b) => a - b)[0]
    const isFirst =
      isListed && due !== undefined && due < (notified?.days ?? Number.POSITIVE_INFINITY)
    return [{ nodeId, endsAt, left, notified, isFirst, due }]
  })
  const dataOf = ({ nodeId, endsAt, left }: (typeof known)[number], ofDays: number) =>
    z.encode(StakeEnd, {
      ...{ provider, nodeId, stakeEndsAt: new Date(endsAt * 1000), days: ofDays },
      secondsLeft: wholeSeconds(left),
    })
  const kept = Object.fromEntries(
    known.flatMap(({ nodeId, notified }) =>
      notified === undefined ? [] : [[nodeId, notified] as const],
    ),
  )
  const [news] = known.filter(({ isFirst }) => isFirst).toSorted((a, b) => a.left - b.left)
  if (news?.due !== undefined) {
    const { nodeId, endsAt, due } = news
    const state = { notified: { ...kept, [nodeId]: { endsAt, days: due } } }
    const severity: Severity =
      due <= CRITICAL_DAYS ? 'critical' : due <= WARNING_DAYS ? 'warning' : 'info'
    const firing = { event: 'fsp.stake-end', severity, data: dataOf(news, due) }
    return { state, phase: 'firing', firings: [firing] }
  }
  const isOpen = Object.keys(kept).length > 0
  // Without the end of any stake, nothing is known of a new one.
  const [first] = known.toSorted((a, b) => a.left - b.left)
  if (isOpen || !wasOpen || first === undefined) {
    const phase = isOpen || wasOpen ? 'firing' : 'ok'
    return { state: isOpen ? { notified: kept } : previous, phase, firings: [] }
  }
  const data = dataOf(first, days)
  const firing = { event: 'fsp.stake-end.recovered', severity: 'info', data } as const
  return { state: { notified: {} }, phase: 'ok', firings: [firing] }
}

/** Seconds in whole hours, below one in minutes. */
function wholeSeconds(seconds: number): number {
  const unit = seconds >= HOUR_SECONDS ? HOUR_SECONDS : 60
  return Math.max(0, Math.floor(seconds / unit) * unit)
}

function presentStakeEnd(_event: string, json: JsonObject): Presentation {
  const { provider, nodeId, stakeEndsAt, secondsLeft } = StakeEnd.parse(json)
  return {
    facts: {
      provider: { kind: 'address', address: provider },
      node: { kind: 'identifier', value: nodeId },
      stakeEnd: { kind: 'instant', at: stakeEndsAt },
      left: { kind: 'duration', seconds: secondsLeft },
    },
    fields: ['node'],
  }
}

const STAKE_EXAMPLE = {
  provider: PROVIDER_EXAMPLE.provider,
  nodeId: EXAMPLE_NODE,
  stakeEndsAt: '2026-11-27T10:00:00.000Z',
  secondsLeft: 6 * DAY_SECONDS + 22 * HOUR_SECONDS,
  days: 7,
}

/** The stake of a node ends soon. */
export const stakeEnd = defineSignal<ProviderTarget, unknown, ProviderObservation, StakeState>({
  id: 'stake-end',
  group: 'registration',
  events: signalEvents('stake-end'),
  parameters: [DAYS],
  canBeCritical: true,
  firesOnce: true,
  state: StakeState,
  data: StakeEnd.meta({ id: 'StakeEndData' }),
  initial: { notified: {} },
  evaluate: (previous, observation, { parameters }) =>
    stakeEnding(previous, observation, parameters),
  present: presentStakeEnd,
  // The end of a stake is on the P-chain, which gives it for the validators of now only.
  claim: () => 'other',
  examples: {
    'fsp.stake-end': STAKE_EXAMPLE,
    'fsp.stake-end.recovered': {
      ...STAKE_EXAMPLE,
      ...{ stakeEndsAt: '2027-05-20T10:00:00.000Z', secondsLeft: 180 * DAY_SECONDS, days: 14 },
    },
  },
})

export const VALIDATOR_SIGNALS = [stakeEnd, validatorNotListed] as const
