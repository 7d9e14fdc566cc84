import { numberToHex } from 'viem'
import { z } from 'zod'
import { Hash } from '#src/kernel/units.ts'
import type { BlockRef } from './chain.ts'
import type { RpcClient } from './endpoints.ts'
import { EndpointError } from './failures.ts'
import { Quantity, SECONDS_MAX } from './quantity.ts'

const Block = z.object({
  number: Quantity.refine((number) => number <= BigInt(Number.MAX_SAFE_INTEGER)),
  hash: Hash,
  timestamp: Quantity.refine((seconds) => seconds <= SECONDS_MAX),
})

/**
 * Reads the newest block that has `confirmations` confirmations at this endpoint; its tip has one
 * confirmation.
 *
 * While the chain is shorter than that, it reads block 0.
 *
 * @param client of one endpoint, because another may be behind
 * @throws EndpointError when the endpoint does not return that block
 */
export async function readConfirmedBlock(
  client: RpcClient,
  confirmations: number,
): Promise<BlockRef> {
  const tip = z.decode(Quantity, await client.request({ method: 'eth_blockNumber' }))
  const number = confirmedBlockNumber(Number(tip), confirmations)
  const block = await readBlock(client, number)
  if (block === undefined) throw new EndpointError(`block ${number} is missing`)
  return block
}

/**
 * Reads the block with this number on the endpoint's canonical chain; undefined when the endpoint has no
 * such block.
 */
export async function readBlock(client: RpcClient, number: number): Promise<BlockRef | undefined> {
  const block = await client.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(number), false],
  })
  return block === null ? undefined : toBlockRef(block)
}

/**
 * Checks that an endpoint has all blocks up to `number`. An endpoint that is behind returns empty results
 * for blocks that it does not have; these must not be read as "no events".
 *
 * @throws EndpointError when the endpoint is behind
 */
export async function requireBlock(client: RpcClient, number: number): Promise<void> {
  const tip = z.decode(Quantity, await client.request({ method: 'eth_blockNumber' }))
  if (tip < BigInt(number))
    throw new EndpointError(`endpoint is behind: it has no block ${number} yet`)
}

/**
 * Number of the newest block with that many confirmations (the tip has one); 0 while the chain is shorter.
 */
export function confirmedBlockNumber(tip: number, confirmations: number): number {
  return Math.max(tip - confirmations + 1, 0)
}

/**
 * Parses a block of a JSON-RPC result.
 *
 * @throws ZodError when the result is not a valid block
 */
export function toBlockRef(answer: unknown): BlockRef {
  const { number, hash, timestamp } = Block.parse(answer)
  return { number: Number(number), hash, at: new Date(Number(timestamp) * 1000) }
}
