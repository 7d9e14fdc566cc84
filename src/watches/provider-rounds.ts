/** What stored voting rounds say of a provider: results of duties, their counts, rates of the minimal conditions. */
import type { DailyCounts } from '#src/fsp/indexer/daily-counts.ts'
import { checkOf, type ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import {
  CONDITIONS,
  type ConditionStatus,
  conditionStatusOf,
} from './types/provider-fsp/conditions.ts'

/** Result of one duty in a round. */
export const DUTY_RESULTS = [
  'ok',
  'late',
  'early',
  'missing',
  'mismatch',
  'offence',
  'unknown',
] as const
export type DutyResult = (typeof DUTY_RESULTS)[number]
/** Duties of a provider in a round, as rows: those of the FTSO, then those of the FDC. */
export const DUTIES = ['commit', 'reveal', 'signature', 'bitvote', 'fdcSignature'] as const
export type Duty = (typeof DUTIES)[number]

/** Results of the duties of a round. */
export interface RoundDuties {
  readonly ftso: Record<'commit' | 'reveal' | 'signature', DutyResult>
  readonly fdc: Record<'bitvote' | 'signature', DutyResult>
}

/** Result of a duty in a round. */
export function dutyResultOf({ ftso, fdc }: RoundDuties, duty: Duty): DutyResult {
  if (duty === 'bitvote') return fdc.bitvote
  return duty === 'fdcSignature' ? fdc.signature : ftso[duty]
}

/** Whether a duty was missed or fulfilled wrongly. */
export function isBadResult(cell: DutyResult): boolean {
  return cell !== 'ok' && cell !== 'unknown'
}

/** Duties of a round, each with its worst verdict. */
export function dutyResultsOf(observation: Pick<ProviderObservation, 'checks'>): RoundDuties {
  const hasVerdict = (name: Parameters<typeof checkOf>[1], verdict: string) =>
    checkOf(observation, name).verdict === verdict
  const resultOfCheck = (name: Parameters<typeof checkOf>[1]): DutyResult => {
    const { verdict, values } = checkOf(observation, name)
    if (verdict !== 'bad') return verdict === 'good' ? 'ok' : 'unknown'
    const reason = values?.['reason']
    return reason === 'late' || reason === 'early' ? reason : 'missing'
  }
  return {
    ftso: {
      commit: resultOfCheck('commit'),
      reveal: hasVerdict('revealOffence', 'bad') ? 'offence' : resultOfCheck('reveal'),
      signature: hasVerdict('mismatch', 'bad')
        ? 'mismatch'
        : hasVerdict('grace', 'bad')
          ? 'late'
          : resultOfCheck('signature'),
    },
    fdc: {
      bitvote:
        hasVerdict('consensus', 'bad') || hasVerdict('bitVoteLength', 'bad')
          ? 'mismatch'
          : resultOfCheck('bitVote'),
      signature: hasVerdict('fdcMismatch', 'bad')
        ? 'mismatch'
        : hasVerdict('fdcOffence', 'bad')
          ? 'offence'
          : hasVerdict('fdcGrace', 'bad')
            ? 'late'
            : resultOfCheck('fdcSignature'),
    },
  }
}

/** Number of rounds with a known result, and number of these rounds with an unfulfilled duty. */
export interface RoundCounts {
  readonly known: number
  readonly bad: number
}

export function countRounds(rounds: readonly RoundDuties[]): RoundCounts {
  const countRoundsWith = (matches: (cell: DutyResult) => boolean) =>
    rounds.filter((round) => DUTIES.some((duty) => matches(dutyResultOf(round, duty)))).length
  return { known: countRoundsWith((cell) => cell !== 'unknown'), bad: countRoundsWith(isBadResult) }
}

/** Days over which rounds are counted for pages, badges and programs. */
export const DAYS_COUNTED = 30

/** Places of a share of good rounds: two decimals of a percent. */
const SHARE_PLACES = 10_000

/** Share of the rounds without an unfulfilled duty, rounded down, so that one bad round never looks like none. */
export function goodShareOf({ rounds, badRounds }: DailyCounts): number {
  return Math.floor(((rounds - badRounds) / rounds) * SHARE_PLACES + 1e-9) / SHARE_PLACES
}

/**
 * Tone in which pages show `range` rounds: `critical` if a duty was not fulfilled, `fine` if the results of all rounds
 * are known, otherwise none.
 */
export function toneOfRounds({ known, bad }: RoundCounts, range: number): '' | 'fine' | 'critical' {
  if (bad > 0) return 'critical'
  return known === range ? 'fine' : ''
}

/** Share of good rounds over days from which on a provider is in good order, and below which it is not. */
const FINE_SHARE_MIN = 0.99
const BAD_SHARE_MAX = 0.9

/** Rounds from which on their share says something: a day of them. */
const ENOUGH_ROUNDS_MIN = 960

/** Whether there are enough rounds for a share of them to say something. */
export function hasEnoughRounds({ rounds }: Pick<DailyCounts, 'rounds'>): boolean {
  return rounds >= ENOUGH_ROUNDS_MIN
}

/** Tone of the counts of some days, none for less than a day: most providers miss a round now and then. */
export function toneOfDays(days: DailyCounts | null): '' | 'fine' | 'critical' {
  if (days === null || !hasEnoughRounds(days)) return ''
  const share = goodShareOf(days)
  if (share >= FINE_SHARE_MIN) return 'fine'
  return share < BAD_SHARE_MAX ? 'critical' : ''
}

/** The stored rounds among the newest `range` round ids. */
export function roundsWithin<Round extends { readonly id: number }>(
  rounds: readonly Round[],
  range: number,
): Round[] {
  const [newest] = rounds
  return rounds.filter((round) => newest !== undefined && round.id > newest.id - range)
}

/** Minimal conditions by name. */
export type MinimalConditions = Readonly<Record<keyof typeof CONDITIONS, ConditionStatus | null>>

/** How a provider stands in the minimal conditions of the reward epoch, by its rounds, newest first. */
export function minimalConditionsOf(rounds: readonly ProviderObservation[]): MinimalConditions {
  return {
    anchor: conditionStatusOf(CONDITIONS.anchor, rounds),
    fdc: conditionStatusOf(CONDITIONS.fdc, rounds),
    fastUpdates: conditionStatusOf(CONDITIONS.fastUpdates, rounds),
    uptime: conditionStatusOf(CONDITIONS.uptime, rounds),
  }
}

/** The newest value of a part that not every round has; undefined if none has it. */
export function newestOf<Part>(
  rounds: readonly ProviderObservation[],
  partOf: (round: ProviderObservation) => Part | null | undefined,
): Part | undefined {
  for (const round of rounds) {
    const part = partOf(round)
    if (part !== null && part !== undefined) return part
  }
  return undefined
}
