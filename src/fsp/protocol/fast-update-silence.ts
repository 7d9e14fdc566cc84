/**
 * Probability that an active provider sends no fast update for a while. In every block, sortition selects
 * each of 4096 virtual providers independently; a provider has a number of them that depends on its weight.
 */

const VIRTUAL_PROVIDERS = 4096
/** The contract's expected number of updates per block is fixed-point with 120 binary places. */
const SAMPLE_SIZE_PLACES = 2 ** 120
/** Lower limit of the returned probabilities. */
const PROBABILITY_MIN = 1e-300

/** Expected updates per block, from the contract's fixed-point value. */
export function updatesPerBlockOf(fixedPoint: bigint): number {
  return Number(fixedPoint) / SAMPLE_SIZE_PLACES
}

/**
 * Amount by which some blocks of silence raise the exponent: `exp(-sum)` is the probability of the whole
 * silence. A sum continues when weight or sample size change.
 *
 * @param sortitionWeight number of the provider's virtual providers; 0 while the provider cannot take part
 */
export function silenceExponent(
  sortitionWeight: number,
  blocks: number,
  updatesPerBlock: number,
): number {
  return -sortitionWeight * blocks * Math.log1p(-updatesPerBlock / VIRTUAL_PROVIDERS)
}

/** The probability that an exponent stands for. */
export function chanceOfSilence(exponent: number): number {
  return Math.max(PROBABILITY_MIN, Math.exp(-exponent))
}

/** Whether a silence is less likely than `probability`. */
export function isSilenceImprobable(exponent: number, probability: number): boolean {
  return exponent >= -Math.log(probability)
}

/** Number of blocks in 1 % of a reward epoch. */
export function blocksInOnePercentOfEpoch(epochSeconds: number, blockSeconds: number): number {
  return Math.floor(Math.floor(epochSeconds / blockSeconds) / 100)
}

/** Number of a provider's virtual providers: its share of 4096, rounded up. */
export function sortitionWeightOf(weight: number, sumWithKeys: number): number {
  return Math.ceil((weight * VIRTUAL_PROVIDERS) / sumWithKeys)
}
