import { z } from 'zod'
import type { Severity } from '#src/kernel/facts.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import type { Evaluation, Firing } from '../define.ts'

const HOUR_MS = 3_600_000
/** From the end of the epoch, or the publication of its rewards, to the first alert. */
export const OPEN_MS = 2 * HOUR_MS
/** From the publication to the reminder. */
export const REMINDER_MS = 12 * HOUR_MS
/** The reminder comes so long after the first alert at least, if that was late. */
export const AFTER_OPEN_MS = REMINDER_MS - OPEN_MS

const KINDS = ['uptime', 'rewards'] as const
type Kind = (typeof KINDS)[number]

/** One vote on an epoch, as the provider has a part in it. */
const Vote = z.object({
  openedAt: Instant.nullable(),
  concludedAt: Instant.nullable(),
  isConcluded: z.boolean(),
  signedAt: Instant.nullable(),
  signedOther: z.boolean(),
  /** False: nothing can be said of the signature. */
  isKnown: z.boolean(),
  weightSigned: z.number().nullable(),
})
export type Vote = z.output<typeof Vote>

/** An ended epoch with its votes. */
export const Epoch = z.object({
  rewardEpochId: z.int(),
  endedAt: Instant,
  publishedAt: Instant.nullable(),
  uptime: Vote,
  rewards: Vote,
})
type Epoch = z.output<typeof Epoch>

/** What is seen of a provider's votes. */
export const Observation = z.object({
  position: z.int(),
  at: Instant,
  provider: Address,
  /** The reward epoch in force. */
  rewardEpochId: z.int(),
  /** The epochs that ended last and in which the provider was registered, oldest first. */
  epochs: z.array(Epoch),
})
export type Observation = z.output<typeof Observation>

/** How far one vote has been told. `over`: it was concluded before the first look. */
const Stage = z.enum(['waiting', 'open', 'reminded', 'missed', 'signed', 'over'])
type Stage = z.output<typeof Stage>

const Told = z.object({
  rewardEpochId: z.int(),
  uptime: Stage,
  rewards: Stage,
  /** When the open vote on rewards was told. */
  openToldAt: Instant.nullable(),
})
type Told = z.output<typeof Told>

/** What is kept between looks. */
export const State = z.object({
  /** null before the first look. */
  epochs: z.array(Told).nullable(),
  /** The last block judged: none is judged twice, as what is left comes with a later one. */
  position: z.int(),
  /** Kinds of votes with an alert since the last signature that answered one. */
  alerted: z.array(z.enum(KINDS)),
})
export type State = z.output<typeof State>

/** `data` of all five events. */
export const Signing = z.object({
  provider: Address,
  rewardEpochId: z.int(),
  vote: z.enum(KINDS),
  endedAt: Instant,
  openedAt: Instant.nullable(),
  publishedAt: Instant.nullable(),
  concludedAt: Instant.nullable(),
  signedAt: Instant.nullable(),
  signedOtherHash: z.boolean(),
  /** Of the weight of all voters; null where it was not counted. */
  weightSignedPercent: z.number().nullable(),
})

/**
 * Tells of votes on ended epochs that the provider has not signed: two hours after the end (uptime) or
 * after the publication (rewards), once more twelve hours after the publication, and when a vote is
 * concluded without the signature. Recovers with the next signature of a kind that was alerted.
 *
 * Votes that were concluded before the first look are not told.
 *
 * @see specification, "Evaluation rules", 5
 */
export function rewardSigningStatus(previous: State, observation: Observation): Evaluation<State> {
  const { at, position } = observation
  const isFirst = previous.epochs === null
  if (!isFirst && position <= previous.position) {
    const phase = previous.alerted.length > 0 ? 'firing' : 'ok'
    return { state: previous, phase, firings: [] }
  }
  const events = new Set<string>()
  const steps = observation.epochs.map((epoch) => {
    const before = previous.epochs?.find((one) => one.rewardEpochId === epoch.rewardEpochId)
    return stepEpoch(before, epoch, { at, isFirst, events })
  })
  const alerts = steps.flatMap((step) => step.alerts)
  const isAnswered = ({ kind }: Signed) => previous.alerted.includes(kind)
  const answer = steps.flatMap((step) => step.signed).find(isAnswered)
  const unanswered = answer === undefined ? previous.alerted : []
  const alerted = [...new Set([...unanswered, ...alerts.map(({ kind }) => kind)])]
  const told = steps.map((step) => step.told)
  const kept = (previous.epochs ?? []).filter(
    (old) => !told.some((one) => one.rewardEpochId === old.rewardEpochId),
  )
  const firing = (event: string, severity: Severity, { kind, epoch }: Signed): Firing => ({
    event,
    severity,
    data: dataOf(observation.provider, epoch, kind),
  })
  return {
    state: { epochs: [...kept, ...told].slice(-EPOCHS_KEPT), position, alerted },
    phase: alerted.length > 0 ? 'firing' : 'ok',
    firings: [
      ...(answer === undefined ? [] : [firing('signing.done', 'info', answer)]),
      ...alerts.map((alert) => firing(alert.event, severityOf(alert.event), alert)),
    ],
  }
}

/** More than are looked at, so that one whose data is missing for a while is not a new one later. */
const EPOCHS_KEPT = 4

interface Signed {
  readonly kind: Kind
  readonly epoch: Epoch
}

interface Step {
  readonly told: Told
  readonly alerts: readonly (Signed & { readonly event: string })[]
  readonly signed: readonly Signed[]
}

/**
 * How one epoch goes on.
 *
 * @param events those of this look: each comes once in a look, what is left comes with the next
 */
function stepEpoch(
  before: Told | undefined,
  epoch: Epoch,
  { at, isFirst, events }: { at: Date; isFirst: boolean; events: Set<string> },
): Step {
  const { rewardEpochId, endedAt, publishedAt } = epoch
  const told = before ?? {
    rewardEpochId,
    uptime: 'waiting',
    rewards: 'waiting',
    openToldAt: null,
  }
  const inTurn = (kind: Kind, stage: Stage): Stage => {
    const event = stage === told[kind] ? undefined : eventOf(kind, stage)
    if (event === undefined) return stage
    if (events.has(event)) return told[kind]
    events.add(event)
    return stage
  }
  const nextUptime = nextStage(told.uptime, epoch.uptime, isFirst, (stage) =>
    stage === 'waiting' && epoch.uptime.openedAt !== null && since(endedAt, at) >= OPEN_MS
      ? 'open'
      : stage,
  )
  const nextRewards = nextStage(told.rewards, epoch.rewards, isFirst, (stage) => {
    // Before the uptime vote is concluded nobody can sign rewards.
    if (publishedAt === null || !epoch.uptime.isConcluded) return stage
    if (stage === 'waiting') return since(publishedAt, at) >= OPEN_MS ? 'open' : stage
    if (stage !== 'open' || told.openToldAt === null) return stage
    const isDue =
      since(publishedAt, at) >= REMINDER_MS && since(told.openToldAt, at) >= AFTER_OPEN_MS
    return isDue ? 'reminded' : stage
  })
  const uptime = inTurn('uptime', nextUptime)
  const rewards = inTurn('rewards', nextRewards)
  const changed = [
    { kind: 'uptime', from: told.uptime, to: uptime } as const,
    { kind: 'rewards', from: told.rewards, to: rewards } as const,
  ].filter(({ from, to }) => from !== to)
  return {
    told: {
      rewardEpochId,
      uptime,
      rewards,
      openToldAt: rewards === 'open' && told.rewards !== 'open' ? at : told.openToldAt,
    },
    alerts: changed.flatMap(({ kind, to }) => {
      const event = eventOf(kind, to)
      return event === undefined ? [] : [{ kind, epoch, event }]
    }),
    signed: changed.flatMap(({ kind, to }) => (to === 'signed' ? [{ kind, epoch }] : [])),
  }
}

function nextStage(
  stage: Stage,
  vote: Vote,
  isFirst: boolean,
  whileOpen: (stage: Stage) => Stage,
): Stage {
  if (!vote.isKnown || stage === 'missed' || stage === 'over') return stage
  if (vote.signedAt !== null) return 'signed'
  if (vote.isConcluded) return isFirst ? 'over' : 'missed'
  return stage === 'signed' ? stage : whileOpen(stage)
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

function dataOf(provider: Address, epoch: Epoch, kind: Kind): JsonObject {
  const { rewardEpochId, endedAt, publishedAt } = epoch
  const { openedAt, concludedAt, signedAt, signedOther, weightSigned } = epoch[kind]
  return z.encode(Signing, {
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
