import {
  type Address,
  concat,
  getAddress,
  type Hex,
  numberToHex,
  serializeErc6492Signature,
} from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import type { Chain } from '#src/chain/chain.ts'
import { createChain } from '#src/chain/client.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import {
  encodedNumber,
  encodedString,
  factoryOf,
  GAS_BURNER,
  REVERTER,
  respondingCode,
  tokenCode,
  walletCode,
} from './contracts.ts'

const numbered = (number: number): Address => getAddress(numberToHex(number, { size: 20 }))
const { alice, bob } = PEOPLE
const MESSAGE = 'I am the owner of this wallet.'
const WALLET = numbered(0x1001)
const FACTORY = numbered(0x1002)
const TOKEN = numbered(0x1003)
const BURNER = numbered(0x1004)
const BROKEN = numbered(0x1005)
/** Accepts every signature, as a wallet that knows what it has approved on chain. */
const APPROVING = numbered(0x1006)

const MAGIC: Hex = `0x1626ba7e${'00'.repeat(28)}`

let devnet: Devnet
let proxy: RpcProxy
let chain: Chain

const factory = factoryOf(FACTORY, walletCode(bob.account.address))

beforeAll(async () => {
  devnet = await startDevnet()
  const codes: readonly [Address, Hex][] = [
    [WALLET, walletCode(alice.account.address)],
    [FACTORY, factory.code],
    [TOKEN, tokenCode({ symbol: encodedString('TOKEN'), decimals: encodedNumber(18n) })],
    [BURNER, GAS_BURNER],
    [BROKEN, REVERTER],
    [APPROVING, respondingCode({ 'isValidSignature(bytes32,bytes)': MAGIC })],
  ]
  for (const [address, bytecode] of codes) await devnet.client.setCode({ address, bytecode })
  await devnet.mine()
})
afterAll(() => devnet.close())
beforeEach(async () => {
  proxy = await startRpcProxy(devnet.rpcUrl)
  chain = createChain({ rpcUrls: [proxy.url], chainId: 14, log: silentLogger, timeoutMs: 1000 })
})
afterEach(() => proxy.close())

const unavailable = { kind: 'upstream', code: 'dependency_unavailable' }

describe('a plain account', () => {
  test('is recognized without a request to an endpoint', async () => {
    await proxy.down()
    const signature = await alice.account.signMessage({ message: MESSAGE })
    const { address } = alice.account
    expect(await chain.verifyMessage({ address, message: MESSAGE, signature })).toBe(true)
    expect(proxy.counts()).toEqual({})
  })

  test('does not prove control of another account', async () => {
    const signature = await alice.account.signMessage({ message: MESSAGE })
    const { address } = bob.account
    expect(await chain.verifyMessage({ address, message: MESSAGE, signature })).toBe(false)
    expect(proxy.counts()).toEqual({ eth_chainId: 1, eth_call: 1, eth_getCode: 1 })
  })

  test.each([
    '',
    '0x',
    '0x1',
    'signature',
    `0x${'00'.repeat(65)}`,
    `0x${'ff'.repeat(4097)}`,
  ])('did not sign %j', async (signature) => {
    const { address } = alice.account
    expect(await chain.verifyMessage({ address, message: MESSAGE, signature })).toBe(false)
  })
})

describe('a contract wallet', () => {
  test('accepts what its owner signed', async () => {
    const signature = await alice.account.signMessage({ message: MESSAGE })
    expect(await chain.verifyMessage({ address: WALLET, message: MESSAGE, signature })).toBe(true)
  })

  test('refuses a signature of another signer or of another message', async () => {
    const others = await bob.account.signMessage({ message: MESSAGE })
    const another = await alice.account.signMessage({ message: `${MESSAGE} ` })
    for (const signature of [others, another]) {
      expect(await chain.verifyMessage({ address: WALLET, message: MESSAGE, signature })).toBe(
        false,
      )
    }
  })

  test('refuses its owner’s signature with any byte changed', async () => {
    const signature = await alice.account.signMessage({ message: MESSAGE })
    for (let at = 0; at < 65; at += 1) {
      const bytes = Buffer.from(signature.slice(2), 'hex')
      bytes[at] = (bytes[at] ?? 0) ^ 0x55
      const changed = `0x${bytes.toString('hex')}`
      const input = { address: WALLET, message: MESSAGE, signature: changed }
      expect(await chain.verifyMessage(input)).toBe(false)
    }
  })

  test.each([
    ['no', '0x'],
    ['one', '0x12'],
    ['31', `0x${'AB'.repeat(31)}`],
    ['65', `0x${'ab'.repeat(65)}`],
    ['900', `0x${'ab'.repeat(900)}`],
  ])('decides on a signature of %s bytes itself', async (_, signature) => {
    const input = { message: MESSAGE, signature }
    expect(await chain.verifyMessage({ address: APPROVING, ...input })).toBe(true)
    expect(await chain.verifyMessage({ address: WALLET, ...input })).toBe(false)
  })

  test('may have a signature of 4096 bytes, but not a longer one', async () => {
    const signature = await alice.account.signMessage({ message: MESSAGE })
    const filled = (bytes: number) => concat([signature, `0x${'00'.repeat(bytes - 65)}`])
    const verify = (bytes: number) =>
      chain.verifyMessage({ address: WALLET, message: MESSAGE, signature: filled(bytes) })
    expect(await verify(4096)).toBe(true)
    expect(await verify(4097)).toBe(false)
  })

  test.each([
    ['knows nothing of signatures', TOKEN],
    ['fails', BROKEN],
    ['burns all gas', BURNER],
  ])('accepts nothing if its contract %s', async (_, address) => {
    const signature = await alice.account.signMessage({ message: MESSAGE })
    expect(await chain.verifyMessage({ address, message: MESSAGE, signature })).toBe(false)
  })
})

describe('a contract wallet that is not deployed yet', () => {
  const wrapped = async (signer: typeof bob) =>
    serializeErc6492Signature({
      address: FACTORY,
      data: '0x01',
      signature: await signer.account.signMessage({ message: MESSAGE }),
    })

  test('accepts what its owner signed, and is still not deployed', async () => {
    const signature = await wrapped(bob)
    const address = factory.deployedAddress
    expect(await chain.verifyMessage({ address, message: MESSAGE, signature })).toBe(true)
    expect(await devnet.client.getCode({ address })).toBeUndefined()
  })

  test('refuses a signature of another signer', async () => {
    const signature = await wrapped(alice)
    const address = factory.deployedAddress
    expect(await chain.verifyMessage({ address, message: MESSAGE, signature })).toBe(false)
  })

  test('must have the address that its factory deploys to', async () => {
    const signature = await wrapped(bob)
    const address = numbered(0x9999)
    expect(await chain.verifyMessage({ address, message: MESSAGE, signature })).toBe(false)
  })
})

describe('when no endpoint gives a valid response', () => {
  test.each([
    ['does not take connections', (rpc: RpcProxy) => rpc.down()],
    ['answers 502', (rpc: RpcProxy) => rpc.failNext(99, { status: 502 })],
    ['fails inside', (rpc: RpcProxy) => rpc.failNext(99, { code: -32603, message: 'oops' })],
    [
      'fails in the call',
      (rpc: RpcProxy) =>
        rpc.failNext(9, { code: -32000, message: 'execution aborted (timeout = 5s)' }, 'eth_call'),
    ],
    ['returns an empty result', (rpc: RpcProxy) => rpc.rewrite('eth_call', () => '0x')],
    ['never responds', (rpc: RpcProxy) => rpc.hang()],
  ])('a wallet is neither accepted nor refused: the endpoint %s', async (_, fail) => {
    await fail(proxy)
    const signature = await alice.account.signMessage({ message: MESSAGE })
    await expect(
      chain.verifyMessage({ address: WALLET, message: MESSAGE, signature }),
    ).rejects.toMatchObject(unavailable)
  })
})

describe('contracts that are slow', () => {
  test.each([
    ['responds too late', (rpc: RpcProxy) => rpc.hang()],
    [
      'aborts the call',
      (rpc: RpcProxy) =>
        rpc.failNext(9, { code: -32000, message: 'execution aborted (timeout = 5s)' }, 'eth_call'),
    ],
  ])('do not cause a pause for an endpoint that %s', async (_, fail) => {
    const other = await startRpcProxy(devnet.rpcUrl)
    try {
      const rpcUrls = [proxy.url, other.url]
      const two = createChain({ rpcUrls, chainId: 14, log: silentLogger, timeoutMs: 10_000 })
      await two.confirmedBlock(1)
      fail(proxy)
      // Not deployed yet: the call is the first request.
      const signature = serializeErc6492Signature({
        address: FACTORY,
        data: '0x01',
        signature: await bob.account.signMessage({ message: MESSAGE }),
      })
      const address = factory.deployedAddress
      expect(await two.verifyMessage({ address, message: MESSAGE, signature })).toBe(true)
      await proxy.up()
      proxy.resetCounts()
      await two.routerState(TOKEN, []).catch(() => undefined)
      expect(proxy.counts()['eth_call'] ?? 0).toBeGreaterThan(0)
    } finally {
      await other.close()
    }
  })

  test('delay at most fifteen callers, and no plain account', async () => {
    await proxy.hang()
    const signature = await alice.account.signMessage({ message: MESSAGE })
    const outcomes = Array.from({ length: 20 }, (_, index) =>
      chain
        .verifyMessage({ address: numbered(0x5000 + index), message: MESSAGE, signature })
        .catch((error: unknown) => error),
    )
    // Five exceed the limit and are refused while the other fifteen are in progress.
    const refused = await Promise.all(outcomes.slice(15))
    expect(refused).toEqual(Array(5).fill(expect.objectContaining(unavailable)))
    const { address } = alice.account
    expect(await chain.verifyMessage({ address, message: MESSAGE, signature })).toBe(true)
    const most = proxy.counts()
    expect(most['eth_chainId'] ?? 0).toBeLessThanOrEqual(3)
    await proxy.up()
    // The waiting calls run, and the next caller gets a place again.
    await Promise.all(outcomes)
    expect(await chain.verifyMessage({ address: WALLET, message: MESSAGE, signature })).toBe(true)
  })
})
