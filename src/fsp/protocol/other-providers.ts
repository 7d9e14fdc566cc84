/** How many of the other providers failed the same as one, by the rounds of all of them. Pure. */
import type { OtherProviders } from '#src/kernel/outage-figures.ts'
import type { Address } from '#src/kernel/units.ts'
import { type CheckVerdict, ROUND_CHECKS, type RoundCheck } from './verdict.ts'

/** What a stored round says of one provider. */
export interface ComparedRecord {
  /** One letter for each of `ROUND_CHECKS`, as in a round record. */
  readonly letters: string
  /** Its silence in fast updates; undefined if it is unknown. */
  readonly silence?: {
    /** `exp(-exponent)` is the probability that a working provider is silent for this long. */
    readonly exponent: number
    readonly blocksSinceUpdate: number
    readonly onePercentBlocks: number
    /** Whether its longest update since the last round was for more feeds than there are. */
    readonly isTooLong: boolean
  }
}

/** A stored round with every provider of its signing policy. */
export interface WholeRound {
  readonly round: number
  readonly providers: ReadonlyMap<string, ComparedRecord>
}

/** Judges what a stored round says of a provider; undefined if it says nothing of it. */
export type JudgeRecord = (record: ComparedRecord | undefined) => CheckVerdict

/** Judges by checks of a round like a watch without earlier rounds: a round is bad if one of them is bad. */
export function judgeByChecks(checks: readonly RoundCheck[]): JudgeRecord {
  const places = checks.map((name) => ROUND_CHECKS.indexOf(name))
  return (record) => {
    if (record === undefined) return 'unknown'
    const letters = places.map((place) => record.letters[place] ?? 'u')
    if (letters.includes('b')) return 'bad'
    if (letters.includes('g')) return 'good'
    return letters.every((letter) => letter === 'n') ? 'not-applicable' : 'unknown'
  }
}

/** Judges by the silence in fast updates at the end of a round. */
export function judgeBySilence(
  isFailed: (silence: NonNullable<ComparedRecord['silence']>) => boolean,
): JudgeRecord {
  return (record) => {
    if (record?.silence === undefined) return 'unknown'
    return isFailed(record.silence) ? 'bad' : 'good'
  }
}

/** Fewest rounds in which a provider has to fail before it counts as one that fails anyway: 15 minutes. */
const USUAL_ROUNDS = 10

/**
 * The providers that fail anyway: while one fulfilled its duty, they failed it in every round that is known of them. They
 * are no sign of a failure of the network.
 *
 * @param rounds whole rounds, newest first
 * @returns undefined if the provider fulfilled its duty in too few of these rounds
 */
export function usualFailers(
  rounds: readonly WholeRound[],
  { provider, judge }: { readonly provider: Address; readonly judge: JudgeRecord },
): string[] | undefined {
  const fulfilled = rounds.filter(({ providers }) => judge(providers.get(provider)) === 'good')
  const [newest] = fulfilled
  if (newest === undefined || fulfilled.length < USUAL_ROUNDS) return undefined
  return [...newest.providers.keys()].filter((voter) => {
    const verdicts = fulfilled.map(({ providers }) => judge(providers.get(voter)))
    const known = verdicts.filter((verdict) => KNOWN.includes(verdict))
    return known.length >= USUAL_ROUNDS && known.every((verdict) => verdict === 'bad')
  })
}

/**
 * The last rounds in a row in which a provider failed, newest first; rounds without the duty are left out.
 *
 * @param rounds whole rounds, newest first; the first one is the last round in which the provider failed
 * @param query `streak`: the largest number of rounds
 */
export function failedRounds(
  rounds: readonly WholeRound[],
  query: { readonly provider: Address; readonly judge: JudgeRecord; readonly streak: number },
): readonly WholeRound[] {
  const { provider, judge, streak } = query
  const failed: WholeRound[] = []
  for (const [index, whole] of rounds.entries()) {
    if (failed.length === streak || whole.round !== (rounds[0]?.round ?? 0) - index) break
    const own = judge(whole.providers.get(provider))
    if (own === 'bad') failed.push(whole)
    else if (own !== 'not-applicable') break
  }
  return failed
}

/**
 * Counts the other providers that failed in each of these rounds. `total` are those whose verdicts in all of them are known.
 *
 * @param query `without`: providers that are not counted
 * @returns undefined if there is no round, or nothing is known of the others
 */
export function countOthers(
  rounds: readonly WholeRound[],
  query: {
    readonly provider: Address
    readonly judge: JudgeRecord
    readonly without: readonly string[]
  },
): OtherProviders | undefined {
  const { provider, judge, without } = query
  const [newest] = rounds
  if (newest === undefined) return undefined
  const verdicts = [...newest.providers.keys()]
    .filter((voter) => voter !== provider && !without.includes(voter))
    .map((voter) => rounds.map(({ providers }) => judge(providers.get(voter))))
  const known = verdicts.filter((own) => own.every((verdict) => KNOWN.includes(verdict)))
  const failed = known.filter((own) => own.every((verdict) => verdict === 'bad'))
  return known.length === 0 ? undefined : { total: known.length, failed: failed.length }
}

const KNOWN: readonly CheckVerdict[] = ['good', 'bad']
