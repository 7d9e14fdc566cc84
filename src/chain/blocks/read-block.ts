import { numberToHex } from 'viem'
import type { Hash } from '#src/kernel/units.ts'
import type { RpcClient } from '../endpoints/endpoints.ts'
import { EndpointError } from '../endpoints/failures.ts'
import { Block } from '../endpoints/schemas.ts'
import type { SpanBlock } from '../events/span-block.ts'
import { toBlockRef } from './blocks.ts'
import { transactionsRootOf } from './transactions-root.ts'

/** An endpoint's block is not the chain's block at that height; the connection to the endpoint is fine. */
export class BlockError extends EndpointError {}

const Contents = Block.pick({
  ...{ logsBloom: true, parentHash: true, transactions: true, transactionsRoot: true },
  receiptsRoot: true,
})

/** Transactions root of a block without transactions. */
const NO_TRANSACTIONS = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** A block as read from one endpoint. */
export interface ReadBlock extends SpanBlock {
  readonly parentHash: Hash
  /**
   * Whether the root in its header proves that all transactions are present: `none` if it does not match,
   * `unknown` if it cannot be computed.
   */
  readonly proof: 'full' | 'none' | 'unknown'
}

/**
 * Reads a block from one endpoint.
 *
 * @param withTransactions whether it contains whole transactions, or their hashes
 * @throws BlockError when the endpoint returns another block, or one that is no block
 */
export async function readOne(
  client: RpcClient,
  number: number,
  withTransactions: boolean,
): Promise<ReadBlock> {
  const answer = await client.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(number), withTransactions],
  })
  if (answer === null) throw new BlockError(`block ${number} is missing`)
  return toReadBlock(answer, number, withTransactions)
}

/** Parses a block of a JSON-RPC result. */
export function toReadBlock(answer: unknown, number: number, withTransactions: boolean): ReadBlock {
  const contents = Contents.parse(answer)
  const { transactions, transactionsRoot } = contents
  if ((transactions.length === 0) !== (transactionsRoot === NO_TRANSACTIONS)) {
    throw new BlockError(`block ${number} has no list of transactions`)
  }
  const ref = toBlockRef(answer)
  const proof = withTransactions ? proofOf(transactions, transactionsRoot) : 'full'
  return { ref, ...contents, proof, isSure: true }
}

function proofOf(transactions: readonly unknown[], root: Hash): ReadBlock['proof'] {
  const computedRoot = transactionsRootOf(transactions)
  if (computedRoot === undefined) return 'unknown'
  return computedRoot === root ? 'full' : 'none'
}
