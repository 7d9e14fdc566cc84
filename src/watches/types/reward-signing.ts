import { z } from 'zod'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import type { DisplayValues, Presentation } from '#src/kernel/display-values.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { Instant, type JsonObject } from '#src/kernel/units.ts'
import { defineWatchType, type Prefilter } from '../define.ts'
import { defineSignal } from '../signal.ts'
import {
  PROVIDER_FIELDS,
  ProviderTarget,
  providerDisplayValues,
  providerLabel,
  resolveProvider,
} from './provider-target.ts'
import { rewardHistory } from './reward-history.ts'
import {
  endsAlerts,
  evaluateRewardVotes,
  FIRST_ALERT_AFTER_MS,
  ObservedEpoch,
  type ObservedVote,
  REMINDER_AFTER_MS,
  REMINDER_GAP_MS,
  RewardVoteObservation,
  RewardVoteState,
  SigningData,
  voteData,
} from './reward-votes.ts'

/**
 * The last observation, and the earliest time at which a watch fires even if the observation stays the
 * same.
 */
const Summary = z.object({ seen: z.string(), dueAt: Instant.nullable() })
type Summary = z.output<typeof Summary>

const prefilter: Prefilter<Settings, RewardVoteObservation, Summary> = {
  schema: Summary,
  empty: { seen: '', dueAt: null },
  add({ dueAt }, { states }, observation) {
    const stored = states.get('reward-signing')
    const epochs = stored === undefined ? [] : (RewardVoteState.parse(stored).epochs ?? [])
    const due = [
      ...observation.epochs.flatMap(({ endedAt, publishedAt }) => [
        after(endedAt, FIRST_ALERT_AFTER_MS),
        ...(publishedAt === null
          ? []
          : [after(publishedAt, FIRST_ALERT_AFTER_MS), after(publishedAt, REMINDER_AFTER_MS)]),
      ]),
      ...epochs.flatMap(({ openToldAt }) =>
        openToldAt === null ? [] : [after(openToldAt, REMINDER_GAP_MS)],
      ),
    ].filter((time) => time > observation.at)
    // Events that were left for the next observation are due at once.
    const isLeft = stored !== undefined && hasMore(RewardVoteState.parse(stored), observation)
    const others = [...(isLeft ? [observation.at] : []), ...(dueAt === null ? [] : [dueAt])]
    const times = [...due, ...others].map((time) => time.getTime())
    const next = times.length === 0 ? null : new Date(Math.min(...times))
    return { seen: fingerprint(observation), dueAt: next }
  },
  isQuiet: ({ seen, dueAt }, observation) =>
    seen === fingerprint(observation) && (dueAt === null || observation.at < dueAt),
}

function hasMore(state: RewardVoteState, observation: RewardVoteObservation): boolean {
  const later = { ...observation, position: observation.position + 1 }
  return evaluateRewardVotes(state, later).firings.length > 0
}

function after(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms)
}

/** Everything in the observation except the time. */
function fingerprint({ epochs }: RewardVoteObservation): string {
  const votes = epochs.map(({ uptime, rewards, ...epoch }) => ({
    ...z.encode(
      ObservedEpoch.pick({ rewardEpochId: true, endedAt: true, publishedAt: true }),
      epoch,
    ),
    votes: [uptime, rewards].map(({ isKnown, isConcluded, openedAt, signedAt }) => [
      isKnown,
      isConcluded,
      openedAt !== null,
      signedAt !== null,
    ]),
  }))
  return canonicalJson(votes)
}

function presentSigning(event: string, data: JsonObject): Presentation {
  const signing = SigningData.parse(data)
  const { openedAt, publishedAt, concludedAt, signedAt, weightSignedPercent } = signing
  const instants = {
    openSince: signing.vote === 'uptime' ? openedAt : null,
    published: signing.vote === 'rewards' ? publishedAt : null,
    closed: concludedAt,
    signed: signedAt,
  }
  const facts: DisplayValues = {
    provider: { kind: 'address', address: signing.provider },
    epoch: { kind: 'identifier', value: signing.rewardEpochId },
    vote: { kind: 'term', key: `messages:vote.${signing.vote}` },
    ended: { kind: 'instant', at: signing.endedAt },
    ...Object.fromEntries(
      Object.entries(instants).flatMap(([name, at]) =>
        at === null ? [] : [[name, { kind: 'instant', at } as const]],
      ),
    ),
    ...(weightSignedPercent !== null && {
      weightSigned: { kind: 'percent', value: weightSignedPercent / 100 },
    }),
    ...(signing.signedOtherHash && {
      otherHash: { kind: 'term', key: 'messages:vote.otherHash' },
    }),
  }
  const fields =
    event === 'signing.missed'
      ? ['provider', 'vote', 'closed', 'otherHash']
      : ['provider', 'epoch', 'openSince', 'published', 'weightSigned', 'signed']
  return { facts, fields: fields.filter((name) => name in facts) }
}

const example = {
  provider: '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE',
  rewardEpochId: 451,
  endedAt: '2026-11-20T07:00:00.000Z',
  openedAt: '2026-11-20T07:10:12.000Z',
  publishedAt: null,
  concludedAt: null,
  signedAt: null,
  signedOtherHash: false,
  weightSignedPercent: 37.4,
}
const rewardsExample = {
  ...example,
  vote: 'rewards',
  openedAt: '2026-11-20T10:05:00.000Z',
  publishedAt: '2026-11-20T09:40:00.000Z',
}

const rewardSigningSignal = defineSignal<
  ProviderTarget,
  Settings,
  RewardVoteObservation,
  RewardVoteState
>({
  id: 'reward-signing',
  group: 'alerts',
  events: {
    alerts: [
      'signing.uptime-open',
      'signing.rewards-open',
      'signing.rewards-reminder',
      'signing.missed',
    ],
    recovery: 'signing.done',
  },
  canBeCritical: true,
  firesOnce: true,
  episodes: { by: ['rewardEpochId', 'vote'], isOver: endsAlerts },
  state: RewardVoteState,
  data: SigningData.meta({ id: 'RewardSigningData' }),
  initial: { epochs: null, since: null, position: 0 },
  evaluate: evaluateRewardVotes,
  present: presentSigning,
  claim: (json, { event, block }) => {
    const {
      provider,
      rewardEpochId: rewardEpoch,
      vote,
      openedAt,
      ...rest
    } = SigningData.parse(json)
    const about = { provider, rewardEpoch, vote, block, openedAt }
    const isConcluded = event === 'signing.missed'
    const openMs = event === 'signing.rewards-reminder' ? REMINDER_AFTER_MS : FIRST_ALERT_AFTER_MS
    const minutes = isConcluded ? null : openMs / MINUTE_MS
    return { kind: 'vote', ...about, minutes, isConcluded, signedOtherHash: rest.signedOtherHash }
  },
  examples: {
    'signing.uptime-open': { ...example, vote: 'uptime' },
    'signing.rewards-open': rewardsExample,
    'signing.rewards-reminder': { ...rewardsExample, weightSignedPercent: 48.9 },
    'signing.missed': {
      ...rewardsExample,
      concludedAt: '2026-11-20T22:14:00.000Z',
      weightSignedPercent: null,
    },
    'signing.done': {
      ...rewardsExample,
      concludedAt: '2026-11-20T22:14:00.000Z',
      signedAt: '2026-11-20T12:31:00.000Z',
      weightSignedPercent: null,
    },
  },
  ownExample: ({ target, example: typicalData, observation }) => {
    const last = observation?.epochs.at(-1)
    if (last === undefined) return { ...typicalData, provider: target.provider }
    const { vote, publishedAt, concludedAt } = SigningData.parse(typicalData)
    const seen = SigningData.parse(voteData(target.provider, last, vote))
    return z.encode(SigningData, {
      ...seen,
      openedAt: seen.openedAt ?? seen.endedAt,
      publishedAt: seen.publishedAt ?? publishedAt,
      concludedAt,
      signedAt: null,
    })
  },
})

const Settings = z.strictObject({})
type Settings = z.output<typeof Settings>

/** The state of a vote for the provider, in one word. */
function statusOf(vote: ObservedVote | undefined) {
  const word = vote === undefined || !vote.isKnown ? 'unknown' : voteWord(vote)
  return { kind: 'term', key: `bot:term.${word}` } as const
}

function voteWord({ signedAt, isConcluded, openedAt }: ObservedVote): string {
  if (signedAt !== null) return 'signed'
  if (isConcluded) return 'missed'
  return openedAt === null ? 'notOpen' : 'open'
}

/** Watch type of a provider's votes on uptime and rewards. */
export const rewardSigning = defineWatchType<
  ProviderTarget,
  Settings,
  RewardVoteObservation,
  unknown,
  Summary
>({
  name: 'reward-signing',
  target: ProviderTarget,
  settings: Settings,
  observation: RewardVoteObservation,
  everySeconds: 60,
  async observe({ facts, fence }, requests, { upTo }, signal) {
    const voters = requests.map(({ target }) => target.provider)
    const votesOfProviders = await facts.votes(voters, upTo, signal, fence)
    return requests.map(({ target }, index) => {
      const votes = votesOfProviders[index]
      if (votes === undefined) return undefined
      const { rewardEpochId, epochs } = votes
      return [{ position: upTo.number, at: upTo.at, ...target, rewardEpochId, epochs: [...epochs] }]
    })
  },
  check: async () => [],
  resolve: resolveProvider,
  defaultLabel: providerLabel,
  form: {
    icon: '✍️',
    target: PROVIDER_FIELDS,
    settings: [],
    facts: ({ target, observation }) => {
      const last = observation?.epochs.at(-1)
      return {
        ...providerDisplayValues(target.provider),
        ...(observation && {
          epoch: { kind: 'identifier', value: last?.rewardEpochId ?? observation.rewardEpochId },
          uptime: statusOf(last?.uptime),
          rewards: statusOf(last?.rewards),
        }),
      }
    },
  },
  history: rewardHistory,
  prefilter: prefilter,
  signals: [rewardSigningSignal],
})
