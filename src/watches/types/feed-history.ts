import { findFeed } from '#src/chain/feeds/feed-names.ts'
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { History } from '../history.ts'
import { windowOf } from './feed-settings.ts'

/**
 * Two stored prices that are further apart than this have a gap between them, in which the feed was not
 * watched.
 */
const GAP_MS = 15 * MINUTE_MS

/** A stored price in the format of an observation of `feed-move`. */
interface PastFeedPrice {
  readonly position: number
  readonly at: Date
  readonly feed: string
  readonly feedId: string
  readonly price: { readonly value: bigint; readonly decimals: number }
  readonly updatedAt: Date
  readonly oldest: { readonly value: bigint; readonly decimals: number; readonly at: Date }
}

/** The stored prices of a feed. */
export const feedHistory: History<{ feed: string }, { windowSeconds?: number }, PastFeedPrice> = {
  keeps: 'each',
  gapMs: GAP_MS,
  async *read({ chain, facts }, { target, settings, from, to, signal }) {
    const list = await chain.feedList(signal)
    const known = list && findFeed(list, target.feed)
    if (known === undefined) {
      yield { observations: [], gaps: ['no_data'] }
      return
    }
    let isEmpty = true
    for await (const prices of facts.feedHistory(known.id, windowOf(settings), { from, to })) {
      if (prices.length > 0) isEmpty = false
      yield {
        observations: prices.map(({ price: { value, decimals, at, block: position }, oldest }) => {
          const feed = { feed: known.name, feedId: known.id, updatedAt: at }
          return { position, at, ...feed, price: { value, decimals }, oldest }
        }),
      }
    }
    // Without any price the backtest adds the gap `no_data`, unless there is another gap.
    if (!isEmpty && to.getTime() - from.getTime() > DAY_MS)
      yield { observations: [], gaps: ['coarse_prices'] }
  },
}
