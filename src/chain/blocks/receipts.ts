import { concat, type Hex, numberToHex, toRlp } from 'viem'
import { z } from 'zod'
import { AppError } from '#src/kernel/errors.ts'
import { forEachConcurrently } from '#src/kernel/for-each-concurrently.ts'
import { Hash } from '#src/kernel/units.ts'
import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import { EndpointError, rpcErrorOf } from '../endpoints/failures.ts'
import { type Log, Receipt } from '../endpoints/schemas.ts'
import type { SpanBlock } from '../events/span-block.ts'
import type { BlockRef } from './block-ref.ts'
import { rlpNumber, trieRootOf } from './trie.ts'

const ReceiptOfBlock = Receipt.pick({
  ...{
    blockHash: true,
    type: true,
    status: true,
    cumulativeGasUsed: true,
    logsBloom: true,
    logs: true,
  },
})
const ReceiptAlone = Receipt.pick({
  ...{ transactionHash: true, blockHash: true, status: true, gasUsed: true },
})

/** What a transaction did, according to its receipt. */
export interface TransactionOutcome {
  readonly hasSucceeded: boolean
  readonly gasUsed: bigint
}

/** A receipt of a block, with the place of its transaction. */
export interface ProvenReceipt extends TransactionOutcome {
  readonly logs: readonly Log[]
}

/** What the root in a header proves of a receipt: not the hash of its transaction. */
interface ReceiptContent extends TransactionOutcome {
  readonly logs: readonly Pick<Log, 'address' | 'topics' | 'data'>[]
}

/** Reads receipts. The readers of a process share those of the newest blocks that were proven. */
export interface ReceiptReader {
  /**
   * All receipts of a block, from the first endpoint whose receipts match the root in the block's header.
   *
   * @returns `refuted` where endpoints return receipts that do not match; undefined where none returns any
   */
  prove(
    block: SpanBlock,
    signal: AbortSignal | undefined,
  ): Promise<readonly ProvenReceipt[] | 'refuted' | undefined>
  /**
   * Outcomes of some transactions of a block: proven if all its receipts can be had in one request, and otherwise each
   * from an endpoint that has it.
   *
   * @throws AppError upstream `dependency_unavailable` when no endpoint has one of them
   */
  outcomes(
    hashes: readonly Hash[],
    block: SpanBlock,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<Hash, TransactionOutcome>>
}

/** Maximum number of concurrent requests for single receipts. */
const RECEIPTS_AT_ONCE = 6
/** Maximum number of proven receipts that are kept, of all blocks together. */
const KEPT_MAX = 5000
/** Blocks for which an endpoint that refused `eth_getBlockReceipts` is not asked for it again. */
const BLOCKS_WITHOUT_METHOD = 100

/** Creates a reader without receipts. Long because both ways share what is proven, and what endpoints lack. */
export function createReceiptReader(endpoints: Endpoints): ReceiptReader {
  /** By the hash of the block, the oldest first. */
  const proven = new Map<Hash, readonly ReceiptContent[]>()
  /** Blocks for which endpoints that refused the method are not asked for it, by URL. */
  const skips = new Map<string, number>()

  function keep(block: Hash, receipts: readonly ReceiptContent[]): void {
    proven.set(block, receipts)
    let count = [...proven.values()].reduce((sum, { length }) => sum + length, 0)
    for (const [oldest, { length }] of proven) {
      if (count <= KEPT_MAX || oldest === block) return
      proven.delete(oldest)
      count -= length
    }
  }

  /** All receipts of a block; undefined where the endpoint lacks the method or these receipts. */
  async function askForBlock(client: RpcClient, block: number): Promise<unknown> {
    const url = client.transport.url ?? ''
    const left = skips.get(url) ?? 0
    if (left > 0) {
      skips.set(url, left - 1)
      return undefined
    }
    try {
      const answer = await client.request<{
        Method: 'eth_getBlockReceipts'
        Parameters: [Hex]
        ReturnType: unknown
      }>({ method: 'eth_getBlockReceipts', params: [numberToHex(block)] })
      return answer ?? undefined
    } catch (error) {
      if (rpcErrorOf(error) === undefined) throw error
      // Not every node has this method.
      skips.set(url, BLOCKS_WITHOUT_METHOD)
      return undefined
    }
  }

  /** Reads a block's receipts with `read` from endpoint after endpoint, until they match the block's header. */
  async function proveWith(
    read: (client: RpcClient, hashes: readonly Hash[]) => Promise<unknown>,
    block: SpanBlock,
    signal: AbortSignal | undefined,
  ): Promise<readonly ReceiptContent[] | 'refuted' | undefined> {
    const known = proven.get(block.ref.hash)
    // The list of transactions is this caller's, and may be a lie where the kept receipts are not.
    if (known !== undefined) return known.length === block.transactions.length ? known : 'refuted'
    const hashes = block.transactions.map(hashOfTransaction)
    let isRefuted = false
    try {
      const found = await endpoints.askUntil(
        async (client) => {
          const receipts = provenBy(await read(client, hashes), block)
          if (receipts === 'refuted') isRefuted = true
          return receipts
        },
        (receipts) => typeof receipts === 'object',
        signal,
      )
      if (typeof found === 'object') {
        keep(block.ref.hash, found)
        return found
      }
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'upstream') throw error
    }
    return isRefuted ? 'refuted' : undefined
  }

  return {
    async prove(block, signal) {
      const all = await proveWith(
        async (client, hashes) =>
          (await askForBlock(client, block.ref.number)) ?? (await askForEach(client, hashes)),
        block,
        signal,
      )
      return typeof all === 'object' ? place(all, block) : all
    },
    async outcomes(hashes, block, signal) {
      const wanted = new Set(hashes)
      const all =
        wanted.size > 1 || proven.has(block.ref.hash)
          ? await proveWith((client) => askForBlock(client, block.ref.number), block, signal)
          : undefined
      const found = new Map<Hash, TransactionOutcome>()
      if (typeof all === 'object') {
        for (const [index, receipt] of all.entries()) {
          const hash = hashOfTransaction(block.transactions[index])
          if (wanted.delete(hash)) found.set(hash, receipt)
        }
      }
      const apart = [...wanted].map((hash) =>
        endpoints.ask(async (client) => {
          const receipt = await readOutcome(client, hash, block.ref)
          return [hash, receipt] as const
        }, signal),
      )
      return new Map([...found, ...(await Promise.all(apart))])
    },
  }
}

/** The outcome of one transaction, as the endpoint says. */
async function readOutcome(
  client: RpcClient,
  hash: Hash,
  ref: BlockRef,
): Promise<TransactionOutcome> {
  const answer = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  if (answer === null) throw new EndpointError(`the receipt of ${hash} is missing`)
  const { blockHash, transactionHash, status, gasUsed } = ReceiptAlone.parse(answer)
  if (transactionHash !== hash) throw new EndpointError(`the receipt of ${hash} is of another`)
  if (blockHash !== ref.hash) throw new EndpointError(`block ${ref.number} was replaced`)
  return { hasSucceeded: status !== 0n, gasUsed }
}

/** Parses all receipts of a block, and compares them with the root in its header. */
function provenBy(
  answer: unknown,
  { ref, receiptsRoot, transactions }: SpanBlock,
): readonly ReceiptContent[] | 'refuted' | undefined {
  if (answer === undefined) return undefined
  const receipts = z.array(ReceiptOfBlock).parse(answer)
  if (receipts.some(({ blockHash }) => blockHash !== ref.hash)) {
    throw new EndpointError(`block ${ref.number} was replaced`)
  }
  const isWhole = receipts.length === transactions.length
  if (!isWhole || trieRootOf(receipts.map(serialize)) !== receiptsRoot) return 'refuted'
  let gasBefore = 0n
  return receipts.map(({ status, cumulativeGasUsed, logs }) => {
    const gasUsed = cumulativeGasUsed - gasBefore
    gasBefore = cumulativeGasUsed
    return {
      hasSucceeded: status !== 0n,
      gasUsed,
      logs: logs.map(({ address, topics, data }) => ({ address, topics, data })),
    }
  })
}

/** Receipts with the places of their events, which follow from the order in the block. */
function place(
  receipts: readonly ReceiptContent[],
  { ref, transactions }: SpanBlock,
): readonly ProvenReceipt[] {
  let logIndex = 0n
  return receipts.map((receipt, index) => {
    const position = {
      transactionHash: hashOfTransaction(transactions[index]),
      transactionIndex: BigInt(index),
      blockNumber: BigInt(ref.number),
      blockHash: ref.hash,
    }
    const logs = receipt.logs.map((log) => ({ ...log, ...position, logIndex: logIndex++ }))
    return { ...receipt, logs }
  })
}

/** Hash of a transaction in a block, whether the block was read with transactions or with their hashes. */
function hashOfTransaction(transaction: unknown): Hash {
  const hash =
    typeof transaction === 'object' && transaction !== null && 'hash' in transaction
      ? transaction.hash
      : transaction
  return Hash.parse(hash)
}

/** The receipts of transactions, in their order; undefined if one is missing. */
async function askForEach(
  client: RpcClient,
  hashes: readonly Hash[],
): Promise<readonly unknown[] | undefined> {
  const receipts: unknown[] = []
  await forEachConcurrently([...hashes.entries()], RECEIPTS_AT_ONCE, async ([place, hash]) => {
    receipts[place] = await client.request({
      method: 'eth_getTransactionReceipt',
      params: [hash],
    })
  })
  return receipts.includes(null) ? undefined : receipts
}

/**
 * Serialized form of a receipt in its block's trie.
 * @see EIP-2718, EIP-658
 */
function serialize({
  type,
  status,
  cumulativeGasUsed,
  logsBloom,
  logs,
}: z.output<typeof ReceiptOfBlock>) {
  const entries = logs.map(({ address, topics, data }): [Hex, Hex[], Hex] => [
    address,
    topics,
    data,
  ])
  const body = toRlp([rlpNumber(status), rlpNumber(cumulativeGasUsed), logsBloom, entries])
  return type === 0n ? body : concat([numberToHex(type, { size: 1 }), body])
}
