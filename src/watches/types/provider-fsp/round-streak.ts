import { z } from 'zod'
import {
  checkOf,
  EarningsPart,
  type ProviderObservation,
  type StoredCheck,
} from '#src/fsp/indexer/observation-model.ts'
import {
  countOthers,
  failedRounds,
  judgeByChecks,
  usualFailers,
} from '#src/fsp/protocol/other-providers.ts'
import { ROUND_CHECKS, type RoundCheck } from '#src/fsp/protocol/verdict.ts'
import {
  type DisplayValues,
  lowerSeverity,
  type Presentation,
  type Severity,
} from '#src/kernel/display-values.ts'
import {
  isNetworkWide,
  OtherProviders,
  OutageCost,
  outageFacts,
} from '#src/kernel/outage-figures.ts'
import type { SignalGroup } from '#src/kernel/signal-group.ts'
import { Address, Instant, type JsonObject } from '#src/kernel/units.ts'
import {
  defineSignal,
  type Evaluation,
  type ExampleWatch,
  type Firing,
  type Parameter,
  type ParameterValues,
  type Signal,
} from '../../signal.ts'
import type { ProviderTarget } from '../provider-target.ts'
import { costData } from './cost.ts'
import { signalEvents } from './events.ts'
import { roundClaim } from './round-claim.ts'
import { EXAMPLE_EARNINGS, knownAddress, roundSignalExamples } from './round-examples.ts'
import { isDuty, isLongSilence, isSilentRound } from './silent-rounds.ts'

/** Number of bad voting rounds in a row before an alert. */
const ROUNDS: Parameter = {
  key: 'rounds',
  type: 'integer',
  unit: 'rounds',
  default: 2,
  min: 1,
  max: 20,
  step: 1,
}

/** State between rounds. */
export const StreakState = z.object({
  /** The last judged round; a gap resets the streak. */
  lastRound: z.int().nullable(),
  streak: z.int(),
  /** First bad round since the last good one, and its start in epoch seconds. */
  firstRound: z.int().nullable(),
  firstAt: z.int().nullable(),
  /** Number of bad rounds since the last good one. */
  missed: z.int(),
  /** Whether the streak was long enough and no good round has followed. */
  isBroken: z.boolean(),
  /** Checks that were bad and have not been good since. */
  bad: z.array(z.enum(ROUND_CHECKS)),
  /** Rounds in a row in which the provider sent nothing. */
  silent: z.int(),
  /** How many others failed the same in the last bad rounds; null while it is unknown or the streak is too short. */
  others: OtherProviders.nullable(),
  /** Other providers that failed the same in all rounds before the streak, as last known. They are not counted. */
  usual: z.array(z.string()),
  /** What rounds are worth, as last known. */
  earnings: EarningsPart.nullable(),
})
export type StreakState = z.output<typeof StreakState>

const INITIAL: StreakState = {
  lastRound: null,
  streak: 0,
  firstRound: null,
  firstAt: null,
  missed: 0,
  isBroken: false,
  bad: [],
  silent: 0,
  others: null,
  usual: [],
  earnings: null,
}

/** The properties of a round signal's `data` that messages of alert and recovery share. */
const RoundData = z
  .looseObject({
    provider: Address,
    /** The last bad round. */
    votingRoundId: z.int(),
    /** The round that began at `since`. */
    firstRoundId: z.int().exactOptional(),
    rewardEpochId: z.int(),
    since: Instant,
    streak: z.int().exactOptional(),
    missedRounds: z.int().exactOptional(),
    gapSeconds: z.int().exactOptional(),
    reason: z.string().nullish(),
    tx: z.string().nullish(),
    /** Of a submission to a wrong Submission contract: that contract, and the contract of the round. */
    sentTo: Address.exactOptional(),
    submission: Address.exactOptional(),
    address: Address.nullish(),
    /** How many others failed the same in the last rounds that the alert counts, `rounds` at most. */
    others: OtherProviders.exactOptional(),
    cost: OutageCost.exactOptional(),
  })
  .meta({ id: 'RoundStreakData' })

/** Declaration of a signal about voting rounds. */
export interface RoundSignal {
  readonly id: string
  readonly group: SignalGroup
  readonly defaultEnabled?: boolean
  /**
   * A round is bad when one of these checks is bad. It is good when one of them is good, and each that was
   * bad before has been good since.
   */
  readonly checks: readonly RoundCheck[]
  /** Whether an alert needs several rounds in a row; otherwise one. */
  readonly isStreak: boolean
  readonly severity: Severity
  /** Whether an alert of a streak is critical, whatever the length of the streak. */
  isCritical?(check: StoredCheck): boolean
  /** Whether an alert of a streak stays a warning, whatever the length of the streak. */
  isMild?(check: StoredCheck): boolean
  /** Chooses other texts for some alerts. */
  form?(data: JsonObject): string | undefined
  /** Whether rounds that fail cost no rewards. */
  readonly isFree?: boolean
  /** Role of the address that the alert shows. */
  readonly role: 'submit' | 'submitSignatures' | 'signingPolicy'
  /** Additional display values of an alert. */
  facts?(data: JsonObject): DisplayValues
  /** Display values for the sentences of an alert that are not shown as fields. */
  words?(data: JsonObject): DisplayValues
  /** Additional values of the example alert. */
  readonly example: JsonObject
  /** Further addresses in the example of a watch. */
  ownParties?(address: Address): JsonObject
}

/**
 * Creates a signal that judges every voting round. It alerts after `rounds` bad rounds in a row, or after
 * one bad round if it has no streak, and recovers with the first good round. Rounds without evidence reset
 * the streak. Rounds without the duty neither continue nor reset it. Rounds that were judged before are
 * skipped. A round that was over before the watch began counts as one without evidence.
 */
export function roundSignal(
  signal: RoundSignal,
): Signal<ProviderTarget, unknown, ProviderObservation, StreakState> {
  const events = signalEvents(signal.id)
  return defineSignal<ProviderTarget, unknown, ProviderObservation, StreakState>({
    id: signal.id,
    group: signal.group,
    events,
    ...(signal.defaultEnabled === undefined ? {} : { defaultEnabled: signal.defaultEnabled }),
    ...(signal.isStreak ? { parameters: [ROUNDS] } : {}),
    canBeCritical: signal.isStreak || signal.severity === 'critical',
    state: StreakState,
    data: RoundData,
    initial: INITIAL,
    evaluate: (previous, observation, { parameters }) =>
      judge(signal, previous, observation, parameters),
    current: (data, state) => currentData(signal, data, state),
    atEnd: dataAtEnd,
    present: (event, data) => present(signal, event, data),
    claim: (data) => roundClaim(signal.checks, data),
    examples: roundSignalExamples(signal),
    ownExample: (watch) => ownExample(signal, watch),
  })
}

/** The shortest streak that alerts, up to the last observed round. */
function ownExample(
  signal: RoundSignal,
  { target, parameters, example, observation }: OwnExample,
): JsonObject {
  const streak = signal.isStreak ? Number(parameters['rounds']) : 1
  const address = knownAddress(signal.role, target, observation)
  const own = { ...target, address, ...signal.ownParties?.(address) }
  const cost = 'cost' in example ? costData(streak, EXAMPLE_EARNINGS) : {}
  const data = { ...example, ...own, streak, rounds: streak, ...cost }
  if (observation === undefined) return data
  return {
    ...data,
    ...commonData(signal, observation),
    since: instant(observation.startsAt - (streak - 1) * ROUND_SECONDS),
    firstRoundId: observation.round - streak + 1,
  }
}

type OwnExample = ExampleWatch<ProviderTarget, unknown, ProviderObservation>

/** Length of a voting round. */
const ROUND_SECONDS = 90

function judge(
  signal: RoundSignal,
  previous: StreakState,
  observation: ProviderObservation,
  parameters: ParameterValues,
): Evaluation<StreakState> {
  const { round, startsAt } = observation
  const { check, bad } = combined(signal.checks, previous.bad, observation)
  if (previous.lastRound !== null && round <= previous.lastRound) {
    const phase = previous.isBroken ? 'firing' : previous.streak > 0 ? 'pending' : 'ok'
    return { state: previous, phase, streak: previous.streak, firings: [] }
  }
  const follows = previous.lastRound === round - 1
  const silent = isSilentRound(observation) ? (follows ? previous.silent : 0) + 1 : 0
  const rounds = signal.isStreak ? Number(parameters['rounds']) : 1
  if (check.verdict === 'not-applicable') {
    const kept = follows ? previous.streak : 0
    const phase = previous.isBroken ? 'firing' : kept > 0 ? 'pending' : 'unknown'
    const state = { ...previous, lastRound: round, streak: kept, silent }
    return { state, phase, streak: kept, firings: [] }
  }
  if (check.verdict === 'unknown') {
    const state = { ...previous, lastRound: round, streak: 0, bad, silent }
    return { state, phase: state.isBroken ? 'firing' : 'unknown', streak: 0, firings: [] }
  }
  if (check.verdict === 'good') {
    const state = { ...INITIAL, lastRound: round }
    const firings = previous.isBroken ? [recoveryOf(signal, previous, observation)] : []
    return { state, phase: 'ok', streak: 0, firings }
  }
  const streak = follows ? previous.streak + 1 : 1
  const firstRound = previous.firstRound ?? round
  const firstAt = previous.firstAt ?? startsAt
  const isBroken = previous.isBroken || streak >= rounds
  const state: StreakState = {
    lastRound: round,
    streak,
    firstRound,
    firstAt,
    missed: previous.missed + 1,
    isBroken,
    bad,
    silent,
    ...compare(signal, observation, { previous, streak: isBroken ? Math.min(streak, rounds) : 0 }),
    earnings: observation.earnings ?? previous.earnings,
  }
  if (!isBroken) return { state, phase: 'pending', streak, firings: [] }
  const severity = severityOf(signal, state, check, rounds)
  const data: JsonObject = {
    ...commonData(signal, observation),
    since: instant(firstAt),
    firstRoundId: firstRound,
    streak,
    rounds,
    ...check.values,
    ...figuresOf(signal, state),
  }
  const firing = { event: `fsp.${signal.id}`, severity, data }
  return { state, phase: 'firing', streak, firings: [firing] }
}

/** How many others failed the same in the last bad rounds, at most `streak`, without those that failed anyway. */
function compare(
  { checks }: RoundSignal,
  { provider, compared = [] }: ProviderObservation,
  { previous, streak }: { readonly previous: StreakState; readonly streak: number },
): Pick<StreakState, 'others' | 'usual'> {
  const judge = judgeByChecks(checks)
  const usual = usualFailers(compared, { provider, judge }) ?? previous.usual
  const failed = failedRounds(compared, { provider, judge, streak })
  return { others: countOthers(failed, { provider, judge, without: usual }) ?? null, usual }
}

/** What the data of an alert says of the others and of the cost, as far as it is known. */
function figuresOf(
  { isFree = false }: RoundSignal,
  { others, missed, earnings }: StreakState,
): JsonObject {
  return {
    ...(others !== null && { others: { ...others } }),
    ...(isFree ? {} : costData(missed, earnings)),
  }
}

/** An alert with what is known of its outage now: the number of rounds that failed, the others, and the cost. */
function currentData(signal: RoundSignal, data: JsonObject, state: StreakState): JsonObject {
  const { missed, firstAt } = state
  const { since, streak, others: _others, cost: _cost, ...rest } = data
  const isSame = firstAt !== null && since === instant(firstAt)
  if (!isSame || typeof streak !== 'number' || missed < streak) return data
  return { ...rest, since, streak: missed, ...figuresOf(signal, state) }
}

/** An alert that is over with the number of rounds that its outage lost, the others of its last round, and its cost. */
function dataAtEnd(data: JsonObject, recovery: JsonObject): JsonObject {
  const { missedRounds: missed, others, cost } = recovery
  const { streak, others: _others, cost: _cost, ...rest } = data
  if (typeof streak !== 'number' || typeof missed !== 'number') return data
  return {
    ...rest,
    streak: Math.max(streak, missed),
    ...(others !== undefined && { others }),
    ...(cost !== undefined && { cost }),
  }
}

function severityOf(
  signal: RoundSignal,
  { streak, silent, others }: StreakState,
  check: StoredCheck,
  rounds: number,
): Severity {
  const isLong = signal.isStreak && streak >= 2 * rounds && signal.isMild?.(check) !== true
  const isTotal = signal.checks.some(isDuty) && isLongSilence(silent, rounds)
  const severity = isLong || isTotal || signal.isCritical?.(check) ? 'critical' : signal.severity
  return others !== null && isNetworkWide(others) ? lowerSeverity(severity) : severity
}

/** The recovery of a streak with the first good round. */
function recoveryOf(
  signal: RoundSignal,
  state: StreakState,
  observation: ProviderObservation,
): Firing {
  const { startsAt } = observation
  const { missed, firstAt } = state
  const data: JsonObject = {
    ...commonData(signal, observation),
    since: instant(startsAt),
    missedRounds: missed,
    gapSeconds: startsAt - (firstAt ?? startsAt),
    ...figuresOf(signal, state),
  }
  return { event: `fsp.${signal.id}.recovered`, severity: 'info', data }
}

function combined(
  names: readonly RoundCheck[],
  before: readonly RoundCheck[],
  observation: ProviderObservation,
): { readonly check: StoredCheck; readonly bad: RoundCheck[] } {
  if (observation.isPast) return { check: { verdict: 'unknown' }, bad: [...before] }
  const checks = names
    .map((name) => ({ name, ...checkOf(observation, name) }))
    .filter(({ verdict }) => verdict !== 'not-applicable')
  if (checks.length === 0) return { check: { verdict: 'not-applicable' }, bad: [...before] }
  const bad = names.filter((name) => {
    const { verdict } = checkOf(observation, name)
    return verdict === 'bad' || (verdict !== 'good' && before.includes(name))
  })
  const worst = checks.find(({ verdict }) => verdict === 'bad')
  if (worst !== undefined) return { check: worst, bad }
  const isGood = bad.length === 0 && checks.some(({ verdict }) => verdict === 'good')
  return { check: { verdict: isGood ? 'good' : 'unknown' }, bad }
}

function commonData(signal: RoundSignal, observation: ProviderObservation): JsonObject {
  const { provider, round, rewardEpoch, startsAt, addresses } = observation
  return {
    provider,
    rewardEpochId: rewardEpoch,
    votingRoundId: round,
    roundStart: instant(startsAt),
    ...(addresses && { address: addresses[signal.role] }),
  }
}

/** Epoch seconds as an instant in JSON. */
function instant(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

function present(signal: RoundSignal, event: string, json: JsonObject): Presentation {
  const data = RoundData.parse(json)
  const isRecovery = event.endsWith('.recovered')
  const extra = isRecovery ? {} : (signal.facts?.(json) ?? {})
  const form = isRecovery ? undefined : signal.form?.(json)
  const count = isRecovery ? data.missedRounds : data.streak
  const { others, cost } = data
  // The others are those of the last round that failed: the recovery is about the provider alone.
  const figures = outageFacts(isRecovery ? { cost } : { others, cost })
  const facts: DisplayValues = {
    provider: { kind: 'address', address: data.provider },
    since: { kind: 'instant', at: data.since },
    round: { kind: 'identifier', value: data.votingRoundId },
    ...(data.firstRoundId !== undefined && {
      firstRound: { kind: 'identifier', value: data.firstRoundId },
    }),
    epoch: { kind: 'identifier', value: data.rewardEpochId },
    ...(data.address && { address: { kind: 'address', address: data.address } }),
    ...(data.gapSeconds !== undefined && {
      duration: { kind: 'duration', seconds: data.gapSeconds },
    }),
    ...(data.reason && { reason: { kind: 'term', key: `messages:reason.${data.reason}` } }),
    ...(data.tx && { tx: { kind: 'transaction', hash: asHash(data.tx) } }),
    ...(data.sentTo && { sentTo: { kind: 'address', address: data.sentTo } }),
    ...(data.submission && { submission: { kind: 'address', address: data.submission } }),
    ...extra,
    ...(isRecovery ? {} : signal.words?.(json)),
    ...figures,
  }
  const placed = ['sentTo', 'submission']
  const shown = Object.keys(figures)
  const fields = [
    'provider',
    'reason',
    'round',
    ...Object.keys(extra),
    ...placed,
    ...shown,
    'tx',
  ].filter((name) => name in facts)
  return {
    facts,
    fields: isRecovery ? ['provider', 'round', ...shown] : [...new Set(fields)],
    ...(form !== undefined && { form }),
    ...(count !== undefined && { count }),
    ...(!isRecovery && data.reason === 'former-address' && { advice: 'former-address' }),
    ...(!isRecovery && others !== undefined && isNetworkWide(others) && { isNetworkWide: true }),
  }
}

function asHash(text: string): `0x${string}` {
  return `0x${text.replace(/^0x/, '')}`
}
