import {
  type Abi,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  getContractAddress,
  type Hex,
  isHex,
  parseAbi,
  parseUnits,
  stringToHex,
} from 'viem'
import { USDT0 } from '#src/billing/direct/model.ts'
import { CONTRACT_REGISTRY_ADDRESS } from '#src/chain/contracts.ts'
import { cryptoFeedId } from '#src/chain/feeds/feed-names.ts'
import router from '#src/chain/router/PrepaidRouter.json' with { type: 'json' }
import type { Address } from '#src/kernel/units.ts'
import authorizedToken from '../contracts/AuthorizedToken.json' with { type: 'json' }
import registry from '../contracts/ContractRegistry.json' with { type: 'json' }
import feeds from '../contracts/PriceFeeds.json' with { type: 'json' }
import token from '../contracts/Token.json' with { type: 'json' }
import wrapped from '../contracts/WrappedCoin.json' with { type: 'json' }
import { PEOPLE } from './accounts.ts'
import type { DevnetClient } from './client.ts'
import {
  type CallOrCreation,
  createBlockWriter,
  readReceipts,
  type WrittenChain,
} from './fsp/writer.ts'

/** Addresses of the contracts and accounts that payments need. */
export interface PaymentContractAddresses {
  /** Owner of the router. */
  readonly operator: Address
  /** Receives every payment of the router. */
  readonly treasury: Address
  /** Receives plain transfers of the coin. */
  readonly payTo: Address
  readonly router: Address
  /** A token with 18 decimals, like WFLR. */
  readonly serviceToken: Address
  readonly wflr: Address
  /** A token with 6 decimals. */
  readonly fxrp: Address
  /** A token with 6 decimals whose transfers can be authorized, in the place of USD₮0. */
  readonly usdt0: Address
  /** Mock of the FlareContractRegistry, at its usual address. */
  readonly registry: Address
  /** Mock of FtsoV2, found through the registry. */
  readonly ftsoV2: Address
}

/** Functions of a mock token. */
export const TOKEN_ABI = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function mint(address to, uint256 value)',
])

/** Functions of the router: `pay` for payers, the others for its owner. */
export const ROUTER_ABI = parseAbi([
  'function pay(bytes32 handle, address token, uint256 amount)',
  'function setAllowed(address token, bool on)',
  'function setPaused(bool on)',
])

/** Function that sets a price of the mock FtsoV2. */
const FEEDS_ABI = parseAbi([
  'function set(bytes21 id, uint256 value, int8 decimals, uint64 timestamp)',
])

const REGISTRY_ABI = parseAbi(['function set(string name, address contractAddress)'])
const TOKEN_CREATION = parseAbi(['constructor(bytes32 symbol, uint8 decimals)'])
const WRAPPED_CREATION = parseAbi(['constructor(bytes32 symbol)'])
const ROUTER_CREATION = parseAbi(['constructor(address owner, address treasury)'])

const OPERATOR = getAddress('0x00000000000000000000000000000000000f1a01')
const TREASURY = getAddress('0x00000000000000000000000000000000000f1a02')
const PAY_TO = getAddress('0x00000000000000000000000000000000000f1a03')
const OPERATOR_WEI = 1000n * 10n ** 18n
/** Gas limit of each transaction: more than any of them needs. */
const GAS = 2_500_000
/** Initial amount of every token for each person. */
const START_TOKENS = '100000'
/** Initial prices, in US dollars: `value / 10 ** decimals`. They count as fresh until a price with a time is set. */
export const PRICES = [
  { name: 'FLR/USD', value: 200_000n, decimals: 7 },
  { name: 'XRP/USD', value: 250_000n, decimals: 5 },
  { name: 'BTC/USD', value: 9_000_000n, decimals: 2 },
  { name: 'ETH/USD', value: 3_000_000n, decimals: 3 },
  { name: 'DOGE/USD', value: 150_000n, decimals: 6 },
  { name: 'SOL/USD', value: 1_500_000n, decimals: 4 },
  { name: 'USDT/USD', value: 100_000n, decimals: 5 },
  { name: 'USDC/USD', value: 100_000n, decimals: 5 },
  { name: 'SGB/USD', value: 400_000n, decimals: 8 },
] as const

/**
 * Sets the code of the mock registry and of USD₮0. Then deploys the router, three tokens and the mock FtsoV2 and sets them up, in
 * one block: names registered, prices set, tokens allowed, tokens minted for each person.
 */
export async function deployContracts(
  client: DevnetClient,
  chain: WrittenChain,
): Promise<PaymentContractAddresses> {
  await placeContract(client, CONTRACT_REGISTRY_ADDRESS, bytecodeOf(registry))
  const symbol = stringToHex(USDT0.name, { size: 32 })
  const creation = creationTransaction(authorizedToken, TOKEN_CREATION, [symbol, 6])
  await placeContract(client, USDT0.address, creation.data ?? '0x')
  await client.setBalance({ address: OPERATOR, value: OPERATOR_WEI })
  const addresses = contractAddressesAfter(await client.getTransactionCount({ address: OPERATOR }))
  const calls = [...creationCodes(), ...setUpCalls(addresses)]
  const transactions = calls.map((call): CallOrCreation => ({ ...call, from: OPERATOR, gas: GAS }))
  const writer = createBlockWriter(chain)
  await writer.hold()
  try {
    const hashes = await writer.send(transactions)
    await writer.ask([{ method: 'evm_mine', params: [] }])
    const mined = await readReceipts(writer, hashes)
    const failed = mined.findIndex((receipt) => receipt?.status !== '0x1')
    if (failed !== -1) throw new Error(`transaction ${failed} of the deployment failed`)
  } finally {
    await writer.release()
  }
  return addresses
}

/** Sets the code that a creation code returns at an address. */
async function placeContract(client: DevnetClient, address: Address, data: Hex): Promise<void> {
  const { data: bytecode } = await client.call({ data })
  if (bytecode === undefined) throw new Error(`the creation code for ${address} returned no code`)
  await client.setCode({ address, bytecode })
}

type CallWithoutSender = Omit<CallOrCreation, 'from'>

/** The creation of each contract, in the order on which `contractAddressesAfter` relies. */
function creationCodes(): readonly CallWithoutSender[] {
  const symbol = (text: string) => stringToHex(text, { size: 32 })
  return [
    creationTransaction(token, TOKEN_CREATION, [symbol('WDG'), 18]),
    creationTransaction(wrapped, WRAPPED_CREATION, [symbol('WFLR')]),
    creationTransaction(token, TOKEN_CREATION, [symbol('FXRP'), 6]),
    creationTransaction(router, ROUTER_CREATION, [OPERATOR, TREASURY]),
    creationTransaction(feeds, [], []),
  ]
}

function contractAddressesAfter(firstNonce: number): PaymentContractAddresses {
  const at = (place: number) =>
    getContractAddress({ from: OPERATOR, nonce: BigInt(firstNonce + place) })
  return {
    operator: OPERATOR,
    treasury: TREASURY,
    payTo: PAY_TO,
    serviceToken: at(0),
    wflr: at(1),
    fxrp: at(2),
    router: at(3),
    ftsoV2: at(4),
    usdt0: USDT0.address,
    registry: CONTRACT_REGISTRY_ADDRESS,
  }
}

function setUpCalls(addresses: PaymentContractAddresses): readonly CallWithoutSender[] {
  const { serviceToken, wflr, fxrp, usdt0, ftsoV2 } = addresses
  const registerName = (text: string, address: Address): CallWithoutSender => ({
    to: addresses.registry,
    data: encodeFunctionData({ abi: REGISTRY_ABI, args: [text, address] }),
  })
  const tokens = [
    { address: serviceToken, units: parseUnits(START_TOKENS, 18) },
    { address: wflr, units: parseUnits(START_TOKENS, 18) },
    { address: fxrp, units: parseUnits(START_TOKENS, 6) },
  ]
  return [
    registerName('FtsoV2', ftsoV2),
    registerName('WNat', wflr),
    ...PRICES.map((price): CallWithoutSender => ({ to: ftsoV2, data: setFeedData(price) })),
    ...tokens.map(
      ({ address }): CallWithoutSender => ({
        to: addresses.router,
        data: setAllowedData(address, true),
      }),
    ),
    ...[...tokens, { address: usdt0, units: parseUnits(START_TOKENS, 6) }].flatMap(
      ({ address, units }) =>
        Object.values(PEOPLE).map(
          ({ account }): CallWithoutSender => ({
            to: address,
            data: mintData(account.address, units),
          }),
        ),
    ),
  ]
}

/** Calldata that sets a price of the mock FtsoV2; without `at` it is always fresh. */
export function setFeedData(price: {
  readonly name: string
  readonly value: bigint
  readonly decimals: number
  readonly at?: Date | undefined
}): Hex {
  const seconds = Math.floor((price.at?.getTime() ?? 0) / 1000)
  const args = [cryptoFeedId(price.name), price.value, price.decimals, BigInt(seconds)] as const
  return encodeFunctionData({ abi: FEEDS_ABI, args })
}

/** Calldata that sets whether the router accepts a token. */
export function setAllowedData(address: Address, on: boolean): Hex {
  return encodeFunctionData({ abi: ROUTER_ABI, functionName: 'setAllowed', args: [address, on] })
}

/** Calldata that mints a token. */
export function mintData(to: Address, units: bigint): Hex {
  return encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [to, units] })
}

function creationTransaction(
  contract: { readonly bytecode: string },
  abi: Abi,
  args: readonly unknown[],
): CallWithoutSender {
  return { data: encodeDeployData({ abi, bytecode: bytecodeOf(contract), args }) }
}

/** Creation code in a compiled contract's JSON. */
export function bytecodeOf({ bytecode }: { readonly bytecode: string }): Hex {
  if (!isHex(bytecode)) throw new Error('not a compiled contract')
  return bytecode
}
