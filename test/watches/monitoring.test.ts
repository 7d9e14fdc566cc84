import { createClient, http } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { recordAlerts } from '#src/alerts/service.ts'
import type { Db } from '#src/db/connection.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { failingSince, outageSeverityOf } from '#src/watches/outage/monitoring.ts'
import { fireOutages } from '#src/watches/outage/outages.ts'
import { CHAIN_WATCH_TYPES } from '#src/watches/types/index.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/** Alerts of watches while the chain is unreachable. */

const DAY_S = DAY_MS / 1000
let world: WatchWorld

/** One world for the tests of a group. */
function inOneWorld(): void {
  beforeAll(async () => {
    world = await watchWorld()
  })
  afterEach(() => world.renew())
  afterAll(() => world.close())
}

const bob = () => PEOPLE.bob.account.address
const balance = () =>
  world.watch('wallet-balance', { address: bob(), asset: 'FLR' }, { threshold: '100' })
const price = () =>
  world.watch('feed-move', { feed: 'XRP/USD' }, { percent: 5, windowSeconds: 600 })

/** Both endpoints answer, and some time has passed. */
async function bothUp(): Promise<void> {
  await Promise.all([world.primary.up(), world.secondary.up()])
  world.clock.advance(1)
}

/** Observes for a time at an interval, and ignores errors. */
async function lookFor(seconds: number, every = 15): Promise<void> {
  for (let passed = 0; passed < seconds; passed += every) {
    world.clock.advance(every)
    await world.look().catch(() => undefined)
  }
}

const health = async (id: number) =>
  (await world.alice.request('GET', `/watches/${id}`)).body.health

test('a clock that is behind the chain counts as an outage, whose reason is logged, until it is right', async () => {
  const reasons: unknown[] = []
  const warn = (fields: object) => void reasons.push(Object(fields).reason)
  const other = await watchWorld({ log: { ...silentLogger, warn } })
  try {
    const target = { address: bob(), asset: 'FLR' }
    await other.watch('wallet-balance', target, { threshold: '100' })
    await other.see()
    other.clock.advance(-DAY_S)
    await other.devnet.mine(2, 1)
    await expect(other.look()).rejects.toThrow('dependency_unavailable')
    expect(reasons).toContainEqual(
      expect.stringMatching(/is 8640\d s ahead of the clock of this host/),
    )
    other.clock.advance(DAY_S)
    await other.see()
    expect(await other.events()).toEqual([])
  } finally {
    await other.close()
  }
})

describe('when no endpoint answers', () => {
  inOneWorld()

  test('a clock that jumps between a check and its evaluation causes no outage alert', async () => {
    const { id } = await balance()
    await world.see()
    await Promise.all([world.primary.down(), world.secondary.down()])
    await lookFor(30)
    world.clock.advance(3600)
    const app = world.running()
    const deps = {
      ...app,
      recordAlerts: (tx: Db, candidates: readonly AlertCandidate[]) =>
        recordAlerts(app, tx, candidates),
    }
    await fireOutages(deps, CHAIN_WATCH_TYPES)
    expect(await world.events(id)).toEqual([])
  })

  test('every watch that reads the chain fires after 90 seconds, and recovers', async () => {
    const watches = [await balance(), await balance(), await price()]
    const credits = await world.watch('credits-balance', {}, { limit: 1 })
    await world.see()
    await Promise.all([world.primary.down(), world.secondary.down()])
    const before = (await world.events()).length
    await lookFor(75, 25)
    expect(await world.events()).toHaveLength(before)
    await lookFor(45)
    for (const { id } of watches) {
      const [alert, ...more] = await world.notified(id)
      expect(more).toEqual([])
      expect(alert).toMatchObject({
        event: 'fsp.monitoring',
        severity: 'warning',
        signal: null,
        group: null,
        state: 'firing',
        data: { reason: 'no_answer' },
        rendered: { title: 'No data from the chain' },
      })
      expect(await health(id)).toBe('no_data')
    }
    expect(await world.events(credits.id)).toEqual([])
    await bothUp()
    world.clock.advance(30)
    await world.see()
    for (const { id } of watches) {
      const notified = await world.notified(id)
      expect(notified.map(({ event }) => event)).toEqual([
        'fsp.monitoring',
        'fsp.monitoring.recovered',
      ])
      expect(notified.map((alert) => (alert as never)['state'])).toEqual(['recovered', 'recovered'])
      expect(await health(id)).toBe('ok')
    }
    await lookFor(60)
    expect(await world.events()).toHaveLength(before + 6)
  })

  test('the alert becomes critical after ten minutes, once', async () => {
    const { id } = await balance()
    await world.see()
    await Promise.all([world.primary.down(), world.secondary.down()])
    await lookFor(690, 30)
    expect((await world.notified(id)).map(({ severity }) => severity)).toEqual([
      'warning',
      'critical',
    ])
    await bothUp()
    await world.see()
    expect(await world.events(id)).toEqual([
      'fsp.monitoring',
      'fsp.monitoring',
      'fsp.monitoring.recovered',
    ])
  })

  test('the outage fires once although the service restarts during it', async () => {
    const { id } = await balance()
    await world.see()
    await Promise.all([world.primary.down(), world.secondary.down()])
    await lookFor(60, 30)
    world.restart()
    await lookFor(60, 30)
    world.restart()
    await lookFor(60, 30)
    expect(await world.events(id)).toEqual(['fsp.monitoring'])
    await bothUp()
    world.restart()
    await world.see()
    expect(await world.events(id)).toEqual(['fsp.monitoring', 'fsp.monitoring.recovered'])
  })

  test('a paused watch sends nothing, and a watch paused during the outage still sends its recovery', async () => {
    const [paused, later] = [await balance(), await balance()]
    await world.see()
    await world.alice.request('PATCH', `/watches/${paused.id}`, { status: 'paused' })
    await Promise.all([world.primary.down(), world.secondary.down()])
    await lookFor(120, 30)
    await world.alice.request('PATCH', `/watches/${later.id}`, { status: 'paused' })
    await world.alice.request('PATCH', `/watches/${later.id}`, { status: 'active' })
    await bothUp()
    await world.see()
    expect(await world.events(paused.id)).toEqual([])
    expect(await world.events(later.id)).toEqual(['fsp.monitoring', 'fsp.monitoring.recovered'])
  })

  test('alerts about what happened in that time fire when there is data again', async () => {
    const { id } = await balance()
    await world.see()
    await Promise.all([world.primary.down(), world.secondary.down()])
    await world.devnet.transfer(world.devnet.people.carol.account.address, bob(), 500n * 10n ** 18n)
    await lookFor(120, 30)
    await bothUp()
    await world.see()
    expect((await world.events(id)).toSorted()).toEqual([
      'fsp.monitoring',
      'fsp.monitoring.recovered',
      'wallet-balance.moved',
    ])
  })
})

describe('when there is no new block', () => {
  inOneWorld()

  test('watches fire after 90 seconds, and recover with the next block', async () => {
    const { id } = await balance()
    await world.see()
    await lookFor(75, 25)
    expect(await world.events(id)).toEqual([])
    await lookFor(45)
    expect(await world.notified(id)).toMatchObject([
      { event: 'fsp.monitoring', severity: 'warning', data: { reason: 'no_block' } },
    ])
    world.clock.advance(1)
    await world.see()
    expect(await world.events(id)).toEqual(['fsp.monitoring', 'fsp.monitoring.recovered'])
  })

  test('an endpoint without new blocks is skipped while another endpoint has them', async () => {
    const { id } = await balance()
    await world.see()
    const newest = await createClient({ transport: http(world.devnet.rpcUrl) }).request({
      method: 'eth_getBlockByNumber',
      params: ['latest', true],
    })
    world.primary.rewrite('eth_getBlockByNumber', (block, params) =>
      JSON.stringify(params).includes('latest') ? newest : block,
    )
    for (let minute = 0; minute < 4; minute++) {
      await world.devnet.mine(2, 1)
      await lookFor(60, 30)
    }
    expect(await world.events(id)).toEqual([])
  })
})

describe('when one kind of request fails', () => {
  inOneWorld()

  test('the watches that need it fire, and others are evaluated', async () => {
    const [balanceWatch, priceWatch] = [await balance(), await price()]
    await world.see()
    // Feeds are read through their contract, balances through Multicall3.
    const fails = (result: unknown, params: unknown) =>
      JSON.stringify(params).toLowerCase().includes('ca11bde0') ? 'broken' : result
    world.primary.rewrite('eth_call', fails)
    world.secondary.rewrite('eth_call', fails)
    for (let look = 0; look < 10; look++) {
      await world.devnet.mine(2, 1)
      await lookFor(15)
    }
    expect(await world.events(balanceWatch.id)).toEqual(['fsp.monitoring'])
    expect(await world.events(priceWatch.id)).toEqual([])
    await bothUp()
    await world.see()
    expect(await world.events(balanceWatch.id)).toEqual([
      'fsp.monitoring',
      'fsp.monitoring.recovered',
    ])
  })
})

describe('time without data', () => {
  const at = (seconds: number) => new Date(1_790_000_000_000 + seconds * 1000)

  test('counts while a process evaluates', () => {
    let state = { failingSince: at(0), checkedAt: at(0) }
    for (let seconds = 10; seconds <= 100; seconds += 10) {
      state = { failingSince: failingSince(state, at(seconds)), checkedAt: at(seconds) }
    }
    expect(state.failingSince).toEqual(at(0))
    expect(outageSeverityOf(state.failingSince, at(100))).toBe('warning')
  })

  test('does not count while no process evaluates', () => {
    const since = failingSince({ failingSince: at(0), checkedAt: at(10) }, at(86_410))
    expect(outageSeverityOf(since, at(86_410))).toBeNull()
  })

  test('fires at 90 seconds and becomes critical at ten minutes', () => {
    expect([89, 90, 599, 600].map((seconds) => outageSeverityOf(at(0), at(seconds)))).toEqual([
      null,
      'warning',
      'warning',
      'critical',
    ])
  })
})
