import { parseUnits } from 'viem/utils'
import type { z } from 'zod'
import { feedName } from '#src/chain/feeds/feed-names.ts'
import type { ExampleWatch } from '../signal.ts'
import type { Price } from './feed-prices.ts'
import { windowOf } from './feed-settings.ts'

/** Data of an example alert about a price. */
export const PRICE_EXAMPLE = {
  feed: 'FLR/USD',
  feedId: '0x01464c522f55534400000000000000000000000000',
  fromPrice: '0.01997',
  toPrice: '0.01873',
  movePercent: -6.2093,
  thresholdPercent: 5,
  windowSeconds: 3600,
  direction: 'any',
  fromTime: '2026-11-20T13:05:10.000Z',
  toTime: '2026-11-20T14:05:10.000Z',
  blockNumber: 41_880_123,
}

/** Placeholder for the price before the first observation. */
const UNSEEN_PRICE = { value: 1n, decimals: 0 }
/** 100 percent: the maximum fall of a price. */
export const WHOLE_PERCENT = 100
/** Number of decimals with which percentages are converted to whole numbers (bigint). */
export const PERCENT_DECIMALS = 6
/** Additional decimals of the price before a move, so that its rounding is not visible. */
const MORE_DECIMALS = 6

/**
 * The price from which a rise or fall of `percent` leads to `price`, rounded so that the move is not
 * smaller than `percent`.
 */
function priceBefore(
  { value, decimals }: z.output<typeof Price>,
  percent: number,
  direction: 'any' | 'up' | 'down',
): z.output<typeof Price> {
  const isFall = direction === 'down' || (direction === 'any' && percent < WHOLE_PERCENT)
  const all = parseUnits(`${WHOLE_PERCENT}`, PERCENT_DECIMALS)
  const move = parseUnits(`${percent}`, PERCENT_DECIMALS)
  const part = isFall ? all - move : all + move
  const scaled = value * 10n ** BigInt(MORE_DECIMALS) * all
  const isRounded = isFall && scaled % part !== 0n
  return { value: scaled / part + (isRounded ? 1n : 0n), decimals: decimals + MORE_DECIMALS }
}

/** The fields of a price watch that its example needs. */
type PriceWatch = Pick<
  ExampleWatch<
    { readonly feed: string },
    {
      readonly percent?: number | null | undefined
      readonly windowSeconds?: number
      readonly direction: 'any' | 'up' | 'down'
    },
    { readonly price: z.output<typeof Price>; readonly feed: string; readonly feedId: string }
  >,
  'target' | 'settings' | 'observation' | 'at'
>

/**
 * The baseline and the observation of a move by the watch's percentage, which ends at the last observed
 * price.
 */
export function exampleMove({ target, settings, observation, at }: PriceWatch) {
  const price = observation?.price ?? UNSEEN_PRICE
  const since = new Date(at.getTime() - windowOf(settings) * 1000)
  const baseline = {
    ...priceBefore(price, settings.percent ?? PRICE_EXAMPLE.thresholdPercent, settings.direction),
    at: since,
  }
  const feed = observation?.feed ?? feedName(target.feed) ?? target.feed
  const feedId = observation?.feedId ?? PRICE_EXAMPLE.feedId
  const now = { feed, feedId, position: 0, price, at, updatedAt: at, oldest: baseline }
  return { baseline, now }
}
