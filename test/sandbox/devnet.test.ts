import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createPublicClient, erc20Abi, http, parseAbi, parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { createDevnetClient } from '#sandbox/devnet/client.ts'
import { flare } from '#sandbox/devnet/flare.ts'
import { MULTICALL3_ADDRESS } from '#sandbox/devnet/multicall.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'

const alice = PEOPLE.alice.account.address
const bob = PEOPLE.bob.account.address
const STARTS_AT = new Date('2026-01-02T03:04:05Z')
const MULTICALL3 = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] results)',
  'function getBlockNumber() view returns (uint256)',
  'function getChainId() view returns (uint256)',
  'function getEthBalance(address account) view returns (uint256)',
])

let devnet: Devnet

beforeAll(async () => {
  devnet = await startDevnet({ startsAt: STARTS_AT })
})

afterAll(() => devnet.close())

describe('devnet', () => {
  it('is chain 14 and starts at the given time', async () => {
    expect(await devnet.client.getChainId()).toBe(14)
    const { timestamp } = await devnet.client.getBlock({ blockNumber: 0n })
    expect(timestamp).toBe(BigInt(STARTS_AT.getTime() / 1000))
  })

  it('gives Alice, Bob and Carol 10,000 FLR and keys that sign', async () => {
    for (const { account } of Object.values(devnet.people)) {
      expect(await devnet.client.getBalance({ address: account.address })).toBeGreaterThanOrEqual(
        parseEther('9000'),
      )
    }
    const hash = await devnet.client.sendTransaction({
      account: PEOPLE.carol.account,
      to: bob,
      value: 1n,
    })
    const receipt = await devnet.client.waitForTransactionReceipt({ hash })
    expect(receipt.from).toBe(PEOPLE.carol.account.address.toLowerCase())
  })

  it('waits for a receipt that its block does not have at first', async () => {
    const proxy = await startRpcProxy(devnet.rpcUrl)
    const client = createDevnetClient(proxy.url)
    let missing = 3
    proxy.rewrite('eth_getTransactionReceipt', (receipt) => {
      missing -= 1
      return missing >= 0 ? null : receipt
    })
    const hash = await client.sendTransaction({ account: alice, to: bob, value: 1n })
    const receipt = await client.waitForTransactionReceipt({ hash })
    expect([receipt.status, missing]).toEqual(['success', -1])
    await proxy.close()
  })

  it('moves coins and returns the block of the transfer', async () => {
    const before = await devnet.client.getBalance({ address: bob })
    const mined = await devnet.transfer(alice, bob, parseEther('500'))
    expect(await devnet.client.getBalance({ address: bob })).toBe(before + parseEther('500'))
    expect(
      await devnet.client.getBalance({ address: bob, blockNumber: mined.blockNumber - 1n }),
    ).toBe(before)
    const block = await devnet.client.getBlock({ blockHash: mined.blockHash })
    expect(block.transactions).toEqual([mined.hash])
  })

  it('moves coins from an address without a known key', async () => {
    const nobody = '0x00000000000000000000000000000000000000aa'
    await devnet.setBalance(nobody, parseEther('2'))
    await devnet.transfer(nobody, bob, parseEther('1'))
    expect(await devnet.client.getBalance({ address: nobody })).toBeLessThan(parseEther('1'))
  })

  it('has a Multicall3 that works with viem and with aggregate3', async () => {
    const contract = { address: MULTICALL3_ADDRESS, abi: MULTICALL3 } as const
    const [number, chainId, balance, failed] = await devnet.client.multicall({
      contracts: [
        { ...contract, functionName: 'getBlockNumber' },
        { ...contract, functionName: 'getChainId' },
        { ...contract, functionName: 'getEthBalance', args: [bob] },
        { address: MULTICALL3_ADDRESS, abi: erc20Abi, functionName: 'totalSupply' },
      ],
    })
    expect(number.result).toBe(await devnet.client.getBlockNumber())
    expect(chainId.result).toBe(14n)
    expect(balance.result).toBe(await devnet.client.getBalance({ address: bob }))
    expect(failed.status).toBe('failure')

    const { result } = await devnet.client.simulateContract({
      ...contract,
      functionName: 'aggregate3',
      args: [[{ target: MULTICALL3_ADDRESS, allowFailure: true, callData: '0x42cbb15c' }]],
    })
    expect(result).toEqual([{ success: true, returnData: expect.stringMatching(/^0x0+/) }])
    await expect(
      devnet.client.simulateContract({
        ...contract,
        functionName: 'aggregate3',
        args: [[{ target: MULTICALL3_ADDRESS, allowFailure: false, callData: '0x00000000' }]],
      }),
    ).rejects.toThrow('Multicall3: call failed')
  })

  it('makes blocks at the given interval', async () => {
    const before = await devnet.client.getBlock()
    await devnet.mine(3, 90)
    const after = await devnet.client.getBlock()
    expect(after.number).toBe(before.number + 3n)
    const middle = await devnet.client.getBlock({ blockNumber: after.number - 1n })
    expect(after.timestamp - middle.timestamp).toBe(90n)
  })

  it('can jump in time', async () => {
    const before = await devnet.client.getBlock()
    await devnet.increaseTime(3600)
    const after = await devnet.client.getBlock()
    expect(after.number).toBe(before.number + 1n)
    expect(Number(after.timestamp - before.timestamp)).toBeGreaterThanOrEqual(3600)
    expect(Number(after.timestamp - before.timestamp)).toBeLessThan(3660)
  })

  it('goes back to a snapshot', async () => {
    const id = await devnet.snapshot()
    const before = await devnet.client.getBlockNumber()
    await devnet.setBalance(bob, 7n)
    await devnet.mine(5)
    await devnet.revert(id)
    expect(await devnet.client.getBlockNumber()).toBe(before)
    expect(await devnet.client.getBalance({ address: bob })).not.toBe(7n)
    await expect(devnet.revert(id)).rejects.toThrow('used up')
  })

  it('replaces blocks in a reorganization, without their transactions', async () => {
    const mined = await devnet.transfer(alice, bob, 5n)
    const before = await devnet.client.getBalance({ address: bob })
    await devnet.reorg(1)
    const replaced = await devnet.client.getBlock({ blockNumber: mined.blockNumber })
    expect(replaced.hash).not.toBe(mined.blockHash)
    expect(await devnet.client.getBalance({ address: bob })).toBe(before - 5n)
    await expect(devnet.client.getTransactionReceipt({ hash: mined.hash })).rejects.toThrow()
  })

  it('makes blocks on a timer when it has a block time', async () => {
    const ticking = await startDevnet({
      blockTimeSeconds: 1,
      accounts: [{ address: MULTICALL3_ADDRESS, balanceWei: 3n }],
    })
    try {
      expect(await ticking.client.getBalance({ address: MULTICALL3_ADDRESS })).toBe(3n)
      const { blockNumber } = await ticking.transfer(alice, bob, 1n)
      const { promise, resolve } = Promise.withResolvers<bigint>()
      const stop = ticking.client.watchBlockNumber({
        onBlockNumber: (number) => {
          if (number > blockNumber) resolve(number)
        },
      })
      expect(await promise).toBeGreaterThan(blockNumber)
      stop()
    } finally {
      await ticking.close()
    }
  })

  it('reports why it does not start', async () => {
    await expect(startDevnet({ anvilPath: '/nowhere/anvil' })).rejects.toThrow(/not found/)
    const { port } = new URL(devnet.rpcUrl)
    await expect(startDevnet({ port: Number(port) })).rejects.toThrow(/in use/)
  })
})

describe('the end of a devnet', () => {
  let files: string

  beforeEach(async () => {
    files = await mkdtemp(join(tmpdir(), 'devnet-test-'))
    vi.stubEnv('TMPDIR', files)
  })

  afterEach(async () => {
    vi.unstubAllEnvs()
    await rm(files, { recursive: true })
  })

  it('leaves no process and no file behind', async () => {
    const own = await startDevnet()
    await own.mine(2)
    await own.reorg(1)
    expect(await readdir(files)).toHaveLength(1)
    await Promise.all([own.close(), own.close()])
    await expect(fetch(own.rpcUrl)).rejects.toThrow('fetch failed')
    expect(await readdir(files)).toEqual([])
  })

  it('follows the end of the process that started it, also by SIGKILL', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', RUN_A_DEVNET], {
      env: { TMPDIR: files },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [rpcUrl] = await once(createInterface(child.stdout), 'line')
    expect(await isAnswering(rpcUrl)).toBe(true)
    child.kill('SIGKILL')
    await expect.poll(() => isAnswering(rpcUrl), { timeout: 10_000 }).toBe(false)
    await expect.poll(() => readdir(files), { timeout: 10_000 }).toEqual([])
  })
})

describe('the proxy before the chain', () => {
  let proxy: RpcProxy

  beforeAll(async () => {
    proxy = await startRpcProxy(devnet.rpcUrl)
  })

  afterAll(() => proxy.close())

  const client = (batch = false) =>
    createPublicClient({
      chain: flare,
      transport: http(proxy.url, { retryCount: 0, batch, timeout: 300 }),
      cacheTime: 0,
    })

  it('forwards calls and counts them, also in batches', async () => {
    proxy.resetCounts()
    const expected = await devnet.client.getBlockNumber()
    expect(await client().getBlockNumber()).toBe(expected)
    const batching = client(true)
    const answers = [batching.getBlockNumber(), batching.getGasPrice(), batching.getChainId()]
    expect(await Promise.all<bigint | number>(answers)).toEqual([expected, expect.anything(), 14])
    expect(proxy.counts()).toEqual({ eth_blockNumber: 2, eth_gasPrice: 1, eth_chainId: 1 })
    expect(proxy.count('eth_getLogs')).toBe(0)
  })

  it('breaks connections while it is down, and works again afterwards', async () => {
    await proxy.down()
    await expect(fetch(proxy.url)).rejects.toThrow('fetch failed')
    await expect(client().getChainId()).rejects.toThrow('HTTP request failed')
    await proxy.up()
    expect(await client().getChainId()).toBe(14)
  })

  it('keeps its port while it is down', async () => {
    await proxy.down()
    const { port } = new URL(proxy.url)
    await expect(startRpcProxy(devnet.rpcUrl, Number(port))).rejects.toThrow('EADDRINUSE')
    await proxy.up()
    expect(await client().getChainId()).toBe(14)
  })

  it('breaks a running request when it goes down', async () => {
    proxy.hang()
    proxy.resetCounts()
    const asked = fetch(proxy.url, { method: 'POST', body: callOf('eth_chainId') })
    const broken = expect(asked).rejects.toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } })
    await expect.poll(() => proxy.count('eth_chainId')).toBe(1)
    await proxy.down()
    await broken
    await proxy.up()
  })

  it('responds to the next requests with a given status', async () => {
    proxy.failNext(2, { status: 429 })
    const statuses = []
    for (const _ of [1, 2, 3]) {
      statuses.push(
        (await fetch(proxy.url, { method: 'POST', body: callOf('eth_chainId') })).status,
      )
    }
    expect(statuses).toEqual([429, 429, 200])
  })

  it('responds to one method with a JSON-RPC error, and does not forward the call', async () => {
    const before = await devnet.client.getBlockNumber()
    proxy.failNext(1, { code: -32005, message: 'limit exceeded' }, 'evm_mine')
    const batch = [call('eth_chainId', 1), call('evm_mine', 2)]
    const response = await fetch(proxy.url, { method: 'POST', body: JSON.stringify(batch) })
    expect(await response.json()).toEqual([
      { jsonrpc: '2.0', id: 1, result: '0xe' },
      { jsonrpc: '2.0', id: 2, error: { code: -32005, message: 'limit exceeded' } },
    ])
    expect(await devnet.client.getBlockNumber()).toBe(before)
    proxy.failNext(1, { code: -32005, message: 'limit exceeded' })
    await expect(client().getBlockNumber()).rejects.toThrow('limit exceeded')
    expect(await client().getBlockNumber()).toBe(before)
  })

  it('hangs until the caller aborts', async () => {
    proxy.hang()
    await expect(client().getChainId()).rejects.toThrow('took too long')
    await proxy.up()
    expect(await client().getChainId()).toBe(14)
  })

  it('responds late', async () => {
    proxy.delay(500)
    await expect(client().getChainId()).rejects.toThrow('took too long')
    proxy.delay(20)
    expect(await client().getChainId()).toBe(14)
    await proxy.up()
  })

  it('hides every log', async () => {
    const address = await deployLogger(devnet)
    await devnet.client.sendTransaction({ account: alice, to: address })
    await devnet.mine()
    expect(await client().getLogs({ address, fromBlock: 0n })).toHaveLength(1)
    proxy.emptyLogs()
    expect(await client().getLogs({ address, fromBlock: 0n })).toEqual([])
    await proxy.up()
    expect(await client().getLogs({ address, fromBlock: 0n })).toHaveLength(1)
  })

  it('changes the result of one method', async () => {
    proxy.rewrite('eth_blockNumber', (result) => `0x${(BigInt(`${result}`) - 1n).toString(16)}`)
    expect(await client().getBlockNumber()).toBe((await devnet.client.getBlockNumber()) - 1n)
    expect(await client(true).getChainId()).toBe(14)
    await proxy.up()
  })
})

const DEVNET = new URL('../../sandbox/devnet.ts', import.meta.url)
const RUN_A_DEVNET = `
import { startDevnet } from '${DEVNET}'
const { rpcUrl } = await startDevnet()
process.stdout.write(rpcUrl + '\\n')
`

async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { method: 'POST', body: callOf('eth_chainId') })).ok
  } catch {
    return false
  }
}

function call(method: string, id: number) {
  return { jsonrpc: '2.0', id, method, params: [] }
}

function callOf(method: string): string {
  return JSON.stringify(call(method, 1))
}

/** Deploys a contract that emits an empty event without topics (LOG0) on every call. */
async function deployLogger({ client }: Devnet): Promise<`0x${string}`> {
  const address = '0x00000000000000000000000000000000000000bb'
  // PUSH1 0, PUSH1 0, LOG0, STOP
  await client.setCode({ address, bytecode: '0x60006000a000' })
  return address
}
