/** The claims about the chain that alerts about voting rounds make. Pure. */
import { z } from 'zod'
import type { RoundCheck } from '#src/fsp/protocol/verdict.ts'
import { Address, type JsonObject } from '#src/kernel/units.ts'
import type { EvidenceClaim } from '../../evidence-model.ts'

const RoundAlert = z.looseObject({
  provider: Address,
  rewardEpochId: z.int(),
  votingRoundId: z.int(),
  firstRoundId: z.int(),
  streak: z.int(),
  rounds: z.int(),
})

/** Properties of an alert that are not values of its last bad check. */
const COMMON = [
  'provider',
  'rewardEpochId',
  'votingRoundId',
  'roundStart',
  'address',
  'since',
  'firstRoundId',
  'streak',
  'rounds',
  'others',
  'cost',
]

/** The claim of an alert of one of these checks. */
export function roundClaim(checks: readonly RoundCheck[], json: JsonObject): EvidenceClaim {
  const { provider, rewardEpochId, votingRoundId, ...rest } = RoundAlert.parse(json)
  const { streak, rounds, firstRoundId } = rest
  return {
    kind: 'round',
    provider,
    rewardEpoch: rewardEpochId,
    round: votingRoundId,
    firstRound: firstRoundId,
    streak,
    required: rounds,
    checks: [...checks],
    values: Object.fromEntries(Object.entries(json).filter(([name]) => !COMMON.includes(name))),
  }
}
