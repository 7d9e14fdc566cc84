import { z } from 'zod'
import type { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import {
  defineSignal,
  type Evaluation,
  type Firing,
  type Parameter,
  type ParameterValues,
} from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { signalEvents } from './events.ts'
import { PROVIDER_EXAMPLE } from './round-examples.ts'

/** Minutes from the opening of registration to the alert. */
const MINUTES: Parameter = {
  key: 'minutes',
  type: 'integer',
  unit: 'minutes',
  default: 15,
  min: 1,
  max: 1440,
  step: 1,
}

const RegistrationState = z.object({
  /** The last reward epoch without registration; null while there is none. */
  missingFor: z.int().nullable(),
})
type RegistrationState = z.output<typeof RegistrationState>

/** `data` of both events of `registration`. */
const Registration = z.object({
  provider: Address,
  rewardEpochId: z.int(),
  openedAt: Instant,
  closesAtEarliest: Instant,
  minutes: z.int(),
  isClosed: z.boolean(),
  preRegistered: z.boolean().nullable(),
  preRegistrationFailed: z.boolean(),
  /** Time at which a contract of voting moved, in the last two reward epochs: the client is probably an old one. */
  contractsMovedAt: Instant.exactOptional(),
})

/**
 * Fires once per reward epoch when registration is still missing `minutes` after it opened, at the latest
 * when the signing policy is fixed; recovers when the provider is registered for that epoch or a later one.
 * Registration for the epoch in force does not matter.
 */
function registrationMissing(
  previous: RegistrationState,
  { provider, at, registration: part }: ProviderObservation,
  parameters: ParameterValues,
): Evaluation<RegistrationState> {
  const isOpen = previous.missingFor !== null
  if (part === null) {
    return { state: previous, phase: isOpen ? 'firing' : 'unknown', firings: [] }
  }
  const minutes = Number(parameters['minutes'])
  const data = z.encode(Registration, {
    provider,
    rewardEpochId: part.epoch,
    openedAt: new Date(part.openedAt * 1000),
    closesAtEarliest: new Date(part.closesAtEarliest * 1000),
    minutes,
    isClosed: part.isClosed,
    preRegistered: part.preRegistered,
    preRegistrationFailed: part.preRegistrationFailed,
    ...(part.contractsMovedAt !== undefined && {
      contractsMovedAt: new Date(part.contractsMovedAt * 1000),
    }),
  })
  const isNotified = previous.missingFor !== null && previous.missingFor >= part.epoch
  if (part.isRegistered) {
    // The round was read late: it is about an earlier epoch than the one for which registration was
    // missing.
    if (isOpen && (previous.missingFor ?? 0) > part.epoch) {
      return { state: previous, phase: 'firing', firings: [] }
    }
    const firing = { event: 'fsp.registration.recovered', severity: 'info', data } as const
    return { state: { missingFor: null }, phase: 'ok', firings: [firing] }
  }
  const isDue = at.getTime() / 1000 >= part.openedAt + minutes * 60
  if (isNotified || !(isDue || part.isClosed)) {
    return { state: previous, phase: isOpen ? 'firing' : 'pending', firings: [] }
  }
  const firing = { event: 'fsp.registration', severity: 'critical', data } as const
  return { state: { missingFor: part.epoch }, phase: 'firing', firings: [firing] }
}

/**
 * Whether a recovery ends the episode of a reward epoch: the provider registered for that epoch or a later
 * one.
 */
function isRegisteredSince(recovery: JsonObject, { data }: Pick<Firing, 'data'>): boolean {
  return Registration.parse(recovery).rewardEpochId >= Registration.parse(data).rewardEpochId
}

function presentRegistration(event: string, json: JsonObject): Presentation {
  const data = Registration.parse(json)
  const isOldClient = data.contractsMovedAt !== undefined && event === 'fsp.registration'
  return {
    facts: {
      provider: { kind: 'address', address: data.provider },
      epoch: { kind: 'identifier', value: data.rewardEpochId },
      opened: { kind: 'instant', at: data.openedAt },
      closes: { kind: 'instant', at: data.closesAtEarliest },
      ...(data.contractsMovedAt && { moved: { kind: 'instant', at: data.contractsMovedAt } }),
    },
    fields: ['provider', 'epoch', 'opened', 'closes'],
    ...(isOldClient && { advice: 'old-client' }),
  }
}

const registrationExample = {
  provider: PROVIDER_EXAMPLE.provider,
  rewardEpochId: 453,
  openedAt: '2026-11-23T05:02:30.000Z',
  closesAtEarliest: '2026-11-23T05:32:30.000Z',
  minutes: 15,
  isClosed: false,
  preRegistered: false,
  preRegistrationFailed: false,
}

/** Registration for the next reward epoch. */
export const registration = defineSignal<
  ProviderTarget,
  unknown,
  ProviderObservation,
  RegistrationState
>({
  id: 'registration',
  group: 'registration',
  events: signalEvents('registration'),
  parameters: [MINUTES],
  // Every observation is judged, also those between two round ends.
  judges: () => true,
  canBeCritical: true,
  firesOnce: true,
  episodes: { by: ['rewardEpochId'], isOver: isRegisteredSince },
  state: RegistrationState,
  data: Registration.meta({ id: 'RegistrationData' }),
  initial: { missingFor: null },
  evaluate: (previous, observation, { parameters }) =>
    registrationMissing(previous, observation, parameters),
  present: presentRegistration,
  claim: (json, { block }) => {
    const { provider, rewardEpochId, openedAt, minutes, isClosed } = Registration.parse(json)
    const about = { provider, rewardEpoch: rewardEpochId, block }
    return { kind: 'registration', ...about, openedAt, minutes, isClosed }
  },
  examples: {
    'fsp.registration': registrationExample,
    'fsp.registration.recovered': registrationExample,
  },
})

const PolicyState = z.object({
  /** Reward epoch whose policy lacks the provider; null while no policy does. */
  absentFrom: z.int().nullable(),
})
type PolicyState = z.output<typeof PolicyState>

/** `data` of both events of `not-in-policy`. */
const Membership = z.object({
  provider: Address,
  rewardEpochId: z.int(),
  startVotingRoundId: z.int(),
  voters: z.int(),
  /** Start of the epoch. */
  startsAt: Instant,
  /** Whether the epoch has already begun. */
  active: z.boolean(),
})

/**
 * Fires when the signing policy in force, or the next one once it is fixed, lacks the provider; recovers
 * with a policy that contains it. Judges the first policy, too.
 */
function notInSigningPolicy(
  previous: PolicyState,
  { provider, policy }: ProviderObservation,
): Evaluation<PolicyState> {
  if (policy === null) {
    const phase = previous.absentFrom === null ? 'unknown' : 'firing'
    return { state: previous, phase, firings: [] }
  }
  const { current, next } = policy
  const last = next ?? current
  if (last.isMember && previous.absentFrom === null) {
    return { state: previous, phase: 'ok', firings: [] }
  }
  // The newest policy decides, because it applies next.
  const data = z.encode(Membership, {
    provider,
    rewardEpochId: last.epoch,
    startVotingRoundId: last.startRound,
    voters: last.voters,
    startsAt: new Date(last.startsAt * 1000),
    active: next === null,
  })
  if (last.isMember) {
    const firing = { event: 'fsp.not-in-policy.recovered', severity: 'info', data } as const
    return { state: { absentFrom: null }, phase: 'ok', firings: [firing] }
  }
  const firing = { event: 'fsp.not-in-policy', severity: 'critical', data } as const
  return { state: { absentFrom: last.epoch }, phase: 'firing', firings: [firing] }
}

function presentMembership(_event: string, json: JsonObject): Presentation {
  const data = Membership.parse(json)
  return {
    facts: {
      provider: { kind: 'address', address: data.provider },
      epoch: { kind: 'identifier', value: data.rewardEpochId },
      starts: { kind: 'instant', at: data.startsAt },
      round: { kind: 'identifier', value: data.startVotingRoundId },
    },
    fields: ['provider', 'epoch', 'starts'],
  }
}

const membershipExample = {
  provider: PROVIDER_EXAMPLE.provider,
  rewardEpochId: 453,
  startVotingRoundId: 1_522_080,
  voters: 98,
  startsAt: '2026-11-23T07:00:00.000Z',
  active: false,
}

/** The provider is missing in a signing policy. */
export const notInPolicy = defineSignal<ProviderTarget, unknown, ProviderObservation, PolicyState>({
  id: 'not-in-policy',
  group: 'registration',
  events: signalEvents('not-in-policy'),
  canBeCritical: true,
  state: PolicyState,
  data: Membership.meta({ id: 'PolicyMembershipData' }),
  initial: { absentFrom: null },
  evaluate: (previous, observation) => notInSigningPolicy(previous, observation),
  present: presentMembership,
  claim: (json) => {
    const { provider, rewardEpochId, voters, startVotingRoundId } = Membership.parse(json)
    const about = { provider, rewardEpoch: rewardEpochId }
    return { kind: 'membership', ...about, voters, startRound: startVotingRoundId }
  },
  examples: {
    'fsp.not-in-policy': membershipExample,
    'fsp.not-in-policy.recovered': { ...membershipExample, rewardEpochId: 454 },
  },
})

export const REGISTRATION_SIGNALS = [registration, notInPolicy] as const
