import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type WatchWorld, watchWorld } from './world.ts'

/** Watches of price feeds over the chain's stand-in for FtsoV2. */

let world: WatchWorld

beforeAll(async () => {
  world = await watchWorld()
})
afterAll(() => world.close())

const price = (name: string, value: number) =>
  world.devnet.contracts.setFeed(name, BigInt(value), 5)

describe('a watch of a feed', () => {
  test('fires once per window on a move, with the compared prices', async () => {
    const five = await world.watch(
      'feed-move',
      { feed: 'XRP/USD' },
      { percent: 5, windowSeconds: 3600 },
    )
    const watchId = await world.watch(
      'feed-move',
      { feed: 'XRP/USD' },
      { percent: 1, windowSeconds: 60 },
    )
    await price('XRP/USD', 250_000)
    await world.pass(30)
    await price('XRP/USD', 255_000)
    await world.pass(30)
    expect(await world.events(watchId.id)).toEqual(['feed-move.threshold'])
    expect(await world.events(five.id)).toEqual([])
    await price('XRP/USD', 262_500)
    await world.pass(30)
    const [alert] = await world.notified(five.id)
    expect(alert).toMatchObject({
      event: 'feed-move.threshold',
      severity: 'warning',
      data: {
        feed: 'XRP/USD',
        fromPrice: '2.5',
        toPrice: '2.625',
        movePercent: 5,
        thresholdPercent: 5,
        windowSeconds: 3600,
        direction: 'any',
      },
    })
    await price('XRP/USD', 300_000)
    await world.pass(1800)
    expect(await world.events(five.id)).toHaveLength(1)
    await world.pass(1830)
    expect(await world.events(five.id)).toHaveLength(1)
    await price('XRP/USD', 400_000)
    await world.pass(30)
    expect((await world.notified(five.id)).map(({ severity }) => severity)).toEqual([
      'warning',
      'critical',
    ])
  })

  test('is observed together with all feeds at every tick, in one request', async () => {
    await world.watch('feed-move', { feed: 'FLR/USD' }, { percent: 5, windowSeconds: 600 })
    await world.watch('feed-move', { feed: 'FLR/USD' }, { percent: 7, windowSeconds: 900 })
    await world.pass(30)
    world.primary.resetCounts()
    await world.pass(30)
    const { eth_call: calls } = world.primary.counts()
    expect(calls).toBe(1)
    await world.pass(3)
    expect(world.primary.count('eth_call')).toBe(2)
  })

  test('on a feed that stands still has no data, and its owner is notified once and of the end; watches on other feeds have', async () => {
    const still = await world.watch(
      'feed-move',
      { feed: 'FLR/USD' },
      { percent: 1, windowSeconds: 120 },
    )
    const other = await world.watch(
      'feed-move',
      { feed: 'XRP/USD' },
      { percent: 90, windowSeconds: 120 },
    )
    await world.pass(30)
    const health = async ({ id }: { id: number }) =>
      (await world.alice.request('GET', `/watches/${id}`)).body.health
    expect([await health(still), await health(other)]).toEqual(['ok', 'ok'])
    await world.devnet.contracts.setFeed('FLR/USD', 1000n, 5, world.clock.now())
    await world.pass(601)
    await world.pass(100)
    expect([await health(still), await health(other)]).toEqual(['no_data', 'ok'])
    await world.pass(700)
    const since = expect.any(String)
    expect(await world.notified(still.id)).toMatchObject([
      {
        event: 'fsp.monitoring',
        severity: 'warning',
        data: { since, lastBlock: null, reason: 'target_unreadable', until: null },
        rendered: { title: 'No data for this watch' },
      },
    ])
    await price('FLR/USD', 5000)
    await world.pass(30)
    expect(await health(still)).toBe('ok')
    // Nothing in the window to compare with: the price is a baseline again.
    expect(await world.events(still.id)).toEqual(['fsp.monitoring', 'fsp.monitoring.recovered'])
    expect(await world.events(other.id)).toEqual([])
  })

  test('is on the intended feed, and an unknown feed is refused with the list of feeds', async () => {
    const made = async (feed: string) =>
      (await world.watch('feed-move', { feed }, { percent: 5, windowSeconds: 60 })).target
    expect(await made('xrp')).toEqual({ feed: 'XRP/USD' })
    expect(await made('flr/usd')).toEqual({ feed: 'FLR/USD' })
    expect(await made('0x015852502f55534400000000000000000000000000')).toEqual({ feed: 'XRP/USD' })
    const body = {
      type: 'feed-move',
      target: { feed: 'XPR/USD' },
      settings: { percent: 5, windowSeconds: 60 },
    }
    const refused = await world.alice.request('POST', '/watches', body)
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toEqual([
      expect.objectContaining({
        pointer: '/target/feed',
        code: 'feed',
        detail: expect.stringContaining('XRP/USD'),
      }),
    ])
    const impossible = {
      ...body,
      target: { feed: 'XRP/USD' },
      settings: { percent: 100, windowSeconds: 60, direction: 'down' },
    }
    expect((await world.alice.request('POST', '/watches', impossible)).body.errors).toEqual([
      expect.objectContaining({ pointer: '/settings/percent', code: 'too_big' }),
    ])
  })

  test('uses its new window when its settings change, and keeps its notified moves', async () => {
    const watch = await world.watch(
      'feed-move',
      { feed: 'XRP/USD' },
      { percent: 10, windowSeconds: 7200 },
    )
    await price('XRP/USD', 400_000)
    await world.pass(30)
    await price('XRP/USD', 420_000)
    await world.pass(30)
    expect(await world.events(watch.id)).toEqual([])
    await world.alice.request('PATCH', `/watches/${watch.id}`, {
      settings: { percent: 5, windowSeconds: 3600 },
    })
    await world.pass(30)
    expect(await world.events(watch.id)).toEqual(['feed-move.threshold'])
    await world.pass(30)
    expect(await world.events(watch.id)).toHaveLength(1)
  })

  test('has the same window after a restart of the service', async () => {
    const watch = await world.watch(
      'feed-move',
      { feed: 'XRP/USD' },
      { percent: 20, windowSeconds: 86_400 },
    )
    await price('XRP/USD', 420_000)
    await world.pass(30)
    world.restart()
    await price('XRP/USD', 510_000)
    await world.pass(3600)
    expect(await world.events(watch.id)).toEqual(['feed-move.threshold'])
    const [alert] = await world.notified(watch.id)
    expect(alert?.data).toMatchObject({ fromPrice: '4.2', toPrice: '5.1' })
  })
})

describe('stored prices', () => {
  test('are thinned out with age, and a window still compares with the same price', async () => {
    const { app, sql } = world
    const feed = '0x01000000000000000000000000000000000000ff00'
    const end = new Date('2026-12-20T00:00:00Z')
    const before = (minutes: number) => new Date(end.getTime() - minutes * 60_000)
    await sql`
      insert into feed_points (feed, at, block, value, decimals, grade)
      select ${feed}, at, 1, extract(epoch from at)::bigint, 0,
        case when extract(epoch from at)::bigint % 300 = 0 then 1 else 2 end
      from generate_series(${before(10 * 1440)}::timestamptz, ${end}::timestamptz, interval '30 seconds') at`
    const count = async () =>
      Number((await sql`select count(*) from feed_points where feed = ${feed}`)[0]?.count)
    expect(await count()).toBe(28_801)
    world.clock.set(end)
    await app.facts.prune()
    // A day with every price and a week with one price per five minutes, each plus an hour.
    expect(await count()).toBe(25 * 120 + 6 * 24 * 12 + 1)
  })

  test('are all used by windows of up to a day, and one in five minutes by longer windows', async () => {
    const target = { feed: 'FLR/USD' }
    await world.watch('feed-move', target, { percent: 900, windowSeconds: 604_800 })
    await world.pass(300)
    const { timestamp } = await world.devnet.client.getBlock()
    // Places the low price within five minutes, where it is not the first price.
    await world.pass(420 - (Number(timestamp) % 300))
    await price('FLR/USD', 100)
    await world.pass(20)
    const low = await world.app.chain.confirmedBlock(1)
    await price('FLR/USD', 2000)
    await world.pass(20)
    const now = { ...low, at: new Date(low.at.getTime() + 86_395_000) }
    const windows = [86_400, 86_401].map((windowSeconds) => ({ ...target, windowSeconds }))
    const { feedPrices } = world.app.chain
    Object.assign(world.app.chain, {
      feedPrices: async (feeds: readonly string[], at: typeof low) => {
        const read = await feedPrices(feeds, {
          ...low,
          number: await world.devnet.client.getBlockNumber().then(Number),
        })
        return read.map((point) => point && { ...point, at: at.at })
      },
    })
    const [day, longer] = await world.app.facts.feedWindows(windows, {
      ...now,
      hash: `0x${'1'.repeat(64)}`,
    })
    Object.assign(world.app.chain, { feedPrices })
    expect(day?.oldest.value).toBe(100n)
    expect(longer?.oldest.value).not.toBe(100n)
  })
})
