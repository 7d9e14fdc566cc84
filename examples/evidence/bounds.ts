/** How much a claim of each kind may make an endpoint read. More is not checked, and nothing is asked. */
import { EPOCH_BLOCKS } from './absence.ts'
import type { Claim, Evidence } from './file.ts'
import { Unchecked } from './rpc.ts'

/** Rounds of a streak, of the setting after which it alerts, and of a budget: a reward epoch on the main networks. */
const [STREAK_MAX, REQUIRED_MAX, RATE_MAX] = [60, 20, 3360]
/** Length of a reward epoch on the main networks; others have shorter ones. */
const EPOCH_MS = 302_400_000

/** @throws Unchecked for a claim that needs more than that */
export function mustBeBounded({ claim, data, firedAt }: Evidence): void {
  const since = (time: unknown) => Date.parse(firedAt) - Date.parse(String(time))
  for (const [what, amount, max] of amountsOf(claim, data, since)) {
    if (!(amount <= max))
      throw new Unchecked(`${amount} ${what} are more than the ${max} read here`)
  }
}

type Amount = readonly [what: string, amount: number, max: number]

function amountsOf(
  claim: Claim,
  data: Evidence['data'],
  since: (time: unknown) => number,
): readonly Amount[] {
  switch (claim.kind) {
    case 'round':
      return [
        ['rounds', claim.round + 1 - claim.firstRound, STREAK_MAX],
        ['required rounds', claim.required, REQUIRED_MAX],
      ]
    case 'rate':
      return [['rounds', claim.rounds, RATE_MAX]]
    case 'silence': {
      const last = claim.lastUpdateBlock ?? claim.block - claim.blocksSinceUpdate
      return [['blocks', claim.block - last, EPOCH_BLOCKS]]
    }
    case 'registration':
      return [['milliseconds', since(claim.openedAt), EPOCH_MS]]
    case 'vote':
      return [['milliseconds', since(data['endedAt']), 2 * EPOCH_MS]]
    // These read a number of blocks that does not depend on their figures; lists have a maximum in the file.
    case 'failed-call':
    case 'update':
    case 'membership':
    case 'balance':
    case 'eligibility':
    case 'rewards':
    case 'listing':
      return []
  }
}
