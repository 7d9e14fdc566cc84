import {
  bytesToHex,
  encodeFunctionData,
  getAddress,
  type Hex,
  hexToBytes,
  toFunctionSelector,
} from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROUNDS_ABI } from '#sandbox/devnet/fsp/abi.ts'
import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import { signedUpdate } from '#sandbox/devnet/fsp/fast-updates.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/**
 * Alerts about failed calls of the Relay depend on the reason, and on the endpoints that know it.
 */

/** Each with one failure. */
const NAMES = ['Alpha', 'Bravo', 'Charlie', 'Delta', 'Echo'] as const
const SIGNALS = [{ id: 'tx-failed', enabled: true }]
/** Error of nodes for a block whose state is pruned. */
const PRUNED = { code: -32000, message: 'missing trie node 0xabc (path ) state is not available' }

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld([], { providers: ['Anchor', ...NAMES].map((name) => ({ name })) })
  for (const name of NAMES) await world.watch(name, SIGNALS)
  await play(2)
}, 60_000)
afterAll(() => world.close())
async function play(rounds: number): Promise<void> {
  await world.simulation().playRounds(rounds)
  await world.scan()
}

/**
 * Finalises a round that is not final yet, with the changed signatures of the last finalisation.
 */
async function relay(name: string, change: (signature: Uint8Array) => void): Promise<void> {
  const { client } = world.devnet
  const input = await lastRelay()
  const bytes = hexToBytes(input)
  const view = new DataView(bytes.buffer)
  const message = 4 + 43 + 22 * view.getUint16(4)
  view.setUint32(message + 1, view.getUint32(message + 1) + 1)
  change(bytes.subarray(message + 38 + 2))
  const account = world.simulation().provider(name).accounts.identity.address
  const sent = { account, to: CONTRACTS.relay, data: bytesToHex(bytes), gas: 1_000_000n }
  const hash = await client.sendTransaction(sent)
  const { status } = await client.waitForTransactionReceipt({ hash })
  expect(status).toBe('reverted')
}

async function lastRelay(): Promise<`0x${string}`> {
  const { client } = world.devnet
  for (let number = await client.getBlockNumber(); number > 0n; number -= 1n) {
    const { transactions } = await client.getBlock({
      blockNumber: number,
      includeTransactions: true,
    })
    const call = transactions.find(
      ({ to }) => to !== null && getAddress(to) === getAddress(CONTRACTS.relay),
    )
    if (call !== undefined) return call.input
  }
  throw new Error('nobody called the Relay')
}

const badV = (signature: Uint8Array) => {
  signature[0] = 29
}
const badS = (signature: Uint8Array) => {
  signature.fill(0xff, 33, 65)
}

test.each([
  ['Alpha', 'a signature that has no valid form', badV, 'BadV()'],
  ['Bravo', 'a signature with a value too high', badS, 'BadS()'],
] as const)('what %s sent and failed for %s is notified with its reason', async (name, _what, change, error) => {
  await relay(name, change)
  await play(2)
  const [notified, ...more] = await world.alerts(name)
  expect(notified).toMatchObject({
    event: 'fsp.tx-failed',
    data: { contract: 'Relay', function: 'relay', reason: toFunctionSelector(error) },
  })
  expect(more).toEqual([])
})

/** Sends a fast update with these deltas; its account is known as a sender after a valid one. */
async function update(deltas: Hex): Promise<string> {
  const { client } = world.devnet
  const { accounts } = world.simulation().provider('Echo')
  const [sender] = accounts.fastUpdates
  if (sender === undefined) throw new Error('nobody sends')
  const args = [signedUpdate(accounts, Number(await client.getBlockNumber()), deltas)] as const
  const data = encodeFunctionData({ abi: ROUNDS_ABI, functionName: 'submitAndPass', args })
  const sent = { account: sender.address, to: CONTRACTS.submission, data, gas: 1_000_000n }
  const hash = await client.sendTransaction(sent)
  return (await client.waitForTransactionReceipt({ hash })).status
}

test('a fast update that is too long for the feeds is notified with that as its reason', async () => {
  await world.behave('Echo', 'no-fast-updates')
  expect(await update('0x000000')).toBe('success')
  await play(2)
  expect(await update('0x0000000000')).toBe('reverted')
  await play(2)
  const [notified, ...more] = await world.alerts('Echo')
  expect(notified).toMatchObject({
    event: 'fsp.tx-failed',
    data: {
      role: 'fastUpdates',
      contract: 'Submission',
      function: 'submitAndPass',
      reason: 'More updates than available feeds',
    },
  })
  expect(more).toMatchObject([
    { event: 'fsp.fast-updates', data: { rule: 'too-long', feedsSent: 17, isAccepted: false } },
  ])
})

test('a call that failed because another was earlier causes no alert', async () => {
  await world.behave('Charlie', 'normal-reverts')
  await play(3)
  await world.simulation().recover('Charlie')
  expect(await world.alerts('Charlie')).toEqual([])
})

test('the reason is requested from another endpoint if one has pruned the state', async () => {
  await relay('Delta', badV)
  world.primary.failNext(999, PRUNED, 'eth_call')
  await play(2)
  expect(await world.alerts('Delta')).toMatchObject([
    { event: 'fsp.tx-failed', data: { reason: toFunctionSelector('BadV()') } },
  ])
})
