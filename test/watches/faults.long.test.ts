import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { runs } from '../support/runs.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/** Faults of endpoints, which must cause no false alert and lose no true one. */

const NAMES = ['Alpha', 'Bravo', 'Charlie', 'Delta', 'Echo']
const EPOCH = 452
const HOUR = 3600
const FLR = 10n ** 18n

let world: WatchWorld

type WorldOptions = NonNullable<Parameters<typeof watchWorld>[0]>

async function begin(options: WorldOptions = {}, names: readonly string[] = NAMES): Promise<void> {
  world = await watchWorld({
    simulation: { providers: names.map((name) => ({ name })) },
    ...options,
  })
}
/** Each test of a group has a world of its own. */
function eachInNewWorld(options: WorldOptions = {}): void {
  beforeEach(() => begin(options))
  afterEach(() => world.close())
}

const identity = (name: string) => world.simulation().provider(name).accounts.identity.address
const watch = (type: string, name: string) => world.watch(type, { provider: identity(name) })
const ends = () => 1_658_430_000 + 90 * 3360 * (EPOCH + 1)
const endpoints = () => [world.primary, world.secondary]
/** Observes once and ignores errors. */
const look = () => world.see().catch(() => undefined)

/** Hours after the end of the epoch: the vote is open at the first two, and for more than two hours at the last. */
const HOURS = [0.5, 2, 3.5]

async function lookWhileOpen(): Promise<void> {
  for (const hour of HOURS) {
    await world.simulation().playTo(ends() + hour * HOUR)
    await look()
  }
}

/** One world for the tests of a group, each with a process that remembers nothing. */
function allInOneWorld(names: readonly string[]): void {
  beforeAll(() => begin({}, names))
  afterEach(() => world.renew())
  afterAll(() => world.close())
}

/**
 * Keeps most providers from voting, so that the vote stays open, and lets the first of the others
 * sign it.
 */
async function keepUptimeOpen(): Promise<void> {
  for (const name of NAMES.slice(0, 3)) await world.simulation().behave(name, 'misses-uptime-vote')
}

describe('events that an endpoint leaves out', () => {
  eachInNewWorld()

  test('are read from the other endpoint: no alert says that a provider that signed did not', async () => {
    const echo = await watch('reward-signing', 'Echo')
    const alpha = await watch('reward-signing', 'Alpha')
    await keepUptimeOpen()
    await world.see()
    world.primary.emptyLogs()
    await world.simulation().playToEpochEnd()
    await lookWhileOpen()
    expect(await world.events(echo.id)).toEqual([])
    expect(await world.events(alpha.id)).toEqual(['signing.uptime-open'])
  })
})

describe('events that the only endpoint leaves out', () => {
  eachInNewWorld({ isAlone: true })

  test('are read from the receipts of each block that may have them', async () => {
    const echo = await watch('reward-signing', 'Echo')
    await keepUptimeOpen()
    await world.see()
    await world.simulation().playToEpochEnd()
    world.primary.emptyLogs()
    await lookWhileOpen()
    expect(await world.events(echo.id)).toEqual([])
  })

  test('are read once receipts prove them, and until then nobody is said to be missing', async () => {
    const [echo, alpha] = [
      await watch('reward-signing', 'Echo'),
      await watch('reward-signing', 'Alpha'),
    ]
    await keepUptimeOpen()
    await world.see()
    await world.simulation().playToEpochEnd()
    world.primary.emptyLogs()
    for (const method of ['eth_getBlockReceipts', 'eth_getTransactionReceipt']) {
      world.primary.rewrite(method, () => null)
    }
    await lookWhileOpen()
    expect([await world.events(echo.id), await world.events(alpha.id)]).toEqual([[], []])
    await world.primary.up()
    for (let minute = 0; minute < 3; minute++) await world.pass(60)
    expect(await world.events(echo.id)).toEqual([])
    expect(await world.events(alpha.id)).toEqual(['signing.uptime-open'])
  })
})

describe('an endpoint that does not know a voter', () => {
  allInOneWorld(NAMES)

  const withoutVoter = (proxy: RpcProxy, name: string) => {
    const voter = identity(name).slice(2).toLowerCase()
    const other = identity('Echo').slice(2).toLowerCase()
    proxy.rewrite('eth_call', (result) => String(result).replaceAll(voter, other))
  }

  test('is not believed while the other endpoint knows the voter', async () => {
    const { id } = await watch('provider-eligibility', 'Alpha')
    await world.see()
    withoutVoter(world.primary, 'Alpha')
    for (let minute = 0; minute < 4; minute++) await world.pass(60)
    expect(await world.events(id)).toEqual([])
  })

  test('is not believed at once while the other endpoint is down, but after a while', async () => {
    const { id } = await watch('provider-eligibility', 'Bravo')
    await world.see()
    withoutVoter(world.primary, 'Bravo')
    await world.secondary.down()
    await world.pass(60)
    expect(await world.events(id)).toEqual([])
    await world.pass(60)
    expect(await world.events(id)).toEqual([])
    await world.pass(60)
    expect(await world.events(id)).toEqual(['provider.unregistered'])
  })

  test('is believed if the other endpoint says the same', async () => {
    const { id } = await watch('provider-eligibility', 'Charlie')
    await world.see()
    for (const proxy of endpoints()) withoutVoter(proxy, 'Charlie')
    await world.pass(60)
    expect(await world.events(id)).toEqual(['provider.unregistered'])
  })

  test('causes no alert if it returns an empty list', async () => {
    const { id } = await watch('provider-eligibility', 'Delta')
    await world.see()
    for (const proxy of endpoints()) {
      proxy.rewrite('eth_call', (result) => {
        const voters = NAMES.map((name) => identity(name).slice(2).toLowerCase())
        return voters.every((voter) => String(result).includes(voter)) ? '0x' : result
      })
    }
    for (let minute = 0; minute < 3; minute++) await world.pass(60).catch(() => undefined)
    expect((await world.events(id)).filter((event) => event.startsWith('provider'))).toEqual([])
  })
})

describe('a published calculation', () => {
  let answer: { readonly status: number; readonly body: string }
  let requests = 0
  const server = createServer((_request, response) => {
    requests += 1
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  })
  let id = 0

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await begin({ env: { PROVIDER_DATASET_URL: `http://127.0.0.1:${port}/{epoch}.json` } })
    answer = { status: 404, body: '' }
    id = (await watch('provider-eligibility', 'Alpha')).id
    await world.see()
  })
  afterAll(async () => {
    await world.close()
    server.close()
  })

  test.each([
    ['is not there', { status: 404, body: '' }],
    ['fails', { status: 500, body: 'oops' }],
    ['is no JSON', { status: 200, body: '<html>' }],
    ['is empty', { status: 200, body: '[]' }],
    ['has rows of another shape', { status: 200, body: '[{"voter":1}]' }],
    [
      'is of another epoch',
      {
        status: 200,
        body: JSON.stringify([
          { rewardEpochId: 1, voterAddress: `0x${'1'.repeat(40)}`, eligibleForReward: true },
        ]),
      },
    ],
  ])('that %s is no evidence', async (_name, reply) => {
    answer = reply
    requests = 0
    world.restart()
    await world.pass(700)
    await world.pass(700)
    expect(requests).toBeGreaterThan(0)
    const alerts = await world.events(id)
    expect(alerts.filter((event) => event.startsWith('provider'))).toEqual([])
    const { body } = await world.alice.request('GET', `/watches/${id}`)
    expect(body.lastObservation).toMatchObject({ registered: true, eligible: null })
  })
})

const faults: readonly [string, (proxy: RpcProxy) => unknown][] = [
  ['answers 429', (proxy) => proxy.failNext(1000, { status: 429 })],
  ['refuses for its limits', (proxy) => proxy.failNext(1000, { code: -32005, message: 'limit' })],
  ['drops its connections', (proxy) => proxy.down()],
  ['answers nonsense', (proxy) => proxy.rewrite('eth_call', () => '0x1234')],
  ['has another head, behind', (proxy) => proxy.behave({ nodes: { behind: [50] } })],
  [
    'has another head, ahead',
    (proxy) =>
      proxy.rewrite('eth_getBlockByNumber', (block) => ({ ...Object(block), number: '0xffffff' })),
  ],
  ['serves another chain', (proxy) => proxy.rewrite('eth_chainId', () => '0x1')],
]

/** Each fault with a provider that fails meanwhile, in a reward epoch of its own. */
const CASES = faults.map(([what, fail], index) => [what, fail, `Provider ${index}`] as const)

const CASE_NAMES = [...CASES.map(([, , name]) => name), 'Anchor']

const watchBalance = () => {
  const target = { address: world.devnet.people.bob.account.address, asset: 'FLR' }
  return world.watch('wallet-balance', target, { threshold: '100' })
}

async function payBob(): Promise<void> {
  const { bob, carol } = world.devnet.people
  await world.devnet.transfer(carol.account.address, bob.account.address, 500n * FLR)
}

describe('while one endpoint', () => {
  allInOneWorld(CASE_NAMES)

  test.each(CASES)('%s, the other endpoint is enough', async (_what, fail, name) => {
    const wallet = await watchBalance()
    const feed = await world.watch(
      'feed-move',
      { feed: 'XRP/USD' },
      { percent: 5, windowSeconds: 600 },
    )
    const provider = await watch('provider-eligibility', name)
    await world.see()
    await fail(world.primary)
    await world.simulation().behave(name, 'unregistered')
    await world.simulation().playToEpochEnd()
    await look()
    await payBob()
    await world.simulation().setFeed('XRP/USD', world.simulation().feed('XRP/USD') * 1.06)
    // A missing provider needs confirmation by a second endpoint, or time.
    await world.pass(150)
    expect(await world.events(wallet.id)).toEqual(['wallet-balance.moved'])
    expect(await world.events(feed.id)).toEqual(['feed-move.threshold'])
    expect(await world.events(provider.id)).toEqual(['provider.unregistered'])
    await world.simulation().recover(name)
  })
})

describe('while each endpoint', () => {
  allInOneWorld(CASE_NAMES)

  test.each(
    CASES,
  )('%s, no alert fires, and all alerts fire afterwards', async (what, fail, name) => {
    const wallet = await watchBalance()
    const provider = await watch('provider-eligibility', name)
    await world.see()
    for (const proxy of endpoints()) await fail(proxy)
    // An endpoint that was right is asked for its chain again within the hour.
    if (what.includes('another chain')) world.clock.advance(3600)
    await world.simulation().behave(name, 'unregistered')
    await world.simulation().playToEpochEnd()
    await payBob()
    await look()
    const alerts = async () =>
      [...(await world.events(wallet.id)), ...(await world.events(provider.id))].filter(
        (event) => !event.startsWith('fsp.monitoring'),
      )
    expect(await alerts()).toEqual([])
    for (const proxy of endpoints()) await proxy.up()
    world.clock.advance(3600)
    // An endpoint that limited requests is asked again after a pause.
    const isSeen = () =>
      world.see().then(
        () => true,
        () => false,
      )
    await expect.poll(isSeen, { timeout: 60_000, interval: 500 }).toBe(true)
    await world.pass(60)
    expect(await alerts()).toEqual(['wallet-balance.moved', 'provider.unregistered'])
    await world.simulation().recover(name)
  })
})

/** Broken observations with a restart after every second; `npm run test:soak` plays more. */
const TURNS = runs(3, 12)
/** An error after which a request is not repeated. */
const BROKEN = { code: -32000, message: 'index is broken' }

describe('a connection that breaks', () => {
  eachInNewWorld()

  test('in the middle of a span loses no alert and repeats none', async () => {
    const alpha = await watch('reward-signing', 'Alpha')
    const echo = await watch('reward-signing', 'Echo')
    await keepUptimeOpen()
    await world.see()
    await world.simulation().playToEpochEnd()
    await world.simulation().playTo(ends() + 1.5 * HOUR)
    await world.devnet.mine(200, 10)
    const readTo = async () => {
      const [row] = await world.sql<{ block: number | null }[]>`
        select max(to_block)::int as block from read_ranges where name = ${`votes ${EPOCH}`}`
      return row?.block ?? 0
    }
    for (let turn = 0; turn < TURNS; turn++) {
      const before = await readTo()
      // Both ways of reading a span fail: from each endpoint apart, and from one of them.
      for (const proxy of endpoints()) proxy.failNext(2, BROKEN, 'eth_getLogs')
      await look()
      expect(await readTo()).toBe(before)
      for (const proxy of endpoints()) await proxy.up()
      world.clock.advance(31)
      if (turn % 2 === 0) world.restart()
      await look()
      expect(await readTo()).toBeGreaterThan(before)
      await world.devnet.mine(60, 10)
    }
    await world.pass(60)
    expect(await world.events(alpha.id)).toEqual(['signing.uptime-open'])
    expect(await world.events(echo.id)).toEqual([])
    // One range for each reward epoch, without a gap.
    const read = await world.sql<{ name: string }[]>`select name from read_ranges`
    expect(read.length).toBeGreaterThan(0)
    expect(new Set(read.map(({ name }) => name)).size).toBe(read.length)
  })
})
