import { concat, type Hex, numberToHex, toRlp } from 'viem'
import { z } from 'zod'
import type { Hash } from '#src/kernel/units.ts'
import type { BlockRef } from './chain.ts'
import type { RpcClient } from './endpoints.ts'
import { EndpointError, rpcErrorOf } from './failures.ts'
import { HexData, Log } from './logs.ts'
import { Quantity } from './quantity.ts'
import { rlpNumber, trieRootOf } from './trie.ts'

const Receipt = z.object({
  blockHash: z.string(),
  type: Quantity.default(0n),
  status: Quantity,
  cumulativeGasUsed: Quantity,
  logsBloom: HexData,
  logs: z.array(Log),
})

/** All events of a block, from its receipts. */
export interface ReceiptLogs {
  readonly logs: readonly Log[]
  /** Whether the root in the block's header proves that these are all of its receipts. */
  readonly proof: 'full' | 'none'
}

/**
 * Reads all events of a block, and whether its header proves that none is missing.
 *
 * @param receiptsRoot of the header @returns undefined where the endpoint lacks the method or these
 * receipts
 */
export async function readReceiptLogs(
  client: RpcClient,
  ref: BlockRef,
  receiptsRoot: Hash,
): Promise<ReceiptLogs | undefined> {
  const answer = await askForReceipts(client, ref)
  if (answer === null || answer === undefined) return undefined
  const receipts = z.array(Receipt).parse(answer)
  if (receipts.some(({ blockHash }) => blockHash !== ref.hash)) {
    throw new EndpointError(`block ${ref.number} was replaced`)
  }
  const root = trieRootOf(receipts.map(serialize))
  return {
    logs: receipts.flatMap(({ logs }) => logs),
    proof: root === receiptsRoot ? 'full' : 'none',
  }
}

async function askForReceipts(client: RpcClient, { number: block }: BlockRef): Promise<unknown> {
  try {
    return await client.request<{
      Method: 'eth_getBlockReceipts'
      Parameters: [Hex]
      ReturnType: unknown
    }>({ method: 'eth_getBlockReceipts', params: [numberToHex(block)] })
  } catch (error) {
    // Not every node has this method.
    if (rpcErrorOf(error) === undefined) throw error
    return undefined
  }
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
