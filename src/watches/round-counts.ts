import type { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import {
  DUTIES,
  type DutyResult,
  dutyResultOf,
  dutyResultsOf,
  isBadResult,
  type ProviderView,
} from './provider-view.ts'

/** Number of rounds with a known result, and number of these rounds with an unfulfilled duty. */
export interface RoundCounts {
  readonly known: number
  readonly bad: number
}

export function countRounds(rounds: ProviderView['rounds']): RoundCounts {
  const countRoundsWith = (matches: (cell: DutyResult) => boolean) =>
    rounds.filter((round) => DUTIES.some((duty) => matches(dutyResultOf(round, duty)))).length
  return { known: countRoundsWith((cell) => cell !== 'unknown'), bad: countRoundsWith(isBadResult) }
}

/**
 * Tone in which pages show `range` rounds: `critical` if a duty was not fulfilled, `fine` if the results of all rounds
 * are known, otherwise none.
 */
export function toneOfRounds({ known, bad }: RoundCounts, range: number): '' | 'fine' | 'critical' {
  if (bad > 0) return 'critical'
  return known === range ? 'fine' : ''
}

/** The stored rounds among the newest `range` round ids. */
export function roundsWithin(
  rounds: ProviderView['rounds'],
  range: number,
): ProviderView['rounds'] {
  const [newest] = rounds
  return rounds.filter((round) => newest !== undefined && round.id > newest.id - range)
}

/** Like `countRounds`, from the verdicts of rounds. */
export function countRoundsOfVerdicts(
  rounds: readonly ProviderObservation['checks'][],
): RoundCounts {
  // `countRounds` reads neither the number nor the start of a round.
  const startsAt = new Date(0)
  return countRounds(rounds.map((checks) => ({ id: 0, startsAt, ...dutyResultsOf({ checks }) })))
}
