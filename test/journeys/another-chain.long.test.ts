import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** Running processes whose only endpoint says that it serves another chain. Nobody restarts them. */

let database: FreshDatabase
let devnet: DevnetWithContracts
let endpoint: RpcProxy

beforeAll(async () => {
  database = await freshDatabase()
  devnet = await startDevnet({ contracts: true, startsAt: new Date() })
  endpoint = await startRpcProxy(devnet.rpcUrl)
}, 120_000)
afterAll(async () => {
  await endpoint.close()
  await devnet.close()
  await database.drop()
})

const start = () =>
  startServiceProcess({
    ...{ DATABASE_URL: database.url, FLARE_RPC_URLS: endpoint.url, ROLES: 'watcher' },
    FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
  })

async function chainProblem({ internalUrl }: ServiceProcess): Promise<string | undefined> {
  const answer = await fetch(`${internalUrl}/readyz`)
  const { problems } = (await answer.json()) as {
    problems: readonly { readonly name: string; readonly problem: string }[]
  }
  return problems.find(({ name }) => name === 'chain')?.problem
}

/** Reads the endpoint got, besides questions for its chain. */
const reads = () => Object.keys(endpoint.counts()).filter((method) => method !== 'eth_chainId')

const storedHead = async () => {
  const [row] = await database.sql`
    select block_number from observation_cursors where type = 'chain' and block_number is not null`
  return row?.['block_number']
}

test('a process whose only endpoint names another chain at its start reads it as soon as it names the right one', async () => {
  endpoint.rewrite('eth_chainId', () => '0x13')
  let service = await start()
  try {
    await expect
      .poll(() => endpoint.count('eth_chainId'), { timeout: 30_000 })
      .toBeGreaterThanOrEqual(2)
    expect(await chainProblem(service)).toBe('endpoint 0 answered chain 19 instead of 14')
    expect(service.messages).toContain(
      'rpc endpoint names another chain, and is not read while it does',
    )
    // A process that is killed meanwhile remembers nothing that could keep the next one from starting.
    await service.kill()
    service = await start()
    await expect
      .poll(() => chainProblem(service), { timeout: 30_000 })
      .toBe('endpoint 0 answered chain 19 instead of 14')
    expect(reads()).toEqual([])
    expect(await storedHead()).toBeUndefined()
    await endpoint.up()
    const noticedMs = performance.now()
    await expect.poll(storedHead, { timeout: 30_000 }).toBeDefined()
    expect(performance.now() - noticedMs).toBeLessThan(15_000)
    await devnet.mine(1)
    await expect.poll(() => chainProblem(service), { timeout: 30_000 }).toBeUndefined()
    expect(service.messages).toContain('rpc endpoint serves the right chain')
    expect(service.errors.filter((line) => line.includes('another chain'))).toEqual([])
  } finally {
    await service.kill()
  }
}, 150_000)
