import { expect, test } from 'vitest'
import { countFeeds, judgeFeedValues, pricedFeedIndices } from './feed-values.ts'
import type { RoundContext } from './verdict.ts'

const TX = '0xaa'

/** A round in which each list of values is that of one provider, the first one's weight as given. */
function roundOf(
  lists: readonly (readonly (number | null)[] | undefined)[],
  weight = 1,
): RoundContext {
  const matched = new Map(lists.flatMap((values, place) => (values ? [[place, values]] : [])))
  const feeds = Math.max(...lists.map((values) => values?.length ?? 0))
  const medians = Array.from({ length: feeds }, (_, feed) =>
    lists.some((values) => typeof values?.[feed] === 'number') ? 100 : undefined,
  )
  const sent = { reveal: { inTime: { tx: TX } } }
  const policy = { providers: lists.map((_, place) => ({ weight: place === 0 ? weight : 10 })) }
  const evidence = { policy, providers: new Map(lists.map((_, place) => [place, sent])) }
  const feedCount = countFeeds(matched, policy.providers)
  const priced = pricedFeedIndices(medians.slice(0, feedCount))
  return { evidence, matched, medians, priced, feedCount } as unknown as RoundContext
}

const full = Array.from({ length: 10 }, () => 100)
const without = (...gone: readonly number[]) =>
  full.map((value, feed) => (gone.includes(feed) ? null : value))

test('a reveal may lack at most one feed in five', () => {
  expect(judgeFeedValues(roundOf([without(1, 2), full]), 0).verdict).toBe('good')
  expect(judgeFeedValues(roundOf([without(1, 2, 3), full]), 0)).toEqual({
    verdict: 'bad',
    values: { reason: 'values-missing', tx: TX, valuesSent: 7, feedCount: 10, feeds: [1, 2, 3] },
  })
})

test('a reveal that is too short lacks the last feeds', () => {
  expect(judgeFeedValues(roundOf([full.slice(0, 6), full]), 0).values).toMatchObject({
    reason: 'values-missing',
    feeds: [6, 7, 8, 9],
  })
})

test('a feed for which no provider has a price counts as missing for nobody', () => {
  const nobody = without(0, 1, 2, 3)
  expect(judgeFeedValues(roundOf([nobody, nobody]), 0).verdict).toBe('good')
})

test('the number of feeds is the one that providers with the most weight reveal', () => {
  const round = roundOf([[...full, 5], full, full])
  expect(judgeFeedValues(round, 0).values).toMatchObject({
    reason: 'too-many-values',
    valuesSent: 11,
    feedCount: 10,
  })
  expect(judgeFeedValues(round, 1).verdict).toBe('good')
  // With most of the weight the longer list is the right one; a single lacking feed is no failure.
  expect(judgeFeedValues(roundOf([[...full, 5], full, full], 1000), 1).verdict).toBe('good')
})

test('the values of a reveal that does not match its commit are not judged', () => {
  expect(judgeFeedValues(roundOf([undefined, full]), 0).verdict).toBe('not-applicable')
})
