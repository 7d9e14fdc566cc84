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
export function countRounds(rounds: ProviderView['rounds']): {
  readonly seen: number
  readonly bad: number
} {
  const some = (is: (cell: RoundCell) => boolean) =>
    rounds.filter((round) => DUTIES.some((duty) => is(cellOf(round, duty)))).length
  return { seen: some((cell) => cell !== 'unknown'), bad: some(isBad) }
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
export function countVerdicts(
  rounds: readonly ProviderObservation['checks'][],
): ReturnType<typeof countRounds> {
  const startsAt = new Date(0)
  return countRounds(rounds.map((checks) => ({ id: 0, startsAt, ...cellsOf({ checks }) })))
}
