import { z } from 'zod'
import type { Envelope } from '#src/channels/envelope.ts'
import { Address } from '#src/kernel/units.ts'
import type { DutyResult } from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'

const ROUNDS = 20
/** Length of a voting round. */
const ROUND_MS = 90_000
/** Number of rounds since a late signature, which shows another state in the picture. */
const LATE = 11

/** Data of the example alert about its provider. */
const Data = z.object({
  provider: Address,
  rewardEpochId: z.int(),
  votingRoundId: z.int(),
  firstRoundId: z.int(),
  roundStart: z.iso.datetime().transform((text) => new Date(text)),
})

/** The fictional provider of an example alert, with its last rounds, in which commits are missing. */
export function exampleProvider({ data }: Envelope): ProviderView {
  const { provider, rewardEpochId, votingRoundId, firstRoundId, roundStart } = Data.parse(data)
  return {
    provider,
    addresses: null,
    rewardEpoch: rewardEpochId,
    registered: true,
    registeredNext: null,
    registrationOpensAt: null,
    inPolicy: true,
    weight: 0.0231,
    currentRound: votingRoundId + 1,
    rounds: Array.from({ length: ROUNDS }, (_, back) => {
      const isMissing = votingRoundId - back >= firstRoundId
      const duty: DutyResult = isMissing ? 'missing' : 'ok'
      return {
        id: votingRoundId - back,
        startsAt: new Date(roundStart.getTime() - back * ROUND_MS),
        // Without a commit there is no reveal.
        ftso: { commit: duty, reveal: duty, signature: back === LATE ? 'late' : 'ok' },
        fdc: { bitvote: 'ok', signature: 'ok' },
      }
    }),
    others: null,
    fastUpdates: null,
    last30Days: null,
    minimalConditions: { anchor: null, fdc: null, uptime: null, fastUpdates: null },
    validators: null,
    balances: [],
    asOf: null,
    stale: false,
  }
}
