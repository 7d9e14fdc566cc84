import {
  type Abi,
  type Address,
  decodeErrorResult,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  pad,
  parseAbi,
  parseEther,
  parseEventLogs,
  stringToHex,
  toHex,
} from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import callingToken from '#sandbox/contracts/CallingToken.json' with { type: 'json' }
import falseToken from '#sandbox/contracts/FalseToken.json' with { type: 'json' }
import feeToken from '#sandbox/contracts/FeeToken.json' with { type: 'json' }
import silentToken from '#sandbox/contracts/SilentToken.json' with { type: 'json' }
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { bytecodeOf } from '#sandbox/devnet/deployment.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import router from '#src/chain/router/PrepaidRouter.json' with { type: 'json' }
import { CONTRACT_WALLET_ABI, deployContractWallet, execute } from '../support/contract-wallet.ts'
import { AGREED_ROUTER_ABI } from './router-abi.ts'

const alice = PEOPLE.alice.account.address
const bob = PEOPLE.bob.account.address
const HANDLE = keccak256(toHex('a top-up'))
const ZERO = '0x0000000000000000000000000000000000000000'

const ROUTER = [
  ...AGREED_ROUTER_ABI,
  ...parseAbi([
    'event AllowedSet(address indexed token, bool on)',
    'event PausedSet(bool on)',
    'event OwnershipTransferStarted(address indexed owner, address indexed pendingOwner)',
    'event OwnershipTransferred(address indexed previousOwner, address indexed newOwner)',
    'error IsPaused()',
    'error NotOwner()',
    'error NotPendingOwner()',
    'error NoContract(address account)',
    'error TokenNotAllowed(address token)',
    'error TransferFailed(address token)',
    'error WrongAmountReceived(uint256 expected, uint256 received)',
    'error ZeroAddress()',
    'error ZeroAmount()',
    'error Reentered()',
    'error ForwardingFailed()',
    'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
    'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  ]),
] as const
const TOKEN = parseAbi([
  'constructor(bytes32 symbol, uint8 decimals)',
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
])

let devnet: DevnetWithContracts
let contracts: DevnetWithContracts['contracts']
let snapshot: `0x${string}`

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true })
  contracts = devnet.contracts
})
afterAll(() => devnet.close())
beforeEach(async () => {
  if (snapshot !== undefined) await devnet.revert(snapshot)
  snapshot = await devnet.snapshot()
})

describe('a payment', () => {
  test('moves exactly the amount to the treasury and emits an event', async () => {
    const before = await balance(contracts.fxrp, alice)
    const paid = await contracts.pay(alice, HANDLE, contracts.fxrp, 12_345_678n)
    expect(paid.status).toBe('success')
    expect(await balance(contracts.fxrp, contracts.treasury)).toBe(12_345_678n)
    expect(await balance(contracts.fxrp, alice)).toBe(before - 12_345_678n)

    const { logs } = await devnet.client.getTransactionReceipt({ hash: paid.hash })
    const [event, ...others] = logs.filter(({ address }) => isSame(address, contracts.router))
    expect(others).toEqual([])
    expect(event?.topics).toEqual([
      keccak256(toHex('Paid(bytes32,address,address,uint256)')),
      HANDLE,
      pad(alice, { size: 32 }).toLowerCase(),
      pad(contracts.fxrp, { size: 32 }).toLowerCase(),
    ])
    expect(event?.data).toBe(toHex(12_345_678n, { size: 32 }))
  })

  test('leaves no tokens at the router', async () => {
    for (const token of [contracts.serviceToken, contracts.wflr, contracts.fxrp]) {
      await contracts.pay(bob, HANDLE, token, 5_000_000n)
      expect(await balance(token, contracts.router)).toBe(0n)
    }
    expect(await devnet.client.getBalance({ address: contracts.router })).toBe(0n)
  })

  test('uses up its allowance', async () => {
    await contracts.pay(alice, HANDLE, contracts.wflr, 77n)
    expect(await allowance(contracts.wflr, alice)).toBe(0n)
  })

  test('for one handle may be repeated, also by other payers', async () => {
    const all = [
      await contracts.pay(alice, HANDLE, contracts.wflr, 1n),
      await contracts.pay(alice, HANDLE, contracts.wflr, 2n),
      await contracts.pay(bob, HANDLE, contracts.fxrp, 3n),
    ]
    expect(all.map(({ status }) => status)).toEqual(['success', 'success', 'success'])
    expect(await balance(contracts.wflr, contracts.treasury)).toBe(3n)
  })

  test('may be the largest amount that a token can have', async () => {
    const all = 2n ** 256n - 1n
    const token = await deploy(silentToken, [], [])
    await send(bob, token, 'mint', [alice, all])
    await contracts.setAllowed(token, true)
    expect(await contracts.pay(alice, HANDLE, token, all)).toMatchObject({ status: 'success' })
    expect(await balance(token, contracts.treasury)).toBe(all)
  })

  test('is refused for a zero amount', async () => {
    expect(await refusal(alice, pay(contracts.wflr, 0n))).toEqual(['ZeroAmount', undefined])
  })

  test('is refused for a token that is not accepted', async () => {
    const token = await deploy(silentToken, [], [])
    const refused = ['TokenNotAllowed', [token]]
    expect(await refusal(alice, pay(token, 1n))).toEqual(refused)
    expect(await refusal(alice, pay(ZERO, 1n))).toEqual(['TokenNotAllowed', [ZERO]])
    await contracts.setAllowed(contracts.wflr, false)
    expect(await refusal(alice, pay(contracts.wflr, 1n))).toEqual([
      'TokenNotAllowed',
      [contracts.wflr],
    ])
    await contracts.setAllowed(contracts.wflr, true)
    expect(await contracts.pay(alice, HANDLE, contracts.wflr, 1n)).toMatchObject({
      status: 'success',
    })
  })

  test('is refused while paused, and changes nothing', async () => {
    await contracts.setPaused(true)
    const before = await balance(contracts.wflr, alice)
    expect(await contracts.pay(alice, HANDLE, contracts.wflr, 1n)).toMatchObject({
      status: 'reverted',
    })
    expect(await refusal(alice, pay(contracts.wflr, 1n))).toEqual(['IsPaused', undefined])
    expect(await balance(contracts.wflr, alice)).toBe(before)
    await contracts.setPaused(false)
    expect(await contracts.pay(alice, HANDLE, contracts.wflr, 1n)).toMatchObject({
      status: 'success',
    })
  })

  test('is refused with the token’s error if the approval or balance is too small', async () => {
    await send(alice, contracts.wflr, 'approve', [contracts.router, 9n])
    expect(await refusal(alice, pay(contracts.wflr, 10n))).toEqual([
      'ERC20InsufficientAllowance',
      [contracts.router, 9n, 10n],
    ])
    const owned = await balance(contracts.wflr, alice)
    await send(alice, contracts.wflr, 'approve', [contracts.router, owned + 1n])
    expect(await refusal(alice, pay(contracts.wflr, owned + 1n))).toEqual([
      'ERC20InsufficientBalance',
      [alice, owned, owned + 1n],
    ])
  })

  test('takes tokens from the caller only', async () => {
    await send(alice, contracts.wflr, 'approve', [contracts.router, 10n])
    expect(await refusal(bob, pay(contracts.wflr, 10n))).toEqual([
      'ERC20InsufficientAllowance',
      [contracts.router, 0n, 10n],
    ])
  })

  test('from the treasury to itself is refused', async () => {
    await contracts.mint(contracts.wflr, contracts.treasury, 10n)
    await devnet.setBalance(contracts.treasury, parseEther('1'))
    await send(contracts.treasury, contracts.wflr, 'approve', [contracts.router, 10n])
    expect(await refusal(contracts.treasury, pay(contracts.wflr, 10n))).toEqual([
      'WrongAmountReceived',
      [10n, 0n],
    ])
  })

  test('with coins is refused, and so are coins without a payment', async () => {
    const call = { from: alice, to: contracts.router, value: 1n }
    await expect(devnet.client.call({ ...call, account: alice })).rejects.toThrow('revert')
    const data = pay(contracts.wflr, 1n)
    await expect(devnet.client.call({ ...call, account: alice, data })).rejects.toThrow('revert')
  })
})

describe('a payment in coins', () => {
  const native = call('payNative', [HANDLE])
  const coins = (address: Address) => devnet.client.getBalance({ address })
  /** Sends coins, and waits for the block with them: the node answers before it creates the block. */
  const payCoins = async (value: bigint, to: Address = contracts.router) => {
    const payment = { account: alice, to, value, data: native, gas: 500_000n } as const
    const hash = await devnet.client.sendTransaction(payment)
    await devnet.client.waitForTransactionReceipt({ hash })
    return hash
  }
  const refused = (value: bigint, to = contracts.router) => refusal(alice, native, to, value)

  test('moves exactly the sent coins to the treasury and emits an event without a token', async () => {
    const before = await coins(contracts.treasury)
    const hash = await payCoins(12_345_678n)
    expect((await coins(contracts.treasury)) - before).toBe(12_345_678n)
    expect(await coins(contracts.router)).toBe(0n)
    const { logs } = await devnet.client.waitForTransactionReceipt({ hash })
    expect(parseEventLogs({ abi: ROUTER, logs })).toMatchObject([
      {
        eventName: 'Paid',
        args: { handle: HANDLE, payer: alice, token: ZERO, amount: 12_345_678n },
      },
    ])
  })

  test('has the contract wallet that sends it as its payer', async () => {
    const wallet = await deployContractWallet(devnet, bob)
    const { router: to } = contracts
    const hash = await execute(devnet, { from: bob, wallet, to, value: 5n, data: native })
    const { logs } = await devnet.client.getTransactionReceipt({ hash })
    expect(parseEventLogs({ abi: ROUTER, logs })).toMatchObject([
      { args: { handle: HANDLE, payer: wallet, token: ZERO, amount: 5n } },
    ])
  })

  test('is refused if it is zero, and while payments are paused', async () => {
    expect(await refused(0n)).toEqual(['ZeroAmount', undefined])
    await contracts.setPaused(true)
    expect(await refused(1n)).toEqual(['IsPaused', undefined])
    await contracts.setPaused(false)
    expect(await refused(1n)).toBeUndefined()
  })

  test('is refused as a whole when the treasury rejects it', async () => {
    const { treasury, odd } = await oddTreasury()
    await announceTreasury(treasury, 'setRefuses', [true])
    expect(await refused(7n, odd)).toEqual(['ForwardingFailed', undefined])
    await announceTreasury(treasury, 'setRefuses', [false])
    await payCoins(7n, odd)
    expect(await coins(treasury)).toBe(7n)
  })

  test('is refused if the treasury makes another payment during it', async () => {
    const { treasury, odd } = await oddTreasury()
    await announceTreasury(treasury, 'setAnswer', [odd, native])
    expect(await refused(7n, odd)).toEqual(['ForwardingFailed', undefined])
    await announceTreasury(treasury, 'setAnswer', [ZERO, '0x'])
    await payCoins(7n, odd)
    expect([await coins(treasury), await coins(odd)]).toEqual([7n, 0n])
  })

  async function oddTreasury() {
    const treasury = await deployContractWallet(devnet, bob)
    return { treasury, odd: await deploy(router, ROUTER, [bob, treasury]) }
  }

  async function announceTreasury(
    to: Address,
    functionName: 'setRefuses' | 'setAnswer',
    args: readonly unknown[],
  ) {
    const abi: Abi = CONTRACT_WALLET_ABI
    const data = encodeFunctionData({ abi, functionName, args })
    const hash = await devnet.client.sendTransaction({ account: bob, to, data })
    await devnet.client.waitForTransactionReceipt({ hash })
  }
})

describe('a token', () => {
  const symbol = stringToHex('ODD', { size: 32 })

  test('that keeps a fee on transfers is refused', async () => {
    const token = await odd(feeToken, TOKEN, [symbol, 18])
    await send(alice, token, 'approve', [contracts.router, 1000n])
    expect(await refusal(alice, pay(token, 1000n))).toEqual(['WrongAmountReceived', [1000n, 990n]])
    // It keeps no fee of this small amount.
    expect(await contracts.pay(alice, HANDLE, token, 99n)).toMatchObject({ status: 'success' })
  })

  test('that returns nothing is accepted, and refused when it reverts without a reason', async () => {
    const token = await odd(silentToken, [], [])
    expect(await contracts.pay(alice, HANDLE, token, 1000n)).toMatchObject({ status: 'success' })
    expect(await balance(token, contracts.treasury)).toBe(1000n)
    expect(await refusal(alice, pay(token, 1000n))).toEqual(['TransferFailed', [token]])
  })

  test('that returns false is refused', async () => {
    const token = await odd(falseToken, TOKEN, [symbol, 18])
    expect(await refusal(alice, pay(token, 1000n))).toEqual(['TransferFailed', [token]])
    expect(await contracts.pay(alice, HANDLE, token, 1000n)).toMatchObject({ status: 'success' })
  })

  test('that pays a second time during the transfer is refused, although the sums match', async () => {
    const token = await odd(callingToken, TOKEN, [symbol, 18])
    expect(await refusal(alice, pay(token, 1000n))).toEqual(['Reentered', undefined])
    expect(await balance(token, contracts.treasury)).toBe(0n)
    // The router works afterwards.
    expect(await contracts.pay(alice, HANDLE, contracts.wflr, 1n)).toMatchObject({
      status: 'success',
    })
  })

  test('must be a contract to be accepted, and can be removed when it is no longer a contract', async () => {
    const { operator } = contracts
    const set = (on: boolean) => call('setAllowed', [bob, on])
    expect(await refusal(operator, set(true))).toEqual(['NoContract', [bob]])
    expect(await refusal(operator, set(false))).toBeUndefined()
  })

  async function odd(contract: { bytecode: string }, abi: Abi, args: readonly unknown[]) {
    const token = await deploy(contract, abi, args)
    await send(bob, token, 'mint', [alice, 1_000_000n])
    await contracts.setAllowed(token, true)
    return token
  }
})

describe('the owner', () => {
  test('is set at deployment, and is the only one who may accept tokens and pause', async () => {
    expect(await read('owner')).toBe(contracts.operator)
    for (const data of [
      call('setAllowed', [contracts.wflr, false]),
      call('setPaused', [true]),
      call('transferOwnership', [alice]),
    ]) {
      expect(await refusal(alice, data)).toEqual(['NotOwner', undefined])
      expect(await refusal(contracts.treasury, data)).toEqual(['NotOwner', undefined])
      expect(await refusal(contracts.operator, data)).toBeUndefined()
    }
  })

  test('changes only when the next owner accepts', async () => {
    await notify(contracts.operator, 'transferOwnership', [alice])
    expect(await read('owner')).toBe(contracts.operator)
    expect(await read('pendingOwner')).toBe(alice)
    expect(await refusal(alice, call('setPaused', [true]))).toEqual(['NotOwner', undefined])
    expect(await refusal(bob, call('acceptOwnership', []))).toEqual(['NotPendingOwner', undefined])

    const accepted = await notify(alice, 'acceptOwnership', [])
    expect(accepted).toEqual([
      {
        eventName: 'OwnershipTransferred',
        args: { previousOwner: contracts.operator, newOwner: alice },
      },
    ])
    expect(await read('owner')).toBe(alice)
    expect(await read('pendingOwner')).toBe(ZERO)
    expect(await refusal(contracts.operator, call('setPaused', [true]))).toEqual([
      'NotOwner',
      undefined,
    ])
    expect(await refusal(alice, call('setPaused', [true]))).toBeUndefined()
    expect(await refusal(alice, call('acceptOwnership', []))).toEqual([
      'NotPendingOwner',
      undefined,
    ])
  })

  test('can replace the proposed next owner, or withdraw the proposal', async () => {
    await notify(contracts.operator, 'transferOwnership', [alice])
    await notify(contracts.operator, 'transferOwnership', [bob])
    expect(await refusal(alice, call('acceptOwnership', []))).toEqual([
      'NotPendingOwner',
      undefined,
    ])
    await notify(contracts.operator, 'transferOwnership', [ZERO])
    expect(await refusal(bob, call('acceptOwnership', []))).toEqual(['NotPendingOwner', undefined])
    expect(await read('owner')).toBe(contracts.operator)
  })

  test('causes an event with every decision', async () => {
    const { operator, wflr } = contracts
    expect(await notify(operator, 'setAllowed', [wflr, false])).toEqual([
      { eventName: 'AllowedSet', args: { token: wflr, on: false } },
    ])
    expect(await notify(operator, 'setPaused', [true])).toEqual([
      { eventName: 'PausedSet', args: { on: true } },
    ])
    expect(await notify(operator, 'transferOwnership', [bob])).toEqual([
      { eventName: 'OwnershipTransferStarted', args: { owner: operator, pendingOwner: bob } },
    ])
    expect(await read('allowed', [wflr])).toBe(false)
    expect(await read('paused')).toBe(true)
  })
})

describe('a new router', () => {
  test('accepts no token and is not paused', async () => {
    const address = await deploy(router, ROUTER, [alice, bob])
    expect(await read('owner', [], address)).toBe(alice)
    expect(await read('treasury', [], address)).toBe(bob)
    expect(await read('paused', [], address)).toBe(false)
    expect(await read('allowed', [contracts.wflr], address)).toBe(false)
    expect(await read('pendingOwner', [], address)).toBe(ZERO)
  })

  test.each([
    ['an owner', [ZERO, bob]],
    ['a treasury', [alice, ZERO]],
  ] as const)('is not made without %s', async (_, args) => {
    const data = encodeDeployData({ abi: ROUTER, bytecode: bytecodeOf(router), args })
    expect(await refusal(alice, data, null)).toEqual(['ZeroAddress', undefined])
  })
})

function pay(token: Address, amount: bigint): Hex {
  return call('pay', [HANDLE, token, amount])
}

function call(functionName: string, args: readonly unknown[]): Hex {
  const abi: Abi = ROUTER
  return encodeFunctionData({ abi, functionName, args })
}

/**
 * The name and values of the error with which a call of the router reverts; undefined when it
 * succeeds.
 */
async function refusal(
  from: Address,
  data: Hex,
  to: Address | null = contracts.router,
  value = 0n,
) {
  const sent = { from, data, value: toHex(value) }
  const parameters = [to === null ? sent : { ...sent, to }, 'latest']
  const response = await fetch(devnet.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: parameters }),
  })
  const { error }: { error?: { data: Hex } } = JSON.parse(await response.text())
  if (error === undefined) return undefined
  const { errorName, args } = decodeErrorResult({ abi: ROUTER, data: error.data })
  return [errorName, args]
}

/** Makes a call of the router and returns its events. */
async function notify(from: Address, functionName: string, args: readonly unknown[]) {
  const hash = await devnet.client.sendTransaction({
    account: from,
    to: contracts.router,
    data: call(functionName, args),
  })
  const { logs } = await devnet.client.waitForTransactionReceipt({ hash })
  return parseEventLogs({ abi: ROUTER, logs }).map(({ eventName, args: values }) => ({
    eventName,
    args: values,
  }))
}

async function read(
  functionName: 'owner' | 'pendingOwner' | 'treasury' | 'paused' | 'allowed',
  args: readonly unknown[] = [],
  address = contracts.router,
): Promise<unknown> {
  const abi: Abi = ROUTER
  return devnet.client.readContract({ abi, address, functionName, args })
}

async function send(from: Address, to: Address, functionName: string, args: readonly unknown[]) {
  const abi: Abi = TOKEN
  const data = encodeFunctionData({ abi, functionName, args })
  const hash = await devnet.client.sendTransaction({ account: from, to, data })
  await devnet.client.waitForTransactionReceipt({ hash })
}

async function deploy(
  contract: { readonly bytecode: string },
  abi: Abi,
  args: readonly unknown[],
): Promise<Address> {
  const data = encodeDeployData({ abi, bytecode: bytecodeOf(contract), args })
  const hash = await devnet.client.sendTransaction({ account: bob, data })
  const { contractAddress } = await devnet.client.waitForTransactionReceipt({ hash })
  if (contractAddress == null) throw new Error('nothing was deployed')
  return getAddress(contractAddress)
}

function balance(token: Address, account: Address): Promise<bigint> {
  return devnet.client.readContract({
    abi: TOKEN,
    address: token,
    functionName: 'balanceOf',
    args: [account],
  })
}

function allowance(token: Address, owner: Address): Promise<bigint> {
  const args = [owner, contracts.router] as const
  return devnet.client.readContract({ abi: TOKEN, address: token, functionName: 'allowance', args })
}

function isSame(address: string, other: string): boolean {
  return address.toLowerCase() === other.toLowerCase()
}
