import { decodeErrorResult, parseAbi } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import {
  createProviderSimulation,
  type ProviderSimulation,
} from '#sandbox/devnet/provider-simulation.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'

/** The simulation on an external clock, beside other users of its chain. */

const START_MS = Date.parse('2026-11-20T12:00:00Z')
const PATIENCE_MS = 20_000
const POLL_MS = 20
const RELAY = parseAbi([
  'function isFinalized(uint256, uint256) view returns (bool)',
  'error AlreadyRelayed()',
])

let devnet: DevnetWithContracts
let rpc: RpcProxy
let simulation: ProviderSimulation
let now: number
/** Number of times that the simulation has read its clock: once each time that it looks for due actions. */
let looks: number
let stop: AbortController
let running: Promise<void>
const problems: unknown[] = []

beforeEach(async () => {
  devnet = await startDevnet({
    contracts: true,
    startsAt: new Date(START_MS),
    blockTimeSeconds: 1,
  })
  now = START_MS
  looks = 0
  rpc = await startRpcProxy(devnet.rpcUrl)
  simulation = await createProviderSimulation(
    { ...devnet, rpcUrl: rpc.url },
    {
      providers: ['Alpha', 'Bravo', 'Charlie'].map((name) => ({ name })),
      onTime: (seconds) => {
        now = Math.max(now, seconds * 1000)
      },
      pollMs: POLL_MS,
    },
  )
  stop = new AbortController()
  problems.length = 0
  const clock = {
    now: () => {
      looks += 1
      return new Date(now)
    },
  }
  running = simulation.keepUp(clock, stop.signal, (error) => problems.push(error))
})
afterEach(async () => {
  stop.abort()
  await running
  await rpc.close()
  await devnet.close()
})

/** Lets seconds of the clock pass in little time. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 10) {
    now += 10_000
    await devnet.client.increaseTime({ seconds: 10 })
    await devnet.mine()
    // At the second look all that was due at the first is sent.
    const seen = looks
    await expect.poll(() => looks, { interval: POLL_MS }).toBeGreaterThan(seen + 1)
  }
}

const isFinal = (round: number) =>
  devnet.client.readContract({
    address: CONTRACTS.relay,
    abi: RELAY,
    functionName: 'isFinalized',
    args: [100n, BigInt(round)],
  })

test('rounds follow the clock, and playing a round in between skips no step of the current round', async () => {
  const { round } = simulation
  await pass(170)
  // In the middle of a round: after its commits, before its reveals.
  const played = await simulation.playRounds(1)
  expect(played.first).toBe(round + 1)
  await pass(70)
  await expect.poll(() => isFinal(round + 1), { timeout: PATIENCE_MS }).toBe(true)
  expect(await isFinal(round)).toBe(true)
  expect(problems).toEqual([])
})

test('after the clock jumps an hour ahead the rounds continue at the new time', async () => {
  const { round } = simulation
  now += 3_600_000
  await devnet.increaseTime(3600)
  await expect
    .poll(() => simulation.round, { timeout: PATIENCE_MS })
    .toBeGreaterThanOrEqual(round + 39)
  expect(await isFinal(round)).toBe(false)
  expect(problems).toEqual([])
})

test('a short failure of the chain is logged, and the rounds continue', async () => {
  const { round } = simulation
  await pass(100)
  rpc.failNext(4, { status: 500 })
  await pass(200)
  await expect.poll(() => isFinal(round), { timeout: PATIENCE_MS }).toBe(true)
  expect(problems.length).toBeGreaterThan(0)
})

test('the behaviour “normal-reverts” fails with the revert reason of a lost race', async () => {
  stop.abort()
  await running
  await simulation.behave('Alpha', 'normal-reverts')
  const since = await devnet.client.getBlockNumber()
  await simulation.playRounds(3)
  const reasons: string[] = []
  for (let number = since + 1n; number <= (await devnet.client.getBlockNumber()); number += 1n) {
    const block = await devnet.client.getBlock({ blockNumber: number, includeTransactions: true })
    for (const { hash, from, to, input } of block.transactions) {
      const { status } = await devnet.client.getTransactionReceipt({ hash })
      if (status === 'success') continue
      expect(from).toBe(simulation.provider('Alpha').accounts.signingPolicy.address.toLowerCase())
      const call = devnet.client.call({ account: from, to, data: input, blockNumber: number })
      const error: unknown = await call.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      reasons.push(revertName(error))
    }
  }
  expect(new Set(reasons)).toEqual(new Set(['AlreadyRelayed']))
  expect(reasons.length).toBeGreaterThanOrEqual(2)
})

function revertName(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!('data' in cause) || typeof cause.data !== 'string') continue
    return decodeErrorResult({ abi: RELAY, data: `0x${cause.data.slice(2)}` }).errorName
  }
  return `${error}`
}
