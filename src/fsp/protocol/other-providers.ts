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

/**
 * Counts the other providers that failed a duty in the last rounds in which a provider failed it. `total` are those whose
 * verdicts in all of these rounds are known.
 *
 * @param rounds whole rounds, newest first; the first one is the last round in which the provider failed
 * @param query `checks`: a round failed if one of them is bad. `streak`: the largest number of rounds that count
 * @returns undefined if nothing is known of the others, or the newest round is not known
 */
export function countOthers(
  rounds: readonly WholeRound[],
  query: {
    readonly provider: Address
    readonly checks: readonly RoundCheck[]
    readonly streak: number
  },
): OtherProviders | undefined {
  const { provider, checks, streak } = query
  const places = checks.map((name) => ROUND_CHECKS.indexOf(name))
  const counted: WholeRound[] = []
  for (const [index, whole] of rounds.entries()) {
    if (counted.length === streak || whole.round !== (rounds[0]?.round ?? 0) - index) break
    const own = verdictOf(whole.providers.get(provider), places)
    if (own === 'bad') counted.push(whole)
    else if (own !== 'not-applicable') break
  }
  const [newest] = counted
  if (newest === undefined) return undefined
  const verdicts = [...newest.providers.keys()]
    .filter((voter) => voter !== provider)
    .map((voter) => counted.map(({ providers }) => verdictOf(providers.get(voter), places)))
  const known = verdicts.filter((own) => own.every((verdict) => KNOWN.includes(verdict)))
  const failed = known.filter((own) => own.every((verdict) => verdict === 'bad'))
  return known.length === 0 ? undefined : { total: known.length, failed: failed.length }
}

const KNOWN: readonly CheckVerdict[] = ['good', 'bad']

/** Verdict of several checks of one round: the same as a watch has without earlier rounds. */
function verdictOf(record: ComparedRecord | undefined, places: readonly number[]): CheckVerdict {
  if (record === undefined) return 'unknown'
  const letters = places.map((place) => record.letters[place] ?? 'u')
  if (letters.includes('b')) return 'bad'
  if (letters.includes('g')) return 'good'
  return letters.every((letter) => letter === 'n') ? 'not-applicable' : 'unknown'
}

/** Counts the other providers whose fast updates fail in the same way in the newest of these rounds. */
export function countSilent(
  [newest]: readonly WholeRound[],
  provider: Address,
  isFailed: (silence: NonNullable<ComparedRecord['silence']>) => boolean,
): OtherProviders | undefined {
  if (newest === undefined) return undefined
  const others = [...newest.providers].flatMap(([voter, { silence }]) =>
    voter === provider || silence === undefined ? [] : [silence],
  )
  if (others.length === 0) return undefined
  return { total: others.length, failed: others.filter(isFailed).length }
}
