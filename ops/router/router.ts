/** Reads and sets the payment router, the contract of `src/chain/router`. */
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  isHex,
  type PublicClient,
  type WalletClient,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { ROUTER_ABI, ROUTER_OWNER_ABI } from '#src/chain/contracts.ts'
import contract from '#src/chain/router/PrepaidRouter.json' with { type: 'json' }
import { CHAINS } from '#src/kernel/chains.ts'
import { address, RouterError } from './arguments.ts'

export { RouterError } from './arguments.ts'

const ABI = [...ROUTER_ABI, ...ROUTER_OWNER_ABI]
const TOKENS = ['SERVICE_TOKEN_ADDRESS', 'WFLR_ADDRESS', 'FXRP_ADDRESS'] as const
/** How long a transaction is waited for; a block takes about a second. */
const WAIT_MS = 120_000
const POLL_MS = 1000

type Environment = Readonly<Record<string, string | undefined>>

/** The chain, the router if one is configured, and the key if one is given. */
export interface OpenedRouter {
  readonly chainName: string
  readonly client: PublicClient
  readonly wallet: WalletClient | undefined
  readonly router: Address | undefined
  /** Configured tokens by variable. */
  readonly tokens: readonly (readonly [string, Address])[]
}

/** Connects to the first endpoint of the environment. @throws RouterError if it serves another chain, or a value is wrong */
export async function openRouter(environment: Environment): Promise<OpenedRouter> {
  const url = environment['FLARE_RPC_URLS']?.split(',')[0]?.trim()
  if (!url) throw new RouterError('FLARE_RPC_URLS is missing')
  const chainId = Number(environment['CHAIN_ID'] || 14)
  const known = CHAINS.find(({ id }) => id === chainId)
  if (known === undefined) throw new RouterError(`CHAIN_ID is wrong: ${environment['CHAIN_ID']}`)
  const client = createPublicClient({ transport: http(url), pollingInterval: POLL_MS })
  const served = await client.getChainId().catch(() => undefined)
  if (served === undefined) throw new RouterError(`${new URL(url).host} does not answer`)
  if (served !== chainId)
    throw new RouterError(`${new URL(url).host} serves chain ${served}, not ${chainId}`)
  const key = environment['ROUTER_OWNER_KEY']
  if (key && !/^0x[0-9a-fA-F]{64}$/.test(key))
    throw new RouterError('ROUTER_OWNER_KEY is no private key of 0x and 64 hex digits')
  const router = environment['PAYMENT_ROUTER']
  return {
    chainName: known.name,
    client,
    wallet: key
      ? createWalletClient({ account: privateKeyToAccount(key as Hex), transport: http(url) })
      : undefined,
    router: router ? address('PAYMENT_ROUTER', router) : undefined,
    tokens: TOKENS.flatMap((name) => {
      const token = environment[name]
      return token ? [[name, address(name, token)] as const] : []
    }),
  }
}

/** What the router is, and which tokens it takes. */
export async function readStatus(of: OpenedRouter): Promise<readonly string[]> {
  const { client, tokens, chainName } = of
  const router = requireRouter(of)
  const read = <Name extends 'owner' | 'treasury' | 'paused' | 'version'>(functionName: Name) =>
    client.readContract({ address: router, abi: ABI, functionName })
  const treasury = await read('treasury').catch(() => undefined)
  if (treasury === undefined)
    throw new RouterError(`there is no router at ${router} on ${chainName}`)
  const version = await read('version').catch(() => 1n)
  const allowed = await Promise.all(
    tokens.map(async ([name, token]) => {
      const isOn = await client.readContract({
        address: router,
        abi: ABI,
        functionName: 'allowed',
        args: [token],
      })
      return `${name} ${token}: ${isOn ? 'accepted' : `not accepted; npm run router -- allow ${token} --yes`}`
    }),
  )
  return [
    `router ${router} on ${chainName}, version ${version}`,
    `treasury ${treasury}, which nobody can change`,
    `owner ${await read('owner')}`,
    (await read('paused')) ? 'paused: nobody can pay' : 'takes payments',
    ...(allowed.length === 0 ? [`none of ${TOKENS.join(', ')} is set`] : allowed),
  ]
}

/** Deploys a router. */
export async function deployRouter(
  of: OpenedRouter,
  {
    treasury,
    owner: wanted,
    isYes,
  }: { readonly treasury: Address; readonly owner: Address | undefined; readonly isYes: boolean },
): Promise<readonly string[]> {
  const { wallet, account } = requireKey(of)
  const owner = wanted ?? account.address
  const { bytecode } = contract
  if (!isHex(bytecode)) throw new RouterError('the compiled contract is missing: npm run contracts')
  const what = `a router on ${of.chainName} with the owner ${owner} and the treasury ${treasury}, which nobody can change later`
  if (!isYes) return [`would deploy ${what}`, 'add --yes to do it']
  const hash = await wallet.deployContract({
    abi: ABI,
    bytecode,
    args: [owner, treasury],
    account,
    chain: null,
  })
  const { contractAddress, status } = await of.client.waitForTransactionReceipt({
    hash,
    timeout: WAIT_MS,
  })
  if (status !== 'success' || !contractAddress) throw new RouterError(`transaction ${hash} failed`)
  return [
    `deployed ${what}: ${hash}`,
    `PAYMENT_ROUTER=${address('the router', contractAddress)}`,
    'allow each token: npm run router -- allow <token> --yes',
  ]
}

/** Sets whether the router accepts a token. */
export async function allowToken(
  of: OpenedRouter,
  { token, on, isYes }: { readonly token: Address; readonly on: boolean; readonly isYes: boolean },
): Promise<readonly string[]> {
  return await change(
    of,
    { functionName: 'setAllowed', args: [token, on] },
    { isYes, what: `${on ? 'accept' : 'refuse'} payments in ${token}` },
  )
}

/** Pauses payments, or takes them again. */
export async function pauseRouter(
  of: OpenedRouter,
  { on, isYes }: { readonly on: boolean; readonly isYes: boolean },
): Promise<readonly string[]> {
  return await change(
    of,
    { functionName: 'setPaused', args: [on] },
    { isYes, what: on ? 'pause all payments' : 'take payments again' },
  )
}

async function change(
  of: OpenedRouter,
  call: { readonly functionName: 'setAllowed' | 'setPaused'; readonly args: readonly unknown[] },
  { isYes, what }: { readonly isYes: boolean; readonly what: string },
): Promise<readonly string[]> {
  const router = requireRouter(of)
  const { wallet, account } = requireKey(of)
  const request = { address: router, abi: ABI, account, ...call } as never
  // Simulated first: what the contract would refuse is said in words and costs nothing.
  await of.client.simulateContract(request).catch((error: unknown) => {
    throw new RouterError(`the router refuses: ${reasonOf(error)}`)
  })
  if (!isYes) return [`would ${what}`, 'add --yes to do it']
  const hash = await wallet.writeContract({ ...(request as object), chain: null } as never)
  const { status } = await of.client.waitForTransactionReceipt({ hash, timeout: WAIT_MS })
  if (status !== 'success') throw new RouterError(`transaction ${hash} failed`)
  return [`done: ${what}: ${hash}`]
}

function reasonOf(error: unknown): string {
  const reverted =
    error instanceof BaseError
      ? error.walk((one) => one instanceof ContractFunctionRevertedError)
      : null
  const name =
    reverted instanceof ContractFunctionRevertedError ? reverted.data?.errorName : undefined
  if (name === 'NotOwner') return 'ROUTER_OWNER_KEY is not the key of its owner'
  if (name === 'NoContract') return 'there is no token at this address'
  return name ?? 'there is no router at PAYMENT_ROUTER, or the endpoint does not answer'
}

function requireRouter({ router }: OpenedRouter): Address {
  if (router === undefined)
    throw new RouterError('PAYMENT_ROUTER is missing: deploy a router first')
  return router
}

function requireKey({ wallet }: OpenedRouter) {
  const account = wallet?.account
  if (wallet === undefined || account === undefined)
    throw new RouterError('ROUTER_OWNER_KEY is missing')
  return { wallet, account }
}
