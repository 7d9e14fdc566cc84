import { encodeEventTopics, erc20Abi, type Hex, isAddressEqual, numberToHex, pad } from 'viem'
import { z } from 'zod'
import { Address, type Hash, ZERO_ADDRESS } from '#src/kernel/units.ts'
import { requireBlock } from '../blocks/blocks.ts'
import type { BalanceMovement, ChangedBalance } from '../chain.ts'
import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import { EndpointError } from '../endpoints/failures.ts'
import { Quantity, Transaction } from '../endpoints/schemas.ts'
import type { LogReader } from '../events/logs.ts'

/** Longest span of blocks that is searched for the transfers behind a change. */
const MOVEMENT_BLOCKS_MAX = 200

/** A transfer of an asset from one account to another. */
interface Transfer {
  readonly asset: ChangedBalance['asset']
  readonly hash: Hash
  readonly from: Address
  /** Receiver; undefined for the creation of a contract. */
  readonly to: Address | undefined
  readonly units: bigint
  /** Number of the block, and index in the block. */
  readonly place: readonly [block: number, index: number]
  /** Maximum of the sender's fee for the transaction, in coins; 0 for tokens. */
  readonly feeMaxUnits: bigint
}

const Block = z.object({
  transactions: z.array(
    Transaction.omit({ input: true, blockHash: true, blockNumber: true, transactionIndex: true }),
  ),
})

const [TRANSFER] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' })
const UNKNOWN: BalanceMovement = { transactionHash: null, counterparty: null, transactions: [] }

/**
 * The transaction and the other account behind each change of a balance, in the given order; null where
 * several transactions or accounts caused the change, or where transfers do not add up to it: coins that a
 * contract sent have no separate transaction, and some tokens change balances without an event.
 *
 * @param span the blocks after `after`, up to `upTo`
 * @throws AppError upstream `dependency_unavailable`
 */
export async function readMovements(
  { endpoints, logs }: { readonly endpoints: Endpoints; readonly logs: LogReader },
  changes: readonly ChangedBalance[],
  { after, upTo }: { readonly after: number; readonly upTo: number },
  signal?: AbortSignal,
): Promise<readonly BalanceMovement[]> {
  if (upTo - after > MOVEMENT_BLOCKS_MAX) return changes.map(() => UNKNOWN)
  const tokens = changes.flatMap(({ asset }) => (asset === 'FLR' ? [] : [asset]))
  const holders = changes.flatMap(({ address, asset }) => (asset === 'FLR' ? [] : [address]))
  const transfers = await endpoints.ask(async (client) => {
    await requireBlock(client, upTo)
    const allTransfers: Transfer[] = []
    if (tokens.length > 0) {
      allTransfers.push(
        ...(await readTokenTransfers({ client, logs }, { tokens, holders, after, upTo })),
      )
    }
    if (tokens.length < changes.length) {
      for (let number = after + 1; number <= upTo; number += 1) {
        allTransfers.push(...(await readCoinTransfers(client, number)))
      }
    }
    return allTransfers
  }, signal)
  return changes.map((change) => explain(change, transfers))
}

/** Reads the transfers of tokens to or from holders, each once. */
async function readTokenTransfers(
  { client, logs }: { readonly client: RpcClient; readonly logs: LogReader },
  of: {
    readonly tokens: readonly Address[]
    readonly holders: readonly Address[]
    readonly after: number
    readonly upTo: number
  },
): Promise<readonly Transfer[]> {
  const address = [...new Set(of.tokens)]
  const topics = [...new Set(of.holders)].map((holder): Hex => pad(holder))
  const tokenTransfers = new Map<string, Transfer>()
  for (const places of [
    [TRANSFER, topics],
    [TRANSFER, null, topics],
  ] as const) {
    for (let next = of.after + 1; next <= of.upTo; ) {
      const step = await logs.read(client, { address, topics: places }, next, of.upTo)
      for (const { blockNumber, logIndex, transactionHash: hash, ...log } of step.logs) {
        const [topic, from, to] = log.topics
        const units = z.safeDecode(Quantity, log.data)
        if (topic !== TRANSFER || from === undefined || to === undefined || !units.success) continue
        tokenTransfers.set(`${blockNumber} ${logIndex}`, {
          asset: log.address,
          hash,
          from: addressIn(from),
          to: addressIn(to),
          units: units.data,
          place: [Number(blockNumber), Number(logIndex)],
          feeMaxUnits: 0n,
        })
      }
      next = step.upTo + 1
    }
  }
  return [...tokenTransfers.values()]
}

async function readCoinTransfers(client: RpcClient, number: number): Promise<readonly Transfer[]> {
  const answer = await client.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(number), true],
  })
  if (answer === null) throw new EndpointError(`block ${number} is missing`)
  return Block.parse(answer).transactions.map(
    ({ hash, from, to, value, gas, gasPrice, maxFeePerGas }, index) => ({
      asset: 'FLR',
      hash,
      from,
      to,
      units: value,
      place: [number, index],
      feeMaxUnits: gas * (gasPrice ?? maxFeePerGas ?? 0n),
    }),
  )
}

function explain(
  { address, asset, changeUnits }: ChangedBalance,
  all: readonly Transfer[],
): BalanceMovement {
  const isSender = ({ from }: Transfer) => isAddressEqual(from, address)
  const isReceiver = ({ to }: Transfer) => to !== undefined && isAddressEqual(to, address)
  const touching = all.filter(
    (transfer) =>
      (asset === 'FLR' ? transfer.asset === 'FLR' : isToken(transfer.asset, asset)) &&
      (isSender(transfer) || isReceiver(transfer)),
  )
  const net = touching.reduce(
    (sum, transfer) =>
      sum +
      (isReceiver(transfer) ? transfer.units : 0n) -
      (isSender(transfer) ? transfer.units : 0n),
    0n,
  )
  const feesMax = touching.filter(isSender).reduce((sum, { feeMaxUnits }) => sum + feeMaxUnits, 0n)
  const unexplained = net - changeUnits
  if (unexplained < 0n || unexplained > feesMax) return UNKNOWN
  const isSent = changeUnits < 0n
  const moving = touching
    .filter((transfer) => transfer.units > 0n && isSender(transfer) !== isReceiver(transfer))
    .toSorted((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1])
  const causes = moving.filter((transfer) => isSender(transfer) === isSent)
  const otherOf = (transfer: Transfer) =>
    (isSender(transfer) ? transfer.to : transfer.from) ?? ZERO_ADDRESS
  return {
    transactionHash: theOne(causes.map(({ hash }) => hash)),
    counterparty: theOne(causes.map(otherOf)),
    transactions: [...Map.groupBy(moving, ({ hash }) => hash)].map(([hash, transfers]) => ({
      hash,
      units: transfers.reduce(
        (sum, transfer) => sum + (isSender(transfer) ? -transfer.units : transfer.units),
        0n,
      ),
      counterparty: theOne(transfers.map(otherOf)),
    })),
  }
}

function isToken(asset: ChangedBalance['asset'], token: Address): boolean {
  return asset !== 'FLR' && isAddressEqual(asset, token)
}

/** The common value of a list; null for an empty list, for different values, and for the zero address. */
function theOne<Value extends string>(values: readonly Value[]): Value | null {
  const [value, ...others] = new Set(values)
  return value === undefined || others.length > 0 || value === ZERO_ADDRESS ? null : value
}

/** Extracts the address from a topic of 32 bytes. */
function addressIn(topic: Hash): Address {
  return z.decode(Address, `0x${topic.slice(-40)}`)
}
