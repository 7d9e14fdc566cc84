import type { ProviderObservation } from '#src/fsp/indexer/observation.ts'
import {
  cellOf,
  cellsOf,
  DUTIES,
  isBad,
  type ProviderView,
  type RoundCell,
} from './provider-view.ts'

/** Numbers of rounds with a known result, and of those with an unfulfilled duty. */
export interface RoundCounts {
  readonly seen: number
  readonly bad: number
}

export function countRounds(rounds: ProviderView['rounds']): RoundCounts {
  const some = (is: (cell: RoundCell) => boolean) =>
    rounds.filter((round) => DUTIES.some((duty) => is(cellOf(round, duty)))).length
  return { seen: some((cell) => cell !== 'unknown'), bad: some(isBad) }
}

/** State of `range` rounds: fine only if the result of every one is known. */
export function toneOfRounds({ seen, bad }: RoundCounts, range: number): '' | 'fine' | 'critical' {
  if (bad > 0) return 'critical'
  return seen === range ? 'fine' : ''
}

/** The stored rounds among the newest `range` round ids. */
export function roundsWithin(
  rounds: ProviderView['rounds'],
  range: number,
): ProviderView['rounds'] {
  const [newest] = rounds
  return rounds.filter((round) => newest !== undefined && round.id > newest.id - range)
}

/** As `countRounds`, from the verdicts of rounds. */
export function countVerdicts(rounds: readonly ProviderObservation['checks'][]): RoundCounts {
  const startsAt = new Date(0)
  return countRounds(rounds.map((checks) => ({ id: 0, startsAt, ...cellsOf({ checks }) })))
}
