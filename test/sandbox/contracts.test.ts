import {
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  keccak256,
  parseAbi,
  parseEther,
  parseUnits,
  toFunctionSelector,
  toHex,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { CONTRACT_REGISTRY_ADDRESS } from '#src/chain/contracts.ts'
import { cryptoFeedId } from '#src/chain/feeds/feed-names.ts'

const alice = PEOPLE.alice.account.address
const bob = PEOPLE.bob.account.address
const AT = new Date('2026-11-20T15:00:00Z')
const HANDLE = keccak256(toHex('a top-up'))

/** Functions of the real contract registry. */
const REGISTRY = parseAbi([
  'function getContractAddressByName(string name) view returns (address)',
  'function getContractAddressesByName(string[] names) view returns (address[])',
  'function getContractAddressByHash(bytes32 nameHash) view returns (address)',
  'function getContractAddressesByHash(bytes32[] nameHashes) view returns (address[])',
  'function getAllContracts() view returns (string[] names, address[] addresses)',
])
const FTSO_V2 = parseAbi([
  'struct FeedIdChange { bytes21 oldFeedId; bytes21 newFeedId; }',
  'function getFeedById(bytes21 id) view returns (uint256 value, int8 decimals, uint64 timestamp)',
  'function getFeedsById(bytes21[] ids) view returns (uint256[], int8[], uint64)',
  'function getFeedByIdInWei(bytes21 id) view returns (uint256, uint64)',
  'function getFeedsByIdInWei(bytes21[] ids) view returns (uint256[], uint64)',
  'function calculateFeeByIds(bytes21[] ids) view returns (uint256)',
  'function getSupportedFeedIds() view returns (bytes21[])',
  'function getFeedIdChanges() view returns (FeedIdChange[])',
])
const RENAMING = parseAbi(['function rename(bytes21 oldFeedId, bytes21 newFeedId)'])
const SELECTORS = {
  'getContractAddressByName(string)': '0x82760fca',
  'getContractAddressesByName(string[])': '0x76d2b1af',
  'getContractAddressByHash(bytes32)': '0x159354a2',
  'getContractAddressesByHash(bytes32[])': '0x5e11e2d1',
  'getAllContracts()': '0x18d3ce96',
  'getFeedById(bytes21)': '0x93e9f806',
  'getFeedsById(bytes21[])': '0x4c375745',
  'getFeedByIdInWei(bytes21)': '0x59feadf6',
  'getFeedsByIdInWei(bytes21[])': '0xe3f5ccf5',
  'calculateFeeByIds(bytes21[])': '0x31af71a0',
  'getSupportedFeedIds()': '0xfa9962bc',
  'getFeedIdChanges()': '0x5d202c48',
}

let devnet: DevnetWithContracts
let contracts: DevnetWithContracts['contracts']

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: AT })
  contracts = devnet.contracts
})
afterAll(() => devnet.close())

test('the deployment is one block, and the next block is that of the first transaction', async () => {
  const fresh = await startDevnet({ contracts: true })
  expect(await fresh.client.getBlockNumber()).toBe(1n)
  await fresh.transfer(alice, bob, 1n)
  expect(await fresh.client.getBlockNumber()).toBe(2n)
  expect(fresh.contracts).toMatchObject({ router: contracts.router, ftsoV2: contracts.ftsoV2 })
  await fresh.close()
})

test.each(Object.entries(SELECTORS))('the stand-ins have %s', async (signature, selector) => {
  expect(toFunctionSelector(signature)).toBe(selector)
  const addresses = [contracts.registry, contracts.ftsoV2]
  const codes = await Promise.all(addresses.map((address) => devnet.client.getCode({ address })))
  // A contract pushes the selectors of its functions, to compare them.
  expect(codes.some((code) => code?.includes(`63${selector.slice(2)}`))).toBe(true)
})

describe('the stand-in for the contract registry', () => {
  const read = { abi: REGISTRY, address: CONTRACT_REGISTRY_ADDRESS } as const
  const hash = (name: string) => keccak256(encodeAbiParameters([{ type: 'string' }], [name]))

  test('finds contracts by name and by hash, at the address of the real registry', async () => {
    const { client } = devnet
    const known = [contracts.ftsoV2, contracts.wflr, NOBODY]
    const names = ['FtsoV2', 'WNat', 'Nothing']
    for (const [index, name] of names.entries()) {
      const byName = { ...read, functionName: 'getContractAddressByName', args: [name] } as const
      expect(await client.readContract(byName)).toBe(known[index])
      const byHash = { functionName: 'getContractAddressByHash', args: [hash(name)] } as const
      expect(await client.readContract({ ...read, ...byHash })).toBe(known[index])
    }
    const byNames = { functionName: 'getContractAddressesByName', args: [names] } as const
    expect(await client.readContract({ ...read, ...byNames })).toEqual(known)
    const byHashes = {
      functionName: 'getContractAddressesByHash',
      args: [names.map(hash)],
    } as const
    expect(await client.readContract({ ...read, ...byHashes })).toEqual(known)
    expect(await client.readContract({ ...read, functionName: 'getAllContracts' })).toEqual([
      ['FtsoV2', 'WNat'],
      [contracts.ftsoV2, contracts.wflr],
    ])
  })
})

describe('the stand-in for FtsoV2', () => {
  const read = <const T extends object>(call: T) => ({
    abi: FTSO_V2,
    address: contracts.ftsoV2,
    ...call,
  })
  const flr = cryptoFeedId('FLR/USD')
  const xrp = cryptoFeedId('XRP/USD')

  test('returns feeds one by one and together, also with 18 decimals', async () => {
    const { client } = devnet
    await contracts.setFeed('FLR/USD', 12_345n, 6, new Date('2026-11-20T14:59:00Z'))
    await contracts.setFeed('XRP/USD', 3n, -2, new Date('2026-11-20T14:58:00Z'))
    const older = BigInt(Date.UTC(2026, 10, 20, 14, 58) / 1000)
    const oneFeed = read({ functionName: 'getFeedById', args: [flr] })
    expect(await client.readContract(oneFeed)).toEqual([12_345n, 6, older + 60n])
    const bothFeeds = read({ functionName: 'getFeedsById', args: [[flr, xrp]] })
    expect(await client.readContract(bothFeeds)).toEqual([[12_345n, 3n], [6, -2], older])
    const inWei = read({ functionName: 'getFeedByIdInWei', args: [flr] })
    expect(await client.readContract(inWei)).toEqual([12_345n * 10n ** 12n, older + 60n])
    const bothInWei = read({ functionName: 'getFeedsByIdInWei', args: [[flr, xrp]] })
    expect(await client.readContract(bothInWei)).toEqual([
      [12_345n * 10n ** 12n, 3n * 10n ** 20n],
      older,
    ])
    const fee = read({ functionName: 'calculateFeeByIds', args: [[flr, xrp]] })
    expect(await client.readContract(fee)).toBe(0n)
    const ids = read({ functionName: 'getSupportedFeedIds' })
    expect((await client.readContract(ids)).slice(0, 2)).toEqual([flr, xrp])
    const changes = read({ functionName: 'getFeedIdChanges' })
    expect(await client.readContract(changes)).toEqual([])
    await contracts.setFeed('FLR/USD', 5n, 0)
    await devnet.increaseTime(10_000)
    const { timestamp } = await client.getBlock()
    expect(await client.readContract(oneFeed)).toEqual([5n, 0, timestamp])
  })

  test('has no other feeds', async () => {
    const other = read({ functionName: 'getFeedById', args: [cryptoFeedId('LUNC/USD')] })
    await expect(devnet.client.readContract(other)).rejects.toThrow('feed does not exist')
  })

  test('renames a feed, and still accepts the old name', async () => {
    const { client } = devnet
    const [from, to] = [cryptoFeedId('SGB/USD'), cryptoFeedId('SGBX/USD')]
    const before = await client.readContract(read({ functionName: 'getFeedById', args: [from] }))
    const data = encodeFunctionData({ abi: RENAMING, args: [from, to] })
    await contracts.sendNative(alice, contracts.ftsoV2, 0n, data)
    const changes = read({ functionName: 'getFeedIdChanges' })
    expect(await client.readContract(changes)).toEqual([{ oldFeedId: from, newFeedId: to }])
    const all = await client.readContract(read({ functionName: 'getSupportedFeedIds' }))
    expect(all).toContain(to)
    expect(all).not.toContain(from)
    for (const id of [from, to]) {
      const after = await client.readContract(read({ functionName: 'getFeedById', args: [id] }))
      expect(after.slice(0, 2)).toEqual(before.slice(0, 2))
    }
  })
})

describe('the tokens', () => {
  test('have symbol and decimals, and every person has some', async () => {
    const { client } = devnet
    const tokens = [
      [contracts.serviceToken, 'WDG', 18],
      [contracts.wflr, 'WFLR', 18],
      [contracts.fxrp, 'FXRP', 6],
    ] as const
    for (const [address, symbol, decimals] of tokens) {
      const read = { abi: erc20Abi, address } as const
      expect(await client.readContract({ ...read, functionName: 'symbol' })).toBe(symbol)
      expect(await client.readContract({ ...read, functionName: 'decimals' })).toBe(decimals)
      for (const { account } of Object.values(PEOPLE)) {
        const call = { ...read, functionName: 'balanceOf', args: [account.address] } as const
        expect(await client.readContract(call)).toBe(parseUnits('100000', decimals))
      }
      const total = await client.readContract({ ...read, functionName: 'totalSupply' })
      expect(total).toBe(parseUnits('300000', decimals))
    }
  })

  test('that wrap coins can be wrapped and unwrapped', async () => {
    const { client } = devnet
    const { wflr } = contracts
    const balance = () =>
      client.readContract({ abi: erc20Abi, address: wflr, functionName: 'balanceOf', args: [bob] })
    const before = await balance()
    const abi = parseAbi(['function deposit() payable', 'function withdraw(uint256 value)'])
    const deposit = encodeFunctionData({ abi, functionName: 'deposit' })
    await contracts.sendNative(bob, wflr, parseEther('3'), deposit)
    await contracts.sendNative(bob, wflr, parseEther('1'))
    expect(await balance()).toBe(before + parseEther('4'))
    expect(await client.getBalance({ address: wflr })).toBe(parseEther('4'))
    const take = (value: bigint) => {
      const data = encodeFunctionData({ abi, functionName: 'withdraw', args: [value] })
      return contracts.sendNative(bob, wflr, 0n, data)
    }
    expect(await take(parseEther('4'))).toMatchObject({ status: 'success' })
    expect(await balance()).toBe(before)
    expect(await client.getBalance({ address: wflr })).toBe(0n)
    expect(await take(1n)).toMatchObject({ status: 'reverted' })
  })
})

describe('a chain with a block time', () => {
  test('allows payments without waiting for the next block', async () => {
    const ticking = await startDevnet({ contracts: true, blockTimeSeconds: 3600 })
    const { pay, fxrp, setPaused, mint } = ticking.contracts
    expect(await pay(alice, HANDLE, fxrp, 5n)).toMatchObject({ status: 'success' })
    await mint(fxrp, bob, 7n)
    await setPaused(true)
    expect(await pay(bob, HANDLE, fxrp, 5n)).toMatchObject({ status: 'reverted' })
    await ticking.close()
  })
})

const NOBODY = '0x0000000000000000000000000000000000000000'
