/** What an outage of a data provider costs, by its published rewards. Pure. */
import { z } from 'zod'
import type { EarningsPart } from '#src/fsp/indexer/observation-model.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { OutageCost } from '#src/kernel/outage-figures.ts'
import type { JsonObject } from '#src/kernel/units.ts'

/** The property `cost` of an alert; empty where the length of a reward epoch is not known. */
export function costData(rounds: number, earnings: EarningsPart | null): JsonObject {
  if (earnings === null || rounds === 0) return {}
  const { roundsPerEpoch: ofRounds, newest } = earnings
  const source = newest && {
    rewardEpochId: newest.rewardEpoch,
    amountWei: BigInt(newest.amountWei),
    weightRatio: newest.weightRatio,
  }
  const weighted = source && source.amountWei * ratioPlaces(source.weightRatio)
  const amountWei = weighted && (weighted * BigInt(rounds)) / (BigInt(ofRounds) * RATIO_PLACES)
  const { symbol } = servedChain()
  return { cost: z.encode(OutageCost, { rounds, ofRounds, amountWei, symbol, source }) }
}

const RATIO_PLACES = 10_000n

/** A ratio in units of its last decimal; one where it is not known. */
function ratioPlaces(ratio: number | null): bigint {
  return ratio === null ? RATIO_PLACES : BigInt(Math.round(ratio * Number(RATIO_PLACES)))
}
