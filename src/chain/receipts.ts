import { concat, type Hex, numberToHex, toRlp } from 'viem'
import { z } from 'zod'
import { AppError } from '#src/kernel/errors.ts'
import { Hash } from '#src/kernel/units.ts'
import type { Endpoints, RpcClient } from './endpoints.ts'
import { EndpointError, rpcErrorOf } from './failures.ts'
import { forEachConcurrently } from './for-each-concurrently.ts'
import { HexData, Log } from './logs.ts'
import { Quantity } from './quantity.ts'
import type { SpanBlock } from './span-block.ts'
import { rlpNumber, trieRootOf } from './trie.ts'

const Receipt = z.object({
  blockHash: Hash,
  type: Quantity.default(0n),
  status: Quantity,
  cumulativeGasUsed: Quantity,
  logsBloom: HexData,
  logs: z.array(Log),
})

/** A receipt of a block, with the place of its transaction. */
export interface ProvenReceipt {
  readonly transactionHash: Hash
  readonly hasSucceeded: boolean
  readonly logs: readonly Log[]
}

/** Maximum number of concurrent requests for single receipts. */
const RECEIPTS_AT_ONCE = 6

/**
 * Reads all receipts of a block from the first endpoint whose receipts match the root in the block's header.
 *
 * @returns `refuted` where endpoints return receipts that do not match; undefined where none returns any
 */
export async function proveReceipts(
  endpoints: Endpoints,
  block: SpanBlock,
  signal: AbortSignal | undefined,
): Promise<readonly ProvenReceipt[] | 'refuted' | undefined> {
  let isRefuted = false
  try {
    const proven = await endpoints.askUntil(
      async (client) => {
        const receipts = await readReceipts(client, block)
        if (receipts === 'refuted') isRefuted = true
        return receipts
      },
      (receipts) => Array.isArray(receipts),
      signal,
    )
    if (typeof proven === 'object') return proven
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'upstream') throw error
  }
  return isRefuted ? 'refuted' : undefined
}

async function readReceipts(
  client: RpcClient,
  { ref, receiptsRoot, transactions }: SpanBlock,
): Promise<readonly ProvenReceipt[] | 'refuted' | undefined> {
  const hashes = transactions.map(hashOfTransaction)
  const answer = (await askForBlock(client, ref.number)) ?? (await askForEach(client, hashes))
  if (answer === undefined) return undefined
  const receipts = z.array(Receipt).parse(answer)
  if (receipts.some(({ blockHash }) => blockHash !== ref.hash)) {
    throw new EndpointError(`block ${ref.number} was replaced`)
  }
  if (receipts.length !== hashes.length || trieRootOf(receipts.map(serialize)) !== receiptsRoot) {
    return 'refuted'
  }
  // The root proves the content of events. Their places follow from the order of the receipts.
  let logIndex = 0n
  return receipts.map(({ status, logs }, place) => {
    const transactionHash = z.decode(Hash, hashes[place] ?? '')
    const position = {
      transactionHash,
      transactionIndex: BigInt(place),
      blockNumber: BigInt(ref.number),
      blockHash: ref.hash,
    }
    return {
      transactionHash,
      hasSucceeded: status !== 0n,
      logs: logs.map((log) => ({ ...log, ...position, logIndex: logIndex++ })),
    }
  })
}

/** Hash of a transaction in a block, whether the block was read with transactions or with their hashes. */
function hashOfTransaction(transaction: unknown): string {
  const hash =
    typeof transaction === 'object' && transaction !== null && 'hash' in transaction
      ? transaction.hash
      : transaction
  return Hash.parse(hash)
}

/** All receipts of a block; undefined where the endpoint lacks the method or these receipts. */
async function askForBlock(client: RpcClient, block: number): Promise<unknown> {
  try {
    const answer = await client.request<{
      Method: 'eth_getBlockReceipts'
      Parameters: [Hex]
      ReturnType: unknown
    }>({ method: 'eth_getBlockReceipts', params: [numberToHex(block)] })
    return answer ?? undefined
  } catch (error) {
    // Not every node has this method.
    if (rpcErrorOf(error) === undefined) throw error
    return undefined
  }
}

/** The receipts of transactions, in their order; undefined if one is missing. */
async function askForEach(
  client: RpcClient,
  hashes: readonly string[],
): Promise<readonly unknown[] | undefined> {
  const receipts: unknown[] = []
  await forEachConcurrently([...hashes.entries()], RECEIPTS_AT_ONCE, async ([place, hash]) => {
    receipts[place] = await client.request({
      method: 'eth_getTransactionReceipt',
      params: [z.decode(Hash, hash)],
    })
  })
  return receipts.includes(null) ? undefined : receipts
}

/**
 * Serialized form of a receipt in its block's trie.
 * @see EIP-2718, EIP-658
 */
function serialize({ type, status, cumulativeGasUsed, logsBloom, logs }: z.output<typeof Receipt>) {
  const entries = logs.map(({ address, topics, data }): [Hex, Hex[], Hex] => [
    address,
    topics,
    data,
  ])
  const body = toRlp([rlpNumber(status), rlpNumber(cumulativeGasUsed), logsBloom, entries])
  return type === 0n ? body : concat([numberToHex(type, { size: 1 }), body])
}
