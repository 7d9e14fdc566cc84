import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { CarriedState, EMPTY_STATE } from '#src/fsp/indexer/carried-state.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { deployContractWallet, execute } from '../support/contract-wallet.ts'
import { freshDatabase } from '../support/database.ts'
import { testEnvironment } from '../support/environment.ts'
import { buyer, draftOf, topupOf } from '../support/pay-world.ts'
import { type Client, withTrial } from '../support/people.ts'

/** A running service whose endpoints say what is not so, about a chain in real time. */

const FLR = 10n ** 18n
const PATIENCE = { timeout: 40_000, interval: 200 }

let devnet: DevnetWithContracts
let primary: RpcProxy
let secondary: RpcProxy
let database: Awaited<ReturnType<typeof freshDatabase>>
let service: Service
/** The service of now: a test starts it anew. */
const running = {
  get server() {
    return service.server
  },
}
let alice: Client
const lines: { readonly message: string; readonly fields: object }[] = []

const record = (fields: object, message: string) => void lines.push({ message, fields })

async function startService(): Promise<Service> {
  const { contracts } = devnet
  const config = loadConfig(
    testEnvironment({
      FLARE_RPC_URLS: `${primary.url},${secondary.url}`,
      FLARE_CONTRACT_REGISTRY: contracts.registry,
      PAYMENT_ROUTER: contracts.router,
      NATIVE_PAY_TO: contracts.payTo,
      WFLR_ADDRESS: contracts.wflr,
    }),
  )
  const log = { ...silentLogger, error: record, warn: record }
  const started = createApp(config, { databaseUrl: database.nearUrl, log })
  await started.start()
  return started
}

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, blockTimeSeconds: 1 })
  primary = await startRpcProxy(devnet.rpcUrl)
  secondary = await startRpcProxy(devnet.rpcUrl)
  database = await freshDatabase()
  service = await startService()
  alice = await withTrial(await buyer(running, 'alice'))
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await database?.drop()
  await Promise.all([primary.close(), secondary.close()])
  await devnet.close()
})
beforeEach(() => {
  lines.length = 0
})
afterEach(() => Promise.all([primary.up(), secondary.up()]))

const bob = () => devnet.people.bob.account.address
const carol = () => devnet.people.carol.account.address

/** Watches Bob's balance until a block was observed. @returns the watch's id */
async function watchBob(): Promise<number> {
  const { body } = await alice.request('GET', '/watches')
  for (const { id } of body.data) await alice.request('DELETE', `/watches/${id}`)
  const target = { address: bob(), asset: 'FLR' }
  const settings = { threshold: '100' }
  const made = await alice.request('POST', '/watches', { type: 'wallet-balance', target, settings })
  const read = async () => (await alice.request('GET', `/watches/${made.body.id}`)).body
  await expect.poll(async () => (await read()).lastEvaluatedAt, PATIENCE).not.toBeNull()
  return made.body.id
}

async function alertsOf(watchId: number) {
  const { body } = await alice.request('GET', `/alerts?watchId=${watchId}`)
  return body.data as { event: string; firedAt: string; data: { blockNumber: number } }[]
}

/** The alert of a transfer, at the time of a real block that is not ahead of now. */
async function expectAlert(watchId: number): Promise<void> {
  await expect.poll(async () => (await alertsOf(watchId)).length, PATIENCE).toBe(1)
  const [alert] = await alertsOf(watchId)
  const blockNumber = BigInt(alert?.data.blockNumber ?? 0)
  const { timestamp } = await devnet.client.getBlock({ blockNumber })
  expect(alert?.event).toBe('wallet-balance.moved')
  expect(new Date(alert?.firedAt ?? 0)).toEqual(new Date(Number(timestamp) * 1000))
  expect(new Date(alert?.firedAt ?? 0).getTime()).toBeLessThanOrEqual(Date.now() + 1000)
}

/** Makes endpoints say that blocks have another time. */
function shift(proxies: readonly RpcProxy[], change: (seconds: number) => number): void {
  for (const proxy of proxies) {
    proxy.rewrite('eth_getBlockByNumber', (block) =>
      block === null
        ? null
        : {
            ...Object(block),
            timestamp: `0x${change(Number(Object(block).timestamp)).toString(16)}`,
          },
    )
  }
}

describe('a transfer', () => {
  test.each<[string, (seconds: number) => number]>([
    ['an hour ahead', (seconds) => seconds + 3600],
    ['30 seconds ahead', (seconds) => seconds + 30],
    ['in the year 2262', () => 0x2_25c1_7d04],
    ['in milliseconds', (seconds) => seconds * 1000],
    ['of 1970', () => 0],
  ])('is told from the other endpoint while the first gives blocks a time %s', async (_, change) => {
    const id = await watchBob()
    shift([primary], change)
    await devnet.transfer(carol(), bob(), 150n * FLR)
    await expectAlert(id)
  })

  test('is told when the only endpoints that answer give blocks their real time again', async () => {
    const id = await watchBob()
    shift([primary, secondary], (seconds) => seconds + 3600)
    await devnet.transfer(carol(), bob(), 150n * FLR)
    const refused = () =>
      lines.some(({ fields }) => /ahead of the clock/.test(JSON.stringify(fields)))
    await expect.poll(refused, PATIENCE).toBe(true)
    expect(await alertsOf(id)).toEqual([])
    await Promise.all([primary.up(), secondary.up()])
    await expectAlert(id)
  })

  test('is told although an endpoint claims a block far ahead', async () => {
    const id = await watchBob()
    primary.rewrite('eth_blockNumber', () => '0xffffff')
    primary.rewrite('eth_getBlockByNumber', (block, params) => {
      const [asked] = Array.isArray(params) ? params : []
      return block ?? { ...Object(block), number: asked, timestamp: '0x0', hash: asked }
    })
    await devnet.transfer(carol(), bob(), 150n * FLR)
    await expectAlert(id)
  })
})

describe('a payment through the router that no endpoint returns as an event', () => {
  const withoutReceipts = (proxies: readonly RpcProxy[]) => {
    for (const proxy of proxies) {
      proxy.rewrite('eth_getBlockReceipts', () => null)
      proxy.rewrite('eth_getTransactionReceipt', () => null)
    }
  }

  async function payWithToken() {
    const draft = await draftOf(alice, { asset: 'WFLR' })
    const handle = draft.handle as `0x${string}`
    await devnet.contracts.pay(bob(), handle, devnet.contracts.wflr, BigInt(draft.amount))
    return draft
  }

  async function payWithCoins() {
    const wallet = await deployContractWallet(devnet, bob())
    const draft = await draftOf(alice, { asset: 'FLR' })
    const call = draft.contractWallet as { to: `0x${string}`; data: `0x${string}`; value: string }
    const value = BigInt(call.value)
    await execute(devnet, { from: bob(), wallet, to: call.to, value, data: call.data })
    return draft
  }

  const credited = async (draft: { handle: string }) =>
    expect.poll(async () => (await topupOf(alice, draft)).status, PATIENCE).toBe('credited')

  test.each([
    ['a token', payWithToken],
    ['coins', payWithCoins],
  ])('of %s is credited, as its receipts prove it', async (_, pay) => {
    for (const proxy of [primary, secondary]) proxy.emptyLogs()
    await credited(await pay())
  })

  test.each([
    ['a token', payWithToken],
    ['coins', payWithCoins],
  ])('of %s is credited once an endpoint proves it', async (_, pay) => {
    for (const proxy of [primary, secondary]) proxy.emptyLogs()
    withoutReceipts([primary, secondary])
    const draft = await pay()
    const open = async () => [...(await database.sql`select block_number from payment_gaps`)].length
    await expect.poll(open, PATIENCE).toBeGreaterThan(0)
    expect((await topupOf(alice, draft)).status).toBe('draft')
    await secondary.up()
    await credited(draft)
    await expect.poll(open, PATIENCE).toBe(0)
  })

  test('is credited once the other endpoint is back, if the first has neither event nor receipts', async () => {
    primary.emptyLogs()
    withoutReceipts([primary])
    await secondary.down()
    const draft = await payWithToken()
    const open = async () => [...(await database.sql`select block_number from payment_gaps`)].length
    await expect.poll(open, PATIENCE).toBeGreaterThan(0)
    await secondary.up()
    await credited(draft)
  })
})

describe('positions that are stored ahead of the clock', () => {
  const LATE = '2262-04-11T00:00:00.000Z'

  test('are put back by the next start, which logs each table, and changes since then are told', async () => {
    const { sql } = database
    const id = await watchBob()
    await draftOf(alice)
    await service.stop()
    await devnet.transfer(carol(), bob(), 150n * FLR)
    await sql`update observation_cursors set block_at = ${LATE}, observed_at = ${LATE}`
    await sql`update slice_cursors set block_at = ${LATE}, observed_at = ${LATE}`
    await sql`update published_blocks set block_at = ${LATE}, block_number = 1000000000`
    await sql`update targets set observed_at = ${LATE}, no_data_since = ${LATE},
      observation = observation || jsonb_build_object('at', ${LATE}::text)
      where type = 'wallet-balance' and observation is not null`
    await sql`update signal_states set since = ${LATE}, last_evidence_at = ${LATE}, last_fired_at = ${LATE}`
    await sql`insert into feed_points (feed, at, block, value, decimals, grade) values ('0x01', ${LATE}, 1, 1, 0, 1)`
    await sql`update payment_cursors set since_at = ${LATE}`
    await sql`insert into fsp_rounds (round, reward_epoch, starts_at, block_number, block_hash, block_at, providers)
      values (1, 1, '2026-01-01', 900, '0x1', '2026-01-01', '{}'), (99, 1, ${LATE}, 950, '0x2', ${LATE}, '{}')`
    await sql`delete from fsp_progress`
    const state = CarriedState.encode({ ...EMPTY_STATE, readSince: 9_000_000_000 })
    await sql`insert into fsp_progress (id, block_number, block_hash, block_at, resume_from, state)
      values (1, 950, '0x2', ${LATE}, 940, ${sql.json(state)})`
    await sql`insert into vote_signatures values (1, 'uptime', '0x1', '0x2', ${LATE}, false)`
    await sql`insert into publications values ('rewards', 1, '{}', ${LATE})`
    await sql`insert into validator_polls values (${LATE}, '{}')`
    service = await startService()
    await expectAlert(id)
    const logged = (start: string) =>
      lines
        .filter(({ message }) => message.startsWith(start))
        .map(({ fields }) => Object(fields).table)
    // Times by the clock are repaired first, without the chain.
    expect(logged('stored times were')).toEqual([
      ...['publications', 'validator_polls'],
      ...['observation_cursors', 'slice_cursors', 'targets'],
    ])
    expect(logged('stored positions were')).toEqual([
      ...['observation_cursors', 'slice_cursors', 'published_blocks', 'targets', 'signal_states'],
      ...['feed_points', 'fsp_rounds', 'fsp_progress', 'vote_signatures', 'payment_cursors'],
    ])
    const [progress] = await sql`select block_number, resume_from, state from fsp_progress`
    expect(progress).toMatchObject({
      block_number: 900,
      resume_from: 500,
      state: { readSince: null },
    })
    const { body } = await alice.request('GET', `/watches/${id}`)
    expect(new Date(body.lastEvaluatedAt).getTime()).toBeLessThan(Date.now() + 1000)
  })
})
