import { type WeightedValue, weightedMedian } from './ftso.ts'
import {
  badVerdict,
  GOOD_VERDICT,
  NOT_APPLICABLE,
  type RoundCheckVerdict,
  type RoundContext,
} from './verdict.ts'

/**
 * Maximum share of the feeds with a median for which a reveal may lack a value. Beyond it the minimal
 * condition is certainly missed.
 */
const MISSING_MAX = 0.2

/**
 * Judges whether the prices of a reveal fit the feeds. The number of feeds is that of
 * `countFeeds`; the medians show which feeds have a price. Without a reveal that matches its commit,
 * nothing is judged.
 */
export function judgeFeedValues(
  { evidence, matched, priced, feedCount }: RoundContext,
  index: number,
): RoundCheckVerdict {
  const values = matched.get(index)
  const tx = evidence.providers.get(index)?.reveal.inTime?.tx ?? null
  if (values === undefined || feedCount === undefined) return NOT_APPLICABLE
  const about = { tx, valuesSent: values.filter((value) => value !== null).length, feedCount }
  if (values.length > feedCount)
    return badVerdict({ reason: 'too-many-values', ...about, valuesSent: values.length })
  const feeds = priced.filter((feed) => (values[feed] ?? null) === null)
  const isLacking = feeds.length > priced.length * MISSING_MAX
  return isLacking ? badVerdict({ reason: 'values-missing', ...about, feeds }) : GOOD_VERDICT
}

/** The feeds that have a price, by their medians. */
export function pricedFeedIndices(medians: readonly (number | undefined)[]): readonly number[] {
  return medians.flatMap((median, feed) => (median === undefined ? [] : [feed]))
}

/**
 * The number of feeds of a round. Each reveal votes, with its provider's weight, for its number of values; the number
 * with the most weight wins, the larger one at a tie. Undefined without a reveal that matches its commit.
 */
export function countFeeds(
  matched: RoundContext['matched'],
  providers: readonly { readonly weight: number }[],
): number | undefined {
  const weights = new Map<number, number>()
  for (const [index, { length }] of matched) {
    weights.set(length, (weights.get(length) ?? 0) + (providers[index]?.weight ?? 0))
  }
  const [most] = [...weights].toSorted((a, b) => b[1] - a[1] || b[0] - a[0])
  return most?.[0]
}

/** The median of each feed over all reveals that match their commits. */
export function mediansOf(
  providers: readonly { readonly weight: number }[],
  matched: RoundContext['matched'],
  feeds: number,
): readonly (number | undefined)[] {
  return Array.from({ length: feeds }, (_, feed) => {
    const votes: WeightedValue[] = []
    for (const [index, values] of matched) {
      const value = values[feed]
      const weight = providers[index]?.weight
      if (value === undefined || value === null || weight === undefined) continue
      votes.push({ value, weight })
    }
    return weightedMedian(votes)
  })
}
