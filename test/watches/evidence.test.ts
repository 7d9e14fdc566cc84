import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { roundWindowsOf } from '#src/fsp/protocol/epochs.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { runs } from '../support/runs.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** A provider is not reported missing because an endpoint omits data. */

/** Rounds with refusals; `npm run test:soak` plays more of them. */
const ROUNDS = runs(4, 40)
/** Rounds with a fault: more than an alert needs. */
const FAULTY_ROUNDS = 4

let world: RoundWorld
/** Warnings of the service. */
let lines: string[] = []

/** One world for the tests of a group: each has endpoints without faults, and a process that remembers nothing. */
function inOneWorld({ isAlone }: { readonly isAlone: boolean }): void {
  const warn = (_fields: object, message: string) => lines.push(message)
  const log: Logger = { ...silentLogger, warn }
  beforeAll(async () => {
    world = await roundWorld(['Healthy', 'Mute', 'Quiet'], { isAlone, log })
    await world.simulation().playRounds(4)
    await world.scan()
  })
  beforeEach(() => {
    lines = []
    world.restart()
  })
  afterEach(() => Promise.all([world.primary.up(), world.secondary.up()]))
  afterAll(() => world.close())
}

/** Hides the correct transactions of a provider. */
function hideTransactionsOf(name: string, proxy: RpcProxy): void {
  const { accounts } = world.simulation().provider(name)
  const own = new Set(
    Object.values(accounts).map((account) => String(Object(account).address ?? '').toLowerCase()),
  )
  proxy.rewrite('eth_getBlockByNumber', (block) => {
    const { transactions, ...rest } = Object(block)
    if (!Array.isArray(transactions)) return block
    return {
      ...rest,
      transactions: transactions.filter((transaction) => !own.has(transaction.from)),
    }
  })
}

/**
 * Leaves the first event of each kind in a block only, so that its bloom filter does not reveal the
 * missing ones.
 */
function keepFirstOfKind(proxy: RpcProxy): void {
  proxy.rewrite('eth_getLogs', (logs) => {
    const all = Array.from(Object(logs), (log) => Object(log))
    const keyOf = ({ blockNumber, topics }: (typeof all)[number]) => `${blockNumber} ${topics[0]}`
    const first = new Map(all.toReversed().map((log) => [keyOf(log), log]))
    return all.filter((log) => first.get(keyOf(log)) === log)
  })
}

function dropEverySecondLog(proxy: RpcProxy): void {
  proxy.rewrite('eth_getLogs', (logs) =>
    Array.from(Object(logs)).filter((_log, index) => index % 2 === 0),
  )
}

async function playOn(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await world.simulation().playRounds(1)
    await world.scan()
  }
}

async function rounds(): Promise<number> {
  const [row] = await world.sql`select count(*)::int as kept from fsp_rounds`
  return Number(row?.['kept'])
}

async function expectNoAlert(leaveOut: (proxy: RpcProxy) => void): Promise<void> {
  leaveOut(world.primary)
  const before = await rounds()
  await playOn(FAULTY_ROUNDS)
  expect(await world.events('Healthy')).toEqual([])
  expect(await rounds()).toBe(before + FAULTY_ROUNDS)
}

describe('a provider that does its duty causes no alert while the only endpoint', () => {
  inOneWorld({ isAlone: true })

  test.each([
    ['leaves every second event out', dropEverySecondLog],
    ['gives the first event of each kind in a block', keepFirstOfKind],
  ])('%s', (_name, leaveOut) => expectNoAlert(leaveOut))
})

describe('a provider that does its duty', () => {
  inOneWorld({ isAlone: false })

  test('causes no alert while one endpoint leaves out its transactions', () =>
    expectNoAlert((proxy) => hideTransactionsOf('Healthy', proxy)))

  test('causes no alert while one of two endpoints leaves every second event out', () =>
    expectNoAlert(dropEverySecondLog))

  test('causes no alert but that no round can be judged while no endpoint has its transactions, and the reason is logged', async () => {
    await world.behave('Mute', 'no-commit')
    await playOn(1)
    for (const proxy of [world.primary, world.secondary]) hideTransactionsOf('Healthy', proxy)
    const before = await rounds()
    await playOn(FAULTY_ROUNDS)
    expect(await world.events('Healthy')).toEqual(['fsp.monitoring warning'])
    expect(await rounds()).toBeLessThanOrEqual(before + 2)
    expect(lines).toContain(
      'endpoints contradict each other; the rounds of this block are not judged',
    )
    for (const proxy of [world.primary, world.secondary]) await proxy.up()
    await playOn(4)
    expect(await world.events('Healthy')).toEqual([
      'fsp.monitoring warning',
      'fsp.monitoring.recovered info',
    ])
    await world.simulation().recover('Mute')
  })

  test('a failing provider fires its alert, and all other watches are evaluated, while the first endpoint returns null for calls', async () => {
    const { address } = world.devnet.people.bob.account
    const make = async (type: string, target: object, settings: object) => {
      const { status, body } = await world.alice.request('POST', '/watches', {
        type,
        target,
        settings,
      })
      expect(status).toBe(201)
      return Number(Object(body).id)
    }
    const others = [
      await make('wallet-balance', { address, asset: 'FLR' }, { threshold: '1' }),
      await make('feed-move', { feed: 'FLR/USD' }, { percent: 5, windowSeconds: 600 }),
    ]
    await world.look()
    world.primary.rewrite('eth_call', () => null)
    await world.behave('Quiet', 'no-commit')
    const lookedAt = async (id: number) => {
      const { body } = await world.alice.request('GET', `/watches/${id}`)
      return new Date(Object(body).lastEvaluatedAt).getTime()
    }
    const before = await Promise.all(others.map(lookedAt))
    await playOn(5)
    expect(await world.events('Quiet')).toContain('fsp.ftso-commit warning')
    for (const [index, id] of others.entries()) {
      expect(await lookedAt(id)).toBeGreaterThan(before[index] ?? 0)
    }
  })

  test('no round is judged a minute late while both endpoints refuse one request in five', async () => {
    for (const proxy of [world.primary, world.secondary]) proxy.refuseShare(0.2, 429)
    const { timing, round: first } = world.simulation()
    const clock = {
      firstRoundAtSeconds: timing.firstRoundStart,
      roundSeconds: timing.roundSeconds,
      firstEpochRound: 0,
      roundsPerEpoch: 1,
    }
    const before = await world.events('Healthy')
    const lags: number[] = []
    for (let round = first; round < first + ROUNDS; round += 1) {
      const begins = timing.firstRoundStart + round * timing.roundSeconds
      for (const offset of [30, 60, 89]) {
        await world.simulation().playTo(begins + offset, { inFull: true })
        await world.read().catch(() => undefined)
        await world.look().catch(() => undefined)
        const { timestamp } = await world.devnet.client.getBlock()
        const [row] = await world.sql`select max(round)::int as kept from fsp_rounds`
        const { complete } = roundWindowsOf(clock, Number(row?.['kept']) + 1)
        lags.push(Number(timestamp) - complete)
      }
    }
    expect(Math.max(...lags)).toBeLessThanOrEqual(60)
    expect(await world.events('Healthy')).toEqual(before)
  })
})
