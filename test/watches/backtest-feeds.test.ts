import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../support/runs.ts'
import { compareAll, createWatch, liftLimits } from './compared.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/**
 * The same random prices twice: once while watches run, by the jobs, the evaluator and the tables of alerts; once as
 * a backtest of the same watches over the stored prices. Both give the same alerts.
 */

const RUNS = runs(1, 20)
const FEEDS = ['XRP/USD', 'BTC/USD']
const START_PRICE = 250_000
const DECIMALS = 5

let world: WatchWorld
beforeAll(async () => {
  world = await watchWorld()
  liftLimits(world.app)
}, 60_000)
afterAll(() => world.close())

const watch = fc.record({
  percent: fc.integer({ min: 3, max: 9 }),
  windowSeconds: fc.constantFrom(60, 180, 600, 1800),
  direction: fc.constantFrom('any', 'up', 'down'),
  cooldownSeconds: fc.constantFrom(0, 180, 600),
  below: fc.constantFrom(null, '2.3', '2.45'),
  above: fc.constantFrom(null, '2.51', '2.7'),
})
const step = fc.record({
  /** Percent of the first price. */
  moves: fc.array(fc.integer({ min: -12, max: 12 }), {
    minLength: FEEDS.length,
    maxLength: FEEDS.length,
  }),
  seconds: fc.integer({ min: 1, max: 240 }),
  isSeen: fc.boolean(),
})
const history = fc.record({
  watches: fc.array(watch, { minLength: 2, maxLength: 6 }),
  steps: fc.array(step, { minLength: 8, maxLength: 20 }),
})

/** Fires alerts for certain, which few random histories may not: prices rise and fall by 12 percent. */
const SURE = {
  watches: FEEDS.map(() => {
    return {
      percent: 3,
      windowSeconds: 600,
      direction: 'any',
      cooldownSeconds: 0,
      below: '2.45',
      above: '2.51',
    } as const
  }),
  steps: Array.from({ length: 8 }, (_, index) => ({
    moves: FEEDS.map(() => (index % 2 === 0 ? 12 : -12)),
    seconds: 60,
    isSeen: true,
  })),
}

async function setPrices(moves: readonly number[]): Promise<void> {
  for (const [index, feed] of FEEDS.entries()) {
    const value = Math.round(START_PRICE * (1 + (moves[index] ?? 0) / 100))
    await world.devnet.contracts.setFeed(feed, BigInt(value), DECIMALS)
  }
}

test('a backtest returns the alerts that a watch of the feed fired in that time', async () => {
  const property = fc.asyncProperty(history, async ({ watches: wanted, steps }) => {
    await world.sql`truncate feed_points, watches, targets, alerts cascade`
    await world.sql`update accounts set occupied_slots = 0`
    await setPrices(FEEDS.map(() => 0))
    const watches = []
    for (const [index, { cooldownSeconds, ...settings }] of wanted.entries()) {
      const target = { feed: FEEDS[index % FEEDS.length] }
      const body = { type: 'feed-move', target, settings, cooldownSeconds }
      watches.push(await createWatch(world, body))
    }
    await world.pass(30)
    for (const { moves, seconds, isSeen } of steps) {
      await setPrices(moves)
      if (isSeen) await world.pass(seconds)
      else await world.devnet.increaseTime(seconds)
    }
    await world.pass(30)
    alertCount += await compareAll(world, watches)
  })
  let alertCount = 0
  await fc.assert(property, { numRuns: RUNS + 1, examples: [[SURE]], endOnFailure: true })
  expect(alertCount).toBeGreaterThan(0)
})
