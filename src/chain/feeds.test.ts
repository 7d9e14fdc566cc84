import { expect, test } from 'vitest'
import { feedId } from './feeds.ts'

/** @see protocol reference, 8.1 */
test.each([
  ['FLR/USD', '0x01464c522f55534400000000000000000000000000'],
  ['XRP/USD', '0x015852502f55534400000000000000000000000000'],
  ['USDT/USD', '0x01555344542f555344000000000000000000000000'],
])('the feed %s has its known id', (name, id) => {
  expect(feedId(name)).toBe(id)
})
