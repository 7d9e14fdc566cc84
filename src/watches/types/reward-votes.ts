import { z } from 'zod'
import type { Severity } from '#src/kernel/display-values.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import type { Evaluation, Firing } from '../signal.ts'

/** Time from the end of the epoch, or the publication of its rewards, to the first alert. */
export const FIRST_ALERT_AFTER_MS = 2 * HOUR_MS
/** Time from the publication to the reminder. */
export const REMINDER_AFTER_MS = 12 * HOUR_MS
/** Least time between the first alert and the reminder, if the alert was late. */
export const REMINDER_GAP_MS = REMINDER_AFTER_MS - FIRST_ALERT_AFTER_MS

const KINDS = ['uptime', 'rewards'] as const
type Kind = (typeof KINDS)[number]

/** One vote on an epoch: its times, and whether the provider signed. */
const ObservedVote = z.object({
  openedAt: Instant.nullable(),
  concludedAt: Instant.nullable(),
  isConcluded: z.boolean(),
  signedAt: Instant.nullable(),
  /** The first signature of any result. */
  firstSignedAt: Instant.nullable(),
  signedOther: z.boolean(),
  /** False if it is unknown whether the provider signed. */
  isKnown: z.boolean(),
  weightSigned: z.number().nullable(),
})
export type ObservedVote = z.output<typeof ObservedVote>

/** An ended epoch with its votes. */
export const ObservedEpoch = z.object({
  rewardEpochId: z.int(),
  endedAt: Instant,
  publishedAt: Instant.nullable(),
  uptime: ObservedVote,
  rewards: ObservedVote,
})
export type ObservedEpoch = z.output<typeof ObservedEpoch>

/** Observation of a provider's votes. */
export const RewardVoteObservation = z.object({
  position: z.int(),
  at: Instant,
  provider: Address,
  /** The reward epoch in force. */
  rewardEpochId: z.int(),
  /** The last ended epochs in which the provider was registered, oldest first. */
  epochs: z.array(ObservedEpoch),
})
export type RewardVoteObservation = z.output<typeof RewardVoteObservation>

/**
 * Notification stage of one vote. `over`: no more events, because the vote was concluded before the first
 * observation, or was missed and a later vote of its kind is signed. `signed`: concluded with the signature.
 */
const Stage = z.enum(['waiting', 'open', 'reminded', 'missed', 'signed', 'over'])
type Stage = z.output<typeof Stage>
/** Stages with an alert that no signature has ended. */
const ALERTED: readonly Stage[] = ['open', 'reminded', 'missed']

const EpochState = z.object({
  rewardEpochId: z.int(),
  uptime: Stage,
  rewards: Stage,
  /** Time of the alert about the open vote on rewards. */
  openToldAt: Instant.nullable(),
})
type EpochState = z.output<typeof EpochState>

/** State between observations. */
export const RewardVoteState = z.object({
  /** Epochs by id; null before the first observation. */
  epochs: z.array(EpochState).nullable(),
  /** Time of the first observation; null before it. */
  since: Instant.nullable(),
  /** The last judged block. No block is judged twice; remaining events follow with a later block. */
  position: z.int(),
})
export type RewardVoteState = z.output<typeof RewardVoteState>

/** `data` of all five events. */
export const SigningData = z.object({
  provider: Address,
  rewardEpochId: z.int(),
  vote: z.enum(KINDS),
  endedAt: Instant,
  openedAt: Instant.nullable(),
  publishedAt: Instant.nullable(),
  concludedAt: Instant.nullable(),
  signedAt: Instant.nullable(),
  signedOtherHash: z.boolean(),
  /** Percentage of the weight of all voters; null where the weight was not counted. */
  weightSignedPercent: z.number().nullable(),
})

/**
 * Fires for votes on ended epochs that the provider has not signed: two hours after the end (uptime) or
 * after the publication (rewards), again twelve hours after the publication, and when a vote is concluded
 * without the signature. Recovers when a vote is concluded with each signature that ends alerts, see `endsAlerts`.
 *
 * Votes concluded before the first observation do not fire. One observation raises either one recovery or
 * alerts, one of each event; further events follow with the next observation.
 */
export function evaluateRewardVotes(
  previous: RewardVoteState,
  observation: RewardVoteObservation,
): Evaluation<RewardVoteState> {
  const { at, position } = observation
  const isFirst = previous.epochs === null
  const before = previous.epochs ?? []
  const since = isFirst ? at : previous.since
  if (!isFirst && position <= previous.position) {
    return { state: previous, phase: phaseOf(before), firings: [] }
  }
  const answer = findAnswer(before, observation)
  if (answer !== undefined) {
    const epochs = merge(before, answered(before, answer))
    const data = voteData(observation.provider, answer.epoch, answer.kind)
    const firing = { event: 'signing.done', severity: 'info', data } as const
    return { state: { epochs, since, position }, phase: phaseOf(epochs), firings: [firing] }
  }
  const events = new Set<string>()
  const steps = observation.epochs.map((epoch) => {
    const state = before.find((state) => state.rewardEpochId === epoch.rewardEpochId)
    return stepEpoch(state, epoch, { at, since, isFirst, events })
  })
  const state = steps.map((step) => step.state)
  const epochs = merge(before, state)
  return {
    state: { epochs, since, position },
    phase: phaseOf(epochs),
    firings: steps
      .flatMap((step) => step.alerts)
      .map(({ event, kind, epoch }): Firing => {
        const data = voteData(observation.provider, epoch, kind)
        return { event, severity: severityOf(event), data }
      }),
  }
}

/**
 * Whether a signature ends the alerts of a vote. It must be a signature of this vote or, if the vote was
 * missed, of a later vote of the same kind.
 *
 * @param last the last of the vote's alerts
 */
export function endsAlerts(signature: JsonObject, last: Pick<Firing, 'event' | 'data'>): boolean {
  const [signed, alerted] = [SigningData.parse(signature), SigningData.parse(last.data)]
  if (signed.vote !== alerted.vote) return false
  if (signed.rewardEpochId === alerted.rewardEpochId) return true
  return last.event === 'signing.missed' && alerted.rewardEpochId < signed.rewardEpochId
}

function phaseOf(epochs: readonly EpochState[]): 'firing' | 'ok' {
  const isAlerted = (state: EpochState) => KINDS.some((kind) => ALERTED.includes(state[kind]))
  return epochs.some(isAlerted) ? 'firing' : 'ok'
}

/** The first vote that was concluded with the signature since, and ends alerts. */
function findAnswer(
  before: readonly EpochState[],
  observation: RewardVoteObservation,
): Signed | undefined {
  const signed = observation.epochs.flatMap((epoch) => {
    const state =
      before.find((state) => state.rewardEpochId === epoch.rewardEpochId) ?? newEpochState(epoch)
    const isNew = (kind: Kind) => {
      const next = nextStage(state[kind], epoch[kind], false, (stage) => stage)
      return next === 'signed' && state[kind] !== 'signed'
    }
    return KINDS.filter(isNew).map((kind) => ({ kind, epoch }))
  })
  return signed.find((vote) => before.some((state) => endsWith(state, vote)))
}

/**
 * Whether a signature ends alerts about an epoch.
 * @see endsAlerts
 */
function endsWith(state: EpochState, { kind, epoch }: Signed): boolean {
  const stage = state[kind]
  if (state.rewardEpochId === epoch.rewardEpochId) return ALERTED.includes(stage)
  return stage === 'missed' && state.rewardEpochId < epoch.rewardEpochId
}

/** The epochs that a signature changes. */
function answered(before: readonly EpochState[], signed: Signed): readonly EpochState[] {
  const { kind, epoch } = signed
  const signedEpoch =
    before.find((state) => state.rewardEpochId === epoch.rewardEpochId) ?? newEpochState(epoch)
  const missed = before.filter((state) => state !== signedEpoch && endsWith(state, signed))
  return [
    ...missed.map((state) => ({ ...state, [kind]: 'over' as const })),
    { ...signedEpoch, [kind]: 'signed' },
  ]
}

function merge(before: readonly EpochState[], changed: readonly EpochState[]): EpochState[] {
  const byEpoch = new Map([...before, ...changed].map((state) => [state.rewardEpochId, state]))
  return [...byEpoch.values()]
    .toSorted((a, b) => a.rewardEpochId - b.rewardEpochId)
    .slice(-EPOCHS_KEPT)
}

function newEpochState({ rewardEpochId }: ObservedEpoch): EpochState {
  return { rewardEpochId, uptime: 'waiting', rewards: 'waiting', openToldAt: null }
}

/**
 * Number of epochs in the state. More than are observed, so that an epoch whose data is missing for a while
 * does not count as new later.
 */
const EPOCHS_KEPT = 4

interface Signed {
  readonly kind: Kind
  readonly epoch: ObservedEpoch
}

interface Step {
  readonly state: EpochState
  readonly alerts: readonly (Signed & { readonly event: string })[]
}

/**
 * Advances the state of one epoch.
 *
 * @param events collects the events of this observation: each event once; the rest follows with the next
 * observation
 */
function stepEpoch(
  before: EpochState | undefined,
  epoch: ObservedEpoch,
  {
    at,
    since: firstAt,
    isFirst,
    events,
  }: { at: Date; since: Date | null; isFirst: boolean; events: Set<string> },
): Step {
  const { endedAt, publishedAt } = epoch
  const state = before ?? newEpochState(epoch)
  const inTurn = (kind: Kind, stage: Stage): Stage => {
    const event = stage === state[kind] ? undefined : eventOf(kind, stage)
    if (event === undefined) return stage
    if (events.has(event)) return state[kind]
    events.add(event)
    return stage
  }
  const isPast = (kind: Kind) =>
    isFirst || wasConcluded(epoch, kind, { firstAt, isKnown: before !== undefined })
  const nextUptime = nextStage(state.uptime, epoch.uptime, isPast('uptime'), (stage) =>
    stage === 'waiting' &&
    epoch.uptime.openedAt !== null &&
    since(endedAt, at) >= FIRST_ALERT_AFTER_MS
      ? 'open'
      : stage,
  )
  const nextRewards = nextStage(state.rewards, epoch.rewards, isPast('rewards'), (stage) => {
    // Before the uptime vote is concluded rewards cannot be signed.
    if (publishedAt === null || !epoch.uptime.isConcluded) return stage
    if (stage === 'waiting') return since(publishedAt, at) >= FIRST_ALERT_AFTER_MS ? 'open' : stage
    if (stage !== 'open' || state.openToldAt === null) return stage
    const isDue =
      since(publishedAt, at) >= REMINDER_AFTER_MS && since(state.openToldAt, at) >= REMINDER_GAP_MS
    return isDue ? 'reminded' : stage
  })
  const uptime = inTurn('uptime', nextUptime)
  const rewards = inTurn('rewards', nextRewards)
  const changed = [
    { kind: 'uptime', from: state.uptime, to: uptime } as const,
    { kind: 'rewards', from: state.rewards, to: rewards } as const,
  ].filter(({ from, to }) => from !== to)
  return {
    state: {
      rewardEpochId: state.rewardEpochId,
      uptime,
      rewards,
      openToldAt: rewards === 'open' && state.rewards !== 'open' ? at : state.openToldAt,
    },
    alerts: changed.flatMap(({ kind, to }) => {
      const event = eventOf(kind, to)
      return event === undefined ? [] : [{ kind, epoch, event }]
    }),
  }
}

/** Whether a vote was concluded before the first observation, even if it could not be read then. */
function wasConcluded(
  epoch: ObservedEpoch,
  kind: Kind,
  { firstAt, isKnown }: { readonly firstAt: Date | null; readonly isKnown: boolean },
): boolean {
  if (firstAt === null) return false
  const { concludedAt } = epoch[kind]
  if (concludedAt !== null) return concludedAt <= firstAt
  // The end of an uptime vote is not always known. A vote counts as past if its epoch ended before the
  // first observation and the vote was never seen open.
  return !isKnown && epoch.endedAt <= firstAt
}

function nextStage(
  stage: Stage,
  vote: ObservedVote,
  isPast: boolean,
  whileOpen: (stage: Stage) => Stage,
): Stage {
  if (!vote.isKnown || stage === 'missed' || stage === 'over') return stage
  // A signature of an open vote stops its alerts. It counts when its result has won: another one may still win.
  if (!vote.isConcluded) return vote.signedAt === null ? whileOpen(stage) : stage
  if (vote.signedAt !== null) return 'signed'
  return isPast ? 'over' : 'missed'
}

function eventOf(kind: Kind, stage: Stage): string | undefined {
  if (stage === 'missed') return 'signing.missed'
  if (stage === 'reminded') return 'signing.rewards-reminder'
  return stage === 'open' ? `signing.${kind}-open` : undefined
}

function severityOf(event: string): Severity {
  return event === 'signing.missed' ? 'critical' : 'warning'
}

function since(from: Date, to: Date): number {
  return to.getTime() - from.getTime()
}

/** `data` of an event about a vote. */
export function voteData(provider: Address, epoch: ObservedEpoch, kind: Kind): JsonObject {
  const { rewardEpochId, endedAt, publishedAt } = epoch
  const { openedAt, concludedAt, signedAt, signedOther, weightSigned } = epoch[kind]
  return z.encode(SigningData, {
    provider,
    rewardEpochId,
    vote: kind,
    endedAt,
    openedAt,
    publishedAt,
    concludedAt,
    signedAt,
    signedOtherHash: signedOther,
    weightSignedPercent: weightSigned === null ? null : Math.round(weightSigned * 10_000) / 100,
  })
}
