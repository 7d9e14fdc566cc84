/**
 * The error budget of a minimal condition: how many cases of a reward epoch may go wrong before the condition is not met.
 * Pure.
 */
import { z } from 'zod'

/** Counts of one condition, or of one node, in the reward epoch so far. */
export interface CountedCases {
  /** Fulfilled cases, and cases that were possible. */
  readonly done: number
  readonly possible: number
  /** Rounds with evidence. */
  readonly rounds: number
}

/** A place in a reward epoch. */
export interface EpochPlace {
  readonly round: number
  readonly firstRound: number
  /** Expected first round of the next reward epoch. */
  readonly endRound: number
}

/** How a condition is counted. */
export interface BudgetRule {
  /** Share of the cases of a reward epoch that the protocol requires. */
  readonly minimum: number
  /** Whether a case is a round; otherwise each round has several cases. */
  readonly isOneARound: boolean
  /** Whether the number of fulfilled cases also depends on chance, as that of drawn fast updates does. */
  readonly isDrawn: boolean
}

/** What is left of a budget. */
export interface Budget {
  /** Used share; more than 1 if the condition can no longer be met. */
  readonly used: number
  /** Cases that went wrong, and the number that may. */
  readonly missed: number
  readonly allowed: number
  /** Rounds that may still go wrong wholly, rounded down; 0 if none. */
  readonly roundsToMiss: number
  /** Rounds that the reward epoch has left. */
  readonly roundsLeft: number
}

/**
 * The budget of a condition. Rounds without evidence count as if nothing had gone wrong in them: they neither use the budget
 * nor make it smaller, so what is used may be more (`unknownRounds`).
 *
 * @returns undefined without a possible case
 */
export function budgetOf(
  { minimum, isOneARound }: Pick<BudgetRule, 'minimum' | 'isOneARound'>,
  { done, possible, rounds }: CountedCases,
  { round, firstRound, endRound }: EpochPlace,
): Budget | undefined {
  const length = endRound - firstRound
  if (possible <= 0 || rounds <= 0 || length <= 0) return undefined
  const missed = Math.max(0, possible - done)
  const perRound = possible / rounds
  const allowed = (1 - minimum) * perRound * length
  const ofOneRound = isOneARound ? 1 : perRound
  return {
    used: missed / allowed,
    missed,
    allowed,
    roundsToMiss: Math.max(0, Math.floor((allowed - missed) / ofOneRound + 1e-9)),
    roundsLeft: Math.max(0, endRound - 1 - round),
  }
}

/** Rounds without evidence that are too few to tell: an hour, and this share of the epoch so far. */
const UNKNOWN_ROUNDS_FEW = 40
const UNKNOWN_SHARE_FEW = 0.05

/** Rounds of the epoch so far without evidence, of which nothing is in the budget; 0 if they are few. */
export function unknownRounds(
  { rounds }: Pick<CountedCases, 'rounds'>,
  { round, firstRound }: EpochPlace,
): number {
  const passed = round - firstRound + 1
  const unknown = passed - rounds
  return unknown > Math.max(UNKNOWN_ROUNDS_FEW, UNKNOWN_SHARE_FEW * passed) ? unknown : 0
}

/** Cases that had gone wrong by a round. */
export const Mark = z.tuple([z.int(), z.number(), z.number()])
/** The round, the cases that had gone wrong by then, and those that were possible. */
export type Mark = z.output<typeof Mark>

/** The rate is that of this part of a reward epoch: six hours on Flare; of a short epoch it is more. */
const WINDOW_PART = 1 / 14
const WINDOW_ROUNDS_MIN = 40
/** Marks are made six times in a window. */
const MARKS_PER_WINDOW = 6
/** A rate needs at least this part of a window: two hours on Flare. */
const EVIDENCE_PART = 1 / 3
/** Standard deviations by which drawn cases must fall short of the expected ones before they count. */
const DEVIATIONS = 3

function windowOf({ firstRound, endRound }: EpochPlace): number {
  return Math.max(WINDOW_ROUNDS_MIN, Math.round((endRound - firstRound) * WINDOW_PART))
}

/** The marks of a reward epoch with the one of this round; those older than a window are dropped. */
export function marksAfter(
  marks: readonly Mark[],
  { done, possible }: CountedCases,
  place: EpochPlace,
): Mark[] {
  const window = windowOf(place)
  const kept = marks.filter(([round]) => round >= place.round - window)
  const last = kept.at(-1)?.[0]
  const isDue = last === undefined || place.round - last >= window / MARKS_PER_WINDOW
  return isDue ? [...kept, [place.round, Math.max(0, possible - done), possible]] : kept
}

/** How fast a budget is used. */
export interface Burning {
  /** Cases that went wrong per round over the window, and over its last part. */
  readonly rate: number
  readonly recentRate: number
  /** Rounds over which the rate was counted. */
  readonly rounds: number
}

/** The rate at which a budget is used; undefined before a third of a window has passed. */
export function burningOf(
  { isDrawn }: Pick<BudgetRule, 'isDrawn'>,
  marks: readonly Mark[],
  { done, possible }: CountedCases,
  place: EpochPlace,
): Burning | undefined {
  const window = windowOf(place)
  const [oldest] = marks
  const recent = marks.findLast(([round]) => place.round - round >= window / MARKS_PER_WINDOW)
  if (oldest === undefined || recent === undefined) return undefined
  const rounds = place.round - oldest[0]
  if (rounds < window * EVIDENCE_PART) return undefined
  const missed = Math.max(0, possible - done)
  const rateSince = ([round, missedBefore, possibleBefore]: Mark) => {
    const noise = isDrawn ? DEVIATIONS * Math.sqrt(Math.max(0, possible - possibleBefore)) : 0
    return Math.max(0, missed - missedBefore - noise) / (place.round - round)
  }
  return { rate: rateSince(oldest), recentRate: rateSince(isDrawn ? oldest : recent), rounds }
}

/** Round in which the budget ends at a rate; undefined if the reward epoch ends earlier. */
export function endOfBudget(
  { missed, allowed, roundsLeft }: Budget,
  rate: number,
  { round }: EpochPlace,
): number | undefined {
  const left = Math.max(0, allowed - missed)
  const rounds = rate > 0 ? Math.ceil(left / rate) : Number.POSITIVE_INFINITY
  return rounds <= roundsLeft ? round + rounds : undefined
}

/** Stages of a budget by rising harm; an alert tells each once in a reward epoch. */
export const STAGES = ['early', 'most', 'spent'] as const
export type Stage = (typeof STAGES)[number]

/** Used share from which on the budget is nearly used up, whatever the rate. */
const MOST = 0.8

/**
 * The stage of a budget; undefined if it lasts.
 *
 * @param earlyShare used share from which on a budget that does not last at its present rate is told
 */
export function stageOf(
  { isDrawn }: Pick<BudgetRule, 'isDrawn'>,
  budget: Budget,
  burning: Burning | undefined,
  { possible }: CountedCases,
  earlyShare: number,
): Stage | undefined {
  const { missed, allowed, roundsLeft, used } = budget
  if (used > 1) return 'spent'
  if (used >= MOST) return 'most'
  const sure = isDrawn ? (missed - DEVIATIONS * Math.sqrt(possible)) / allowed : used
  if (burning === undefined || sure < earlyShare) return undefined
  const sustainable = roundsLeft > 0 ? (allowed - missed) / roundsLeft : Number.POSITIVE_INFINITY
  const isFast = burning.rate > sustainable && burning.recentRate > sustainable
  return isFast ? 'early' : undefined
}

/** Share of what is left that the rate may use up to the end of the reward epoch, for an alert to end. */
const CALM_SHARE = 0.5

/** Whether a budget lasts comfortably at its rate. */
export function isCalm(
  { missed, allowed, roundsLeft }: Budget,
  burning: Burning | undefined,
): boolean {
  if (missed > allowed || burning === undefined) return false
  return Math.max(burning.rate, burning.recentRate) * roundsLeft <= CALM_SHARE * (allowed - missed)
}
