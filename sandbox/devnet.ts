import type { Address } from '#src/kernel/units.ts'
import { PEOPLE } from './devnet/accounts.ts'
import { startAnvil } from './devnet/anvil.ts'
import { createDevnetClient, type DevnetClient, type SnapshotId } from './devnet/client.ts'
import { createPaymentContractActions, type DevnetContracts } from './devnet/contracts.ts'
import { deployContracts } from './devnet/deployment.ts'
import { flare } from './devnet/flare.ts'
import { MULTICALL3_ADDRESS, multicall3CreationCode } from './devnet/multicall.ts'
import { createSender, type MinedTransaction, type SendTransactions } from './devnet/sending.ts'

/** Options of a local chain. */
export interface DevnetOptions {
  /** The anvil program (`ANVIL_PATH`); by default the one from npm, or else `anvil` on the PATH. */
  readonly anvilPath?: string
  /** 0, the default, uses any free port. */
  readonly port?: number
  /** Interval between blocks. By default each transaction creates its block at once. */
  readonly blockTimeSeconds?: number
  /** Flare's by default. */
  readonly chainId?: number
  /** Time of the first block; by default the present. Later blocks continue from it. */
  readonly startsAt?: Date
  /** Accounts to fund in addition to the people. */
  readonly accounts?: readonly { readonly address: Address; readonly balanceWei: bigint }[]
  /** Whether to deploy the payment router, tokens and mocks of Flare's contracts. */
  readonly contracts?: boolean
}

/** A local chain with Flare's chain id 14, or another, and Multicall3 at its address on Flare. */
export interface Devnet {
  readonly rpcUrl: string
  /** URL of the chain's WebSocket, which reports new heads. */
  readonly socketUrl: string
  /** Interval between blocks; undefined while each transaction creates its own. */
  readonly blockTimeSeconds: number | undefined
  readonly people: typeof PEOPLE
  readonly client: DevnetClient
  /** Transfers native coins, from any account; resolves once the transaction is in a block. */
  transfer(from: Address, to: Address, wei: bigint): Promise<MinedTransaction>
  /** Creates blocks; with `secondsApart` with times that far apart. */
  mine(blocks?: number, secondsApart?: number): Promise<void>
  /** Advances the chain's clock and creates a block at the new time. */
  increaseTime(seconds: number): Promise<void>
  /** Sets a balance without a transaction, as of the present block. */
  setBalance(address: Address, wei: bigint): Promise<void>
  /** Stores the state of the chain. */
  snapshot(): Promise<SnapshotId>
  /** Restores a snapshot, once; it and all later ones are deleted. */
  revert(id: SnapshotId): Promise<void>
  /** Replaces the last blocks by as many others without transactions. */
  reorg(depth: number): Promise<void>
  /** Stops the chain and deletes its files. */
  close(): Promise<void>
}

/** A local chain with the payment router, tokens and mocks of Flare's contracts. */
export interface DevnetWithContracts extends Devnet {
  readonly contracts: DevnetContracts
}

/** Initial balance of each person: 10,000 FLR. */
const START_BALANCE_WEI = 10_000n * 10n ** 18n
/** Gas limit of a block: enough for all transactions that set up a world. */
const BLOCK_GAS = 500_000_000
/**
 * Number of past states that can be queried. Each has a copy of all storage and of all block hashes; anvil would
 * write more of them to disk. A chain with a block time runs for long and keeps fewer.
 */
const KEPT_STATES = 1000
const KEPT_STATES_LIVE = 120
/** Number of blocks whose transactions and receipts a chain with a block time keeps: about 90 kB each. */
const KEPT_BLOCKS_LIVE = 3000

/**
 * Starts a local chain on loopback.
 *
 * Transactions from any address need no key, because the chain is for tests. It ends with
 * `close()`, and also when this process dies without calling it.
 *
 * @throws Error with what anvil printed when it does not start
 */
export async function startDevnet(
  options: DevnetOptions & { readonly contracts: true },
): Promise<DevnetWithContracts>
export async function startDevnet(options?: DevnetOptions): Promise<Devnet>
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const anvil = await startAnvil(options.anvilPath, anvilOptions(options))
  try {
    const client = createDevnetClient(anvil.url, options.chainId)
    await installMulticallAndFund(client, options)
    const send = createSender(client, options.blockTimeSeconds !== undefined)
    const chain = createDevnet(anvil.url, options.blockTimeSeconds, client, anvil.close, send)
    if (options.contracts !== true) return chain
    const contracts = createPaymentContractActions(await deployContracts(client, chain), send)
    const furnished: DevnetWithContracts = { ...chain, contracts }
    return furnished
  } catch (error) {
    await anvil.close()
    throw error
  }
}

function anvilOptions({
  port,
  blockTimeSeconds,
  startsAt,
  chainId = flare.id,
}: DevnetOptions): readonly string[] {
  const kept = blockTimeSeconds === undefined ? KEPT_STATES : KEPT_STATES_LIVE
  return [
    ...['--host', '127.0.0.1', '--port', `${port ?? 0}`, '--chain-id', `${chainId}`],
    ...['--accounts', '0', '--order', 'fifo', '--auto-impersonate'],
    // Newer forks keep the hash of every block in the state, of which each kept block has a copy.
    ...['--hardfork', 'cancun'],
    // Flare's blocks are final at once; this is the closest setting of anvil's `finalized`.
    ...['--slots-in-an-epoch', '1', '--prune-history', `${kept}`],
    ...['--gas-limit', `${BLOCK_GAS}`],
    ...(blockTimeSeconds === undefined
      ? []
      : [
          '--block-time',
          `${blockTimeSeconds}`,
          '--transaction-block-keeper',
          `${KEPT_BLOCKS_LIVE}`,
        ]),
    ...(startsAt === undefined ? [] : ['--timestamp', `${Math.floor(startsAt.getTime() / 1000)}`]),
  ]
}

async function installMulticallAndFund(
  client: DevnetClient,
  { accounts = [] }: DevnetOptions,
): Promise<void> {
  const { data } = await client.call({ data: await multicall3CreationCode() })
  if (data === undefined) throw new Error('the constructor of Multicall3 returned no code')
  await client.setCode({ address: MULTICALL3_ADDRESS, bytecode: data })
  for (const { account } of Object.values(PEOPLE)) {
    await client.setBalance({ address: account.address, value: START_BALANCE_WEI })
  }
  for (const { address, balanceWei } of accounts) {
    await client.setBalance({ address, value: balanceWei })
  }
}

function createDevnet(
  rpcUrl: string,
  blockTimeSeconds: number | undefined,
  client: DevnetClient,
  close: () => Promise<void>,
  send: SendTransactions,
): Devnet {
  return {
    rpcUrl,
    socketUrl: rpcUrl.replace(/^http/, 'ws'),
    blockTimeSeconds,
    people: PEOPLE,
    client,
    transfer: async (from, to, value) => {
      const [mined] = await send({ from, to, value })
      if (mined === undefined) throw new Error('nothing was sent')
      return mined
    },
    mine: async (blocks = 1, secondsApart) => {
      await client.mine({
        blocks,
        ...(secondsApart === undefined ? {} : { interval: secondsApart }),
      })
    },
    increaseTime: async (seconds) => {
      await client.increaseTime({ seconds })
      await client.mine({ blocks: 1 })
    },
    setBalance: (address, value) => client.setBalance({ address, value }),
    snapshot: () => client.snapshot(),
    revert: async (id) => {
      const isDone = await client.request({ method: 'evm_revert', params: [id] })
      if (isDone !== true) throw new Error(`snapshot ${id} is used up`)
    },
    reorg: async (depth) => {
      await client.request({ method: 'anvil_reorg', params: [depth, []] })
    },
    close,
  }
}
