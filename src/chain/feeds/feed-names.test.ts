import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cryptoFeedId, type FeedList, feedName, findFeed, nearestFeeds } from './feed-names.ts'

const KNOWN = [
  ['FLR/USD', '0x01464c522f55534400000000000000000000000000'],
  ['XRP/USD', '0x015852502f55534400000000000000000000000000'],
  ['USDT/USD', '0x01555344542f555344000000000000000000000000'],
  ['SOL/USD', '0x01534f4c2f55534400000000000000000000000000'],
] as const

const list: FeedList = {
  feeds: [
    ...KNOWN.map(([name, id]) => ({ name, id })),
    { name: 'sFLR/USD', id: '0x2173464c522f555344000000000000000000000000' },
    { name: 'POL/USD', id: cryptoFeedId('POL/USD') },
  ],
  renamed: new Map([[cryptoFeedId('MATIC/USD'), cryptoFeedId('POL/USD')]]),
}

describe('the id of a feed', () => {
  test.each(KNOWN)('of %s has the known value', (name, id) => {
    expect(cryptoFeedId(name)).toBe(id)
    expect(feedName(id)).toBe(name)
  })

  test('contains the name in any category, and none if it is malformed', () => {
    expect(feedName('0x2173464c522f555344000000000000000000000000')).toBe('sFLR/USD')
    expect(feedName('0x01')).toBeUndefined()
    expect(feedName('FLR/USD')).toBeUndefined()
    expect(feedName(`0x${'00'.repeat(21)}`)).toBeUndefined()
  })

  test('is decoded to the name from which it was made', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9]{1,9}\/[A-Z]{3}$/)
    fc.assert(
      fc.property(name, (name) => {
        expect(feedName(cryptoFeedId(name))).toBe(name)
      }),
    )
  })
})

describe('a feed', () => {
  test.each([
    ['FLR/USD', 'FLR/USD'],
    ['flr/usd', 'FLR/USD'],
    ['sol', 'SOL/USD'],
    ['sflr', 'sFLR/USD'],
    ['0x015852502F55534400000000000000000000000000', 'XRP/USD'],
    ['0x2173464c522f555344000000000000000000000000', 'sFLR/USD'],
    ['MATIC/USD', 'POL/USD'],
    [cryptoFeedId('MATIC/USD'), 'POL/USD'],
  ])('is found by %s', (text, name) => {
    expect(findFeed(list, text)?.name).toBe(name)
  })

  test.each(['BTC/USD', 'FLR/EUR', '', '0x01'])('is not found by “%s”', (text) => {
    expect(findFeed(list, text)).toBeUndefined()
  })

  test('most similar to a mistyped name is suggested first', () => {
    expect(nearestFeeds(list, 'XPR/USD')[0]).toBe('XRP/USD')
    expect(nearestFeeds(list, 'sl')[0]).toBe('SOL/USD')
    expect(nearestFeeds(list, 'USDC')[0]).toBe('USDT/USD')
  })
})

test('a feed that was renamed twice is found by its first name, and a cycle of renamings is not found', () => {
  const [first, second] = [cryptoFeedId('FIRST/USD'), cryptoFeedId('SECOND/USD')]
  const twice = {
    ...list,
    renamed: new Map([
      [first, second],
      [second, cryptoFeedId('POL/USD')],
    ]),
  }
  expect(findFeed(twice, 'first')?.name).toBe('POL/USD')
  const circle = {
    ...list,
    renamed: new Map([
      [first, second],
      [second, first],
    ]),
  }
  expect(findFeed(circle, 'first')).toBeUndefined()
})
