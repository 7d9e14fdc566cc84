/**
 * How likely it is that an active provider sends no fast update for a while. Every block draws each of
 * the 4096 virtual providers independently; a provider stands for some of them by its weight.
 *
 */

const VIRTUAL_PROVIDERS = 4096
/** The expected number of updates a block is a fixed-point number with so many binary places. */
const SAMPLE_SIZE_PLACES = 2 ** 120
/** No chance is given as smaller than this. */
const PROBABILITY_MIN = 1e-300

/** Updates expected a block, from the contract's fixed-point value. */
export function sampleSize(fixedPoint: bigint): number {
  return Number(fixedPoint) / SAMPLE_SIZE_PLACES
}

/**
 * What some blocks of silence add to the exponent of the chance: `exp(-sum)` is the chance of all of
 * them. Sums go over changes of weight and of sample size.
 *
 * @param sortitionWeight virtual providers the provider stands for; 0 while it cannot take part
 */
export function silenceExponent(
  sortitionWeight: number,
  blocks: number,
  updatesPerBlock: number,
): number {
  return -sortitionWeight * blocks * Math.log1p(-updatesPerBlock / VIRTUAL_PROVIDERS)
}

/** The chance that belongs to an exponent. */
export function chanceOfSilence(exponent: number): number {
  return Math.max(PROBABILITY_MIN, Math.exp(-exponent))
}

/** Whether that much silence is less likely than `probability`. */
export function isSilent(exponent: number, probability: number): boolean {
  return exponent >= -Math.log(probability)
}

/** Blocks in 1 % of a reward epoch. */
export function onePercentOfEpoch(epochSeconds: number, blockSeconds: number): number {
  return Math.floor(Math.floor(epochSeconds / blockSeconds) / 100)
}

/** A provider's virtual providers: its share of 4096, rounded up. */
export function sortitionWeightOf(weight: number, sumWithKeys: number): number {
  return Math.ceil((weight * VIRTUAL_PROVIDERS) / sumWithKeys)
}
