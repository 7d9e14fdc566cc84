import { z } from 'zod'
import type { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import type { DisplayValue, Presentation, Severity } from '#src/kernel/display-values.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import type { ClaimBuilder } from '../../evidence-model.ts'
import {
  defineSignal,
  type Evaluation,
  type Parameter,
  type ParameterValues,
} from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import {
  type Budget,
  type BudgetRule,
  type Burning,
  budgetOf,
  burningOf,
  type CountedCases,
  endOfBudget,
  isCalm,
  Mark,
  marksAfter,
  STAGES,
  type Stage,
  stageOf,
  unknownRounds,
} from './budget.ts'
import { signalEvents } from './events.ts'
import { EXAMPLE_NODE, PROVIDER_EXAMPLE } from './round-examples.ts'

/**
 * The minimal conditions of a reward epoch, each counted as an error budget: an alert says how much of it is used, and
 * whether it lasts.
 */

/** Length of a voting round on all of Flare's chains. */
const ROUND_SECONDS = 90
/** Share of the weight below which the protocol requires no fast updates. */
const UPDATES_WEIGHT_MIN = 0.002

/** A minimal condition. */
export interface Condition extends BudgetRule {
  readonly id: 'mc-anchor' | 'mc-fdc' | 'mc-fast-updates' | 'mc-uptime'
  /** Counts of the reward epoch by what is counted: by validator, or one under an empty name. */
  count(observation: ProviderObservation): Readonly<Record<string, CountedCases>>
}

/** Condition: prices close to the median. */
const ANCHOR: Condition = {
  ...{ id: 'mc-anchor', minimum: 0.8, isOneARound: false, isDrawn: false },
  count: ({ epoch }) => (epoch === undefined ? {} : { '': epoch.anchors }),
}

/** Condition: participation in the FDC. */
const PARTICIPATION: Condition = {
  ...{ id: 'mc-fdc', minimum: 0.6, isOneARound: true, isDrawn: false },
  count: ({ epoch }) => (epoch === undefined ? {} : { '': epoch.fdc }),
}

/** Condition: fast updates, of which each provider is drawn for a number that its weight decides. */
const UPDATES: Condition = {
  ...{ id: 'mc-fast-updates', minimum: 0.8, isOneARound: false, isDrawn: true },
  count: ({ epoch }) => {
    if (epoch === undefined || epoch.weightShare < UPDATES_WEIGHT_MIN) return {}
    const { updates: done, updatesOfAll, weightShare, judged: rounds } = epoch
    return { '': { done, possible: updatesOfAll * weightShare, rounds } }
  },
}

/** Condition: uptime of each validator. */
const UPTIME: Condition = {
  ...{ id: 'mc-uptime', minimum: 0.8, isOneARound: false, isDrawn: false },
  count: ({ nodes }) =>
    Object.fromEntries(
      (nodes ?? []).flatMap(({ nodeId, isListed, epoch }) =>
        epoch === undefined || !isListed
          ? []
          : [[nodeId, { done: epoch.connectedPolls, possible: epoch.polls, rounds: epoch.rounds }]],
      ),
    ),
}

/** The minimal conditions by their names in views. */
export const CONDITIONS = {
  anchor: ANCHOR,
  fdc: PARTICIPATION,
  uptime: UPTIME,
  fastUpdates: UPDATES,
} as const

/** Used percentage of the budget from which on an alert tells that the rest does not last. */
const PERCENT = {
  ...{ key: 'percent', type: 'integer', unit: 'percent' },
  ...{ default: 50, min: 5, max: 80, step: 5 },
} as const satisfies Parameter

const State = z.object({
  /** Reward epoch of the counts; null before the first. */
  rewardEpoch: z.int().nullable(),
  /** The most harmful stage that was told in the reward epoch. */
  notified: z.enum(STAGES).nullable(),
  isLow: z.boolean(),
  /** Marks by what is counted. */
  marks: z.record(z.string(), z.array(Mark)),
})
type State = z.output<typeof State>

const INITIAL: State = { rewardEpoch: null, notified: null, isLow: false, marks: {} }

/** `data` of both events of the minimal conditions. */
const BudgetData = z
  .object({
    provider: Address,
    /** The validator with the least budget; only of `mc-uptime`. */
    nodeId: z.string().exactOptional(),
    rewardEpochId: z.int(),
    votingRoundId: z.int(),
    /** Of a recovery `lasts`. */
    stage: z.enum([...STAGES, 'lasts']),
    /** Used share of the budget. */
    used: z.number(),
    /** Share of the cases so far that were fulfilled, and the share that the protocol requires over the epoch. */
    rate: z.number(),
    protocolMinimum: z.number(),
    /** Rounds with evidence. */
    rounds: z.int(),
    /**
     * Rounds of the epoch so far without evidence, such as those before the service began to read; absent if they are few.
     * Nothing that went wrong in them is in `used`.
     */
    roundsUnknown: z.int().exactOptional(),
    /** Fulfilled cases, and possible ones. */
    done: z.int(),
    possible: z.number(),
    /** Whole rounds that may still go wrong, of those that the epoch has left. */
    roundsToMiss: z.int(),
    roundsLeft: z.int(),
    epochEndsAt: Instant,
    /** End of the budget at the present rate; null if it lasts until the epoch ends. */
    budgetEndsAt: Instant.nullable(),
    /** Seconds over which the rate was counted; null while it is not known. */
    rateSeconds: z.int().nullable(),
  })
  .meta({ id: 'ErrorBudgetData' })

/** What is known of one thing that is counted. */
interface Judged {
  readonly name: string
  readonly counted: CountedCases
  readonly budget: Budget
  readonly burning: Burning | undefined
  readonly stage: Stage | undefined
  readonly marks: Mark[]
}

function rankOf(stage: Stage | null | undefined): number {
  return stage == null ? -1 : STAGES.indexOf(stage)
}

function judge(
  condition: Condition,
  observation: ProviderObservation,
  marks: State['marks'],
  earlyShare: number,
): readonly Judged[] {
  const { epoch, round } = observation
  if (epoch === undefined) return []
  const place = { round, firstRound: epoch.firstRound, endRound: epoch.endRound }
  return Object.entries(condition.count(observation)).flatMap(([name, counted]) => {
    const budget = budgetOf(condition, counted, place)
    if (budget === undefined) return []
    const known = marksAfter(marks[name] ?? [], counted, place)
    const burning = burningOf(condition, known, counted, place)
    const stage = stageOf(condition, budget, burning, counted, earlyShare)
    return [{ name, counted, budget, burning, stage, marks: known }]
  })
}

function dataOf(
  { minimum }: Condition,
  { provider, rewardEpoch, round, startsAt, epoch }: ProviderObservation,
  { name, counted, budget, burning }: Judged,
  stage: Stage | 'lasts',
): JsonObject {
  const timeOf = (of: number) => new Date((startsAt + (of - round) * ROUND_SECONDS) * 1000)
  const endRound = epoch?.endRound ?? round
  const unknown = unknownRounds(counted, {
    round,
    firstRound: epoch?.firstRound ?? round,
    endRound,
  })
  const end = burning && endOfBudget(budget, burning.rate, { round, firstRound: 0, endRound })
  return z.encode(BudgetData, {
    ...{ provider, rewardEpochId: rewardEpoch, votingRoundId: round, stage },
    ...(name !== '' && { nodeId: name }),
    ...{ used: budget.used, rate: Math.min(1, counted.done / counted.possible) },
    ...{ protocolMinimum: minimum, ...counted },
    ...(unknown > 0 && { roundsUnknown: unknown }),
    ...{ roundsToMiss: budget.roundsToMiss, roundsLeft: budget.roundsLeft },
    ...{ epochEndsAt: timeOf(endRound), budgetEndsAt: end === undefined ? null : timeOf(end) },
    rateSeconds: burning === undefined ? null : burning.rounds * ROUND_SECONDS,
  })
}

/**
 * Fires once in a reward epoch at each stage of the budget, and again when it is used too fast after a recovery. Recovers
 * when it is used so slowly that it lasts comfortably, and with the next reward epoch.
 */
function judgeBudget(
  condition: Condition,
  previous: State,
  observation: ProviderObservation,
  parameters: ParameterValues,
): Evaluation<State> {
  const { rewardEpoch } = observation
  const isSame = previous.rewardEpoch === rewardEpoch
  const before = isSame ? previous : { ...INITIAL, rewardEpoch, isLow: previous.isLow }
  const all = judge(condition, observation, before.marks, Number(parameters['percent']) / 100)
  const [worst] = all.toSorted(
    (a, b) => rankOf(b.stage) - rankOf(a.stage) || b.budget.used - a.budget.used,
  )
  if (worst === undefined) {
    return { state: previous, phase: previous.isLow ? 'firing' : 'unknown', firings: [] }
  }
  const marks = Object.fromEntries(all.map(({ name, marks: own }) => [name, own]))
  const { stage } = worst
  const isFirst = stage !== undefined && rankOf(stage) > rankOf(before.notified)
  const isAgain = !before.isLow && stage === 'early'
  if (stage !== undefined && (isFirst || isAgain)) {
    const severity: Severity = stage === 'spent' ? 'critical' : 'warning'
    const data = dataOf(condition, observation, worst, stage)
    const notified = isFirst ? stage : before.notified
    const state = { rewardEpoch, notified, isLow: true, marks }
    const stateIfDeferred = { ...before, marks }
    const firings = [{ event: `fsp.${condition.id}`, severity, data }]
    return { state, stateIfDeferred, phase: 'firing', firings }
  }
  const isOver = !isSame || all.every(({ budget, burning }) => isCalm(budget, burning))
  if (!before.isLow || !isOver) {
    const phase = before.isLow ? 'firing' : 'ok'
    return { state: { ...before, marks }, phase, firings: [] }
  }
  const data = dataOf(condition, observation, worst, 'lasts')
  const firing = { event: `fsp.${condition.id}.recovered`, severity: 'info', data } as const
  return { state: { ...before, isLow: false, marks }, phase: 'ok', firings: [firing] }
}

/** The status of a provider in a minimal condition. */
export interface ConditionStatus {
  /** Share of the cases of the reward epoch so far that were fulfilled; of the validator with the least budget. */
  readonly rate: number
  /** Share that the protocol requires over the epoch. */
  readonly minimum: number
  /** Used share of the error budget. */
  readonly used: number
  /** Whole rounds that may still go wrong, and rounds that the epoch has left. */
  readonly roundsToMiss: number
  readonly roundsLeft: number
  readonly epochEndsAt: Date
  /** End of the budget at the present rate; null if it lasts, or if the rate is not known. */
  readonly budgetEndsAt: Date | null
}

/** Number of rounds that a status needs for the present rate. */
export const CONDITION_ROUNDS = 100

/** How a provider stands by its rounds, newest first; null where nothing is known of the reward epoch. */
export function conditionStatusOf(
  condition: Condition,
  rounds: readonly ProviderObservation[],
): ConditionStatus | null {
  const [newest] = rounds
  if (newest === undefined) return null
  let marks: State['marks'] = {}
  let all: readonly Judged[] = []
  for (const round of rounds.slice(0, CONDITION_ROUNDS).toReversed()) {
    if (round.rewardEpoch !== newest.rewardEpoch) continue
    const judged = judge(condition, round, marks, 1)
    if (judged.length === 0) continue
    all = judged
    marks = Object.fromEntries(all.map(({ name, marks: own }) => [name, own]))
  }
  const [worst] = all.toSorted((a, b) => b.budget.used - a.budget.used)
  if (worst === undefined) return null
  const data = BudgetData.parse(dataOf(condition, newest, worst, 'lasts'))
  const { rate, used, roundsToMiss, roundsLeft, epochEndsAt, budgetEndsAt } = data
  const { minimum } = condition
  return { rate, minimum, used, roundsToMiss, roundsLeft, epochEndsAt, budgetEndsAt }
}

function presentBudget(_event: string, json: JsonObject): Presentation {
  const data = BudgetData.parse(json)
  const { provider, nodeId, stage, roundsToMiss, budgetEndsAt, rateSeconds, roundsUnknown } = data
  const misses: DisplayValue =
    nodeId === undefined
      ? { kind: 'counted', unit: 'votingRounds', count: roundsToMiss }
      : { kind: 'duration', seconds: roundsToMiss * ROUND_SECONDS }
  const outlook = budgetEndsAt === null ? 'lasts' : 'ends'
  return {
    facts: {
      provider: { kind: 'address', address: provider },
      used: { kind: 'percent', value: Math.floor(data.used * 100) / 100 },
      misses,
      outlook: { kind: 'term', key: `messages:budget.${outlook}` },
      rate: { kind: 'percent', value: data.rate },
      minimum: { kind: 'percent', value: data.protocolMinimum },
      epoch: { kind: 'identifier', value: data.rewardEpochId },
      epochEnds: { kind: 'instant', at: data.epochEndsAt },
      ...(budgetEndsAt !== null && { budgetEnds: { kind: 'instant', at: budgetEndsAt } }),
      ...(rateSeconds !== null && { rateOver: { kind: 'duration', seconds: rateSeconds } }),
      ...(nodeId !== undefined && { node: { kind: 'identifier', value: nodeId } }),
      ...(roundsUnknown !== undefined && {
        uncounted: { kind: 'counted', unit: 'votingRounds', count: roundsUnknown },
      }),
    },
    fields: [
      'provider',
      ...(nodeId === undefined ? [] : ['node']),
      'used',
      ...(budgetEndsAt === null || stage === 'spent' ? [] : ['budgetEnds']),
      'epochEnds',
      'rate',
      'minimum',
      ...(roundsUnknown === undefined ? [] : ['uncounted']),
    ],
    ...(stage === 'spent' && { form: 'spent' }),
  }
}

/** The claim of the conditions whose cases the chain proves. */
const countedClaim: ClaimBuilder = (json, { event }) => {
  const { provider, rewardEpochId, votingRoundId, ...rest } = BudgetData.parse(json)
  const { rounds, done, possible, used } = rest
  const condition = event === 'fsp.mc-anchor' ? 'mc-anchor' : 'mc-fdc'
  const about = { provider, condition, rewardEpoch: rewardEpochId, round: votingRoundId } as const
  return { kind: 'rate', ...about, rounds, done, possible, used }
}

/** Example of a budget of which 311 rounds are left on the third day of an epoch. */
const EXAMPLE = {
  provider: PROVIDER_EXAMPLE.provider,
  rewardEpochId: 452,
  votingRoundId: 1_519_400,
  stage: 'early',
  epochEndsAt: '2026-11-23T07:00:00.000Z',
  budgetEndsAt: '2026-11-21T16:30:00.000Z',
  rateSeconds: 21_600,
  roundsLeft: 2679,
}

function budgetSignal(condition: Condition, figures: JsonObject, claim: ClaimBuilder) {
  const { id, minimum: protocolMinimum } = condition
  const example = { ...EXAMPLE, protocolMinimum, ...figures }
  return defineSignal<ProviderTarget, unknown, ProviderObservation, State>({
    id,
    group: 'registration',
    events: signalEvents(id),
    parameters: [PERCENT],
    canBeCritical: true,
    firesOnce: true,
    state: State,
    data: BudgetData,
    initial: INITIAL,
    evaluate: (previous, observation, { parameters }) =>
      judgeBudget(condition, previous, observation, parameters),
    present: presentBudget,
    claim,
    examples: {
      [`fsp.${id}`]: example,
      [`fsp.${id}.recovered`]: { ...example, stage: 'lasts', budgetEndsAt: null },
    },
  })
}

/** Minimal condition: prices close to the median. */
export const mcAnchor = budgetSignal(
  ANCHOR,
  { used: 0.537, rate: 0.47, rounds: 680, done: 20_136, possible: 42_840, roundsToMiss: 311 },
  countedClaim,
)

/** Minimal condition: participation in the FDC. */
export const mcFdc = budgetSignal(
  PARTICIPATION,
  { used: 0.503, rate: 0.006, rounds: 680, done: 4, possible: 680, roundsToMiss: 668 },
  countedClaim,
)

/** Minimal condition: fast updates. */
const mcFastUpdates = budgetSignal(
  UPDATES,
  { used: 0.537, rate: 0.47, rounds: 680, done: 735, possible: 1564, roundsToMiss: 311 },
  // The number of updates of an epoch follows from the events of all its blocks.
  () => 'other',
)

/** Minimal condition: uptime of the validators. */
export const mcUptime = budgetSignal(
  UPTIME,
  {
    ...{ nodeId: EXAMPLE_NODE, used: 0.537, rate: 0.47, rounds: 680 },
    ...{ done: 479, possible: 1020, roundsToMiss: 311 },
  },
  () => 'p-chain',
)

export const CONDITION_SIGNALS = [mcAnchor, mcFdc, mcFastUpdates, mcUptime] as const
