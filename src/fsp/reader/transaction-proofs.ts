/** Reads mined transactions for the evidence of alerts. */
import type { ChainAccess } from '#src/chain/chain.ts'
import type { RpcClient } from '#src/chain/endpoints/endpoints.ts'
import { EndpointError } from '#src/chain/endpoints/failures.ts'
import { Transaction } from '#src/chain/endpoints/schemas.ts'
import type { Address, Hash } from '#src/kernel/units.ts'

/** A transaction with its place in the chain. */
export interface LocatedTransaction {
  readonly hash: Hash
  readonly block: number
  readonly blockHash: Hash
  /** Index of the transaction in its block. */
  readonly index: number
  readonly from: Address
  readonly to: Address | null
  /** Calldata as 0x-hex. */
  readonly input: string
}

const Mined = Transaction.omit({ value: true, gas: true })

/**
 * Reads a transaction; undefined if no endpoint that answers has it any more.
 *
 * @throws AppError upstream when no endpoint answers
 */
export async function readTransactionProof(
  { endpoints }: Pick<ChainAccess, 'endpoints'>,
  hash: Hash,
  signal?: AbortSignal,
): Promise<LocatedTransaction | undefined> {
  const read = async (client: RpcClient): Promise<LocatedTransaction | undefined> => {
    const answer: unknown = await client.request({
      method: 'eth_getTransactionByHash',
      params: [hash],
    })
    if (answer === null) return undefined
    const { data } = Mined.safeParse(answer)
    if (data?.hash !== hash) throw new EndpointError(`transaction ${hash} is malformed`)
    const { blockNumber, blockHash, transactionIndex, from, to, input } = data
    if (blockHash == null || blockNumber == null || transactionIndex == null)
      throw new EndpointError(`transaction ${hash} has no place in a block`)
    return {
      hash,
      block: Number(blockNumber),
      blockHash,
      index: Number(transactionIndex),
      from,
      to: to ?? null,
      input,
    }
  }
  return endpoints.askUntil(read, (found) => found !== undefined, signal)
}
