/** Reads mined transactions for the evidence of alerts. */
import { z } from 'zod'
import type { ChainAccess } from '#src/chain/chain.ts'
import type { RpcClient } from '#src/chain/endpoints.ts'
import { EndpointError } from '#src/chain/failures.ts'
import { Quantity } from '#src/chain/quantity.ts'
import { Address, Hash } from '#src/kernel/units.ts'

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

const Mined = z.object({
  hash: Hash,
  blockNumber: Quantity,
  blockHash: Hash,
  transactionIndex: Quantity,
  from: z.string(),
  to: z.string().nullable(),
  input: z.string().regex(/^0x([0-9a-f]{2})*$/i),
})

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
    const mined = Mined.safeParse(answer)
    if (!mined.success || mined.data.hash.toLowerCase() !== hash.toLowerCase())
      throw new EndpointError(`transaction ${hash} is malformed`)
    const { blockNumber, blockHash, transactionIndex, from, to, input } = mined.data
    return {
      hash,
      block: Number(blockNumber),
      blockHash,
      index: Number(transactionIndex),
      from: z.decode(Address, from),
      to: to === null ? null : z.decode(Address, to),
      input,
    }
  }
  return endpoints.askUntil(read, (found) => found !== undefined, signal)
}
