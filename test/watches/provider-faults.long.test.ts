import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** Reading of voting rounds under faults of endpoints: no false alert, and none is lost. */

const SIGNALS = [{ id: 'ftso-commit', enabled: true, parameters: { rounds: 2 } }]

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld(['Healthy', 'Mute'], { unwatched: ['Later', 'Third'] })
  await world.simulation().playRounds(4)
  await world.scan()
}, 60_000)
afterAll(() => world.close())

const endpoints = () => [world.primary, world.secondary]
/** Observes once and ignores errors. */
async function tick(): Promise<void> {
  await world.read().catch(() => undefined)
  await world.look().catch(() => undefined)
}

const heard = new Map<string, number>()
async function news(name: string): Promise<readonly string[]> {
  const events = await world.events(name)
  const fresh = events.slice(heard.get(name) ?? 0)
  heard.set(name, events.length)
  return fresh
}

/** As `events`, without the outage alerts and the alerts that follow from many missed rounds. */
async function fresh(name: string): Promise<readonly string[]> {
  return (await news(name)).filter((event) => !/monitoring|mc-anchor/.test(event))
}

async function bothUp(): Promise<void> {
  await Promise.all(endpoints().map((proxy) => proxy.up()))
  world.clock.advance(31)
}

/** Rounds that are kept, without a gap between the first and the last. */
async function gaps(): Promise<number> {
  const [row] =
    await world.sql`select max(round) - min(round) + 1 - count(*) as gaps from fsp_rounds`
  return Number(row?.['gaps'])
}

/** Lets the provider miss three commits, and calls `disturb` before each observation of them. */
async function missCommits(disturb: (step: number) => Promise<void> | void): Promise<void> {
  await world.behave('Mute', 'no-commit')
  for (let step = 0; step < 3; step += 1) {
    const { round, timing } = world.simulation()
    const begins = timing.firstRoundStart + round * timing.roundSeconds
    for (const offset of [45, 89]) {
      await world.simulation().playTo(begins + offset, { inFull: true })
      await disturb(step)
      await tick()
    }
  }
  await bothUp()
  await world.simulation().recover('Mute')
  await world.simulation().playRounds(3)
  await world.scan()
}

describe('while no endpoint answers', () => {
  test('a watch of a healthy provider has only the outage alert, and every round is read afterwards', async () => {
    await Promise.all(endpoints().map((proxy) => proxy.down()))
    for (let round = 0; round < 3; round += 1) {
      await world.simulation().playRounds(1)
      await tick()
      world.clock.advance(20)
      await tick()
    }
    expect(await news('Healthy')).toEqual(['fsp.monitoring warning'])
    await bothUp()
    await world.simulation().playRounds(3)
    await world.scan()
    expect(await news('Healthy')).toEqual(['fsp.monitoring.recovered info'])
    expect(await gaps()).toBe(0)
    await news('Mute')
  })

  test('for a moment only, no alert fires', async () => {
    for (const proxy of endpoints()) proxy.failNext(99, { status: 502 }, 'eth_getLogs')
    const { round, timing } = world.simulation()
    const begins = timing.firstRoundStart + round * timing.roundSeconds
    await world.simulation().playTo(begins + 21, { inFull: true })
    await expect(world.read()).rejects.toThrow()
    await bothUp()
    await tick()
    for (let seconds = 25; seconds < 155; seconds += 32) {
      await world.simulation().playTo(begins + seconds, { inFull: true })
      await tick()
    }
    expect(await news('Healthy')).toEqual([])
  })
})

describe('a provider that misses its commits', () => {
  const EXPECTED = ['fsp.ftso-commit warning', 'fsp.ftso-commit.recovered info']

  test('fires one alert if the process restarts in the middle of rounds, and an endpoint leaves events out', async () => {
    await missCommits(() => {
      world.restart()
      world.primary.emptyLogs()
    })
    expect(await news('Mute')).toEqual(EXPECTED)
    expect(await news('Healthy')).toEqual([])
    expect(await gaps()).toBe(0)
  })

  test('fires no second alert if the same blocks are read again', async () => {
    const before = await world.notified()
    await world.sql`update fsp_progress set resume_from = 0`
    world.restart()
    await world.scan()
    expect(await world.notified()).toEqual(before)
    expect(await gaps()).toBe(0)
  })

  test.each([
    ['has no block for a while', (step: number) => noBlocks(step < 2 ? endpoints() : [])],
    ['breaks off in the middle', () => breakOff()],
    ['says that blocks are empty', () => emptyBlocks()],
  ])('fires one alert if an endpoint %s', async (_name, disturb) => {
    await missCommits(disturb)
    expect(await fresh('Mute')).toEqual(EXPECTED)
    expect(await fresh('Healthy')).toEqual([])
    expect(await gaps()).toBe(0)
  })

  function noBlocks(proxies: (typeof world.primary)[]): void {
    for (const proxy of proxies) proxy.rewrite('eth_getBlockByNumber', () => null)
  }
  function breakOff(): void {
    for (const proxy of endpoints()) proxy.failNext(1, { status: 502 }, 'eth_getBlockByNumber')
    world.clock.advance(1)
  }
  function emptyBlocks(): void {
    world.primary.rewrite('eth_getBlockByNumber', (block) =>
      typeof block === 'object' && block !== null && 'transactions' in block
        ? { ...block, transactions: [] }
        : block,
    )
  }
})

test('a watch created while its provider fails alerts about rounds that end after its creation', async () => {
  await world.behave('Later', 'no-commit')
  await world.simulation().playRounds(5)
  await world.scan()
  await world.watch('Later', SIGNALS)
  await world.look()
  const made = world.simulation().round
  expect(await news('Later')).toEqual([])
  await world.simulation().playRounds(1)
  await world.scan()
  expect(await news('Later')).toEqual([])
  await world.simulation().playRounds(2)
  await world.scan()
  expect(await news('Later')).toEqual(['fsp.ftso-commit warning'])
  const [alert] = await world.alerts('Later')
  expect(Number(alert?.data['firstRoundId'])).toBeGreaterThanOrEqual(made - 3)
})

test('rounds missed during a pause are judged afterwards, each by the policy of its epoch', async () => {
  await world.behave('Third', 'changed-submit-address')
  await world.watch('Third')
  await world.scan()
  await world.simulation().playToRegistration()
  await world.scan()
  const before = world.simulation().round
  await world.simulation().playToEpochEnd()
  await world.simulation().playRounds(4)
  await world.scan()
  expect(await fresh('Third')).toEqual([])
  expect(await fresh('Healthy')).toEqual([])
  const kept = await world.sql`select round from fsp_rounds where round > ${before}`
  expect(kept.length).toBeGreaterThanOrEqual(4)
})

test('a round costs one request per block, one more per block with watched calls (for receipts), and few others', async () => {
  const rounds = 4
  await world.simulation().playRounds(2)
  await world.scan()
  for (const proxy of endpoints()) proxy.resetCounts()
  const before = await world.devnet.client.getBlockNumber()
  for (let round = 0; round < rounds; round += 1) {
    await world.simulation().playRounds(1)
    await world.read()
  }
  const blocks = Number((await world.devnet.client.getBlockNumber()) - before)
  const {
    eth_getBlockByNumber,
    eth_getTransactionReceipt,
    eth_getBlockReceipts,
    eth_call,
    eth_getLogs,
  } = world.primary.counts()
  // Each observation also requests the newest block, its confirmed ancestor and both ends of its span.
  expect(eth_getBlockByNumber).toBeLessThanOrEqual(blocks + 4 * rounds)
  expect((eth_getTransactionReceipt ?? 0) + (eth_getBlockReceipts ?? 0)).toBeLessThanOrEqual(
    4 * 4 * rounds,
  )
  expect(eth_call).toBeLessThanOrEqual(8 * rounds)
  expect(eth_getLogs).toBe(rounds)
  // The second endpoint is asked for events only.
  const { eth_chainId, ...others } = world.secondary.counts()
  expect(eth_chainId ?? 0).toBeLessThanOrEqual(1)
  expect(others).toEqual({ eth_getLogs: rounds })
})
