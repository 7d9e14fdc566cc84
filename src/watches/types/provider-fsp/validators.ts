import { z } from 'zod'
import type { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import { defineSignal, type Evaluation } from '../../signal.ts'
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

export const VALIDATOR_SIGNALS = [validatorNotListed] as const
