import { numberToHex } from 'viem'
import { z } from 'zod'
import { Hash } from '#src/kernel/units.ts'
import type { BlockRef } from './chain.ts'
import type { RpcClient } from './endpoints.ts'
import { EndpointError } from './failures.ts'
import { Quantity } from './quantity.ts'

/** The last second of the year 9999, which a `Date` and the database can represent. */
const SECONDS_MAX = 253_402_300_799n
const Block = z.object({
  number: Quantity.refine((number) => number <= BigInt(Number.MAX_SAFE_INTEGER)),
  hash: Hash,
  timestamp: Quantity.refine((seconds) => seconds <= SECONDS_MAX),
})

/**
 * The newest block with `confirmations` blocks counted from this endpoint's tip, itself included.
 *
 * Block 0 while the chain is shorter than that. Endpoints may be behind each other, so both reads use this
 * one.
 *
 * @throws EndpointError when the endpoint lacks the block it just counted
 */
export async function readConfirmedBlock(
  client: RpcClient,
  confirmations: number,
): Promise<BlockRef> {
  const tip = z.decode(Quantity, await client.request({ method: 'eth_blockNumber' }))
  const number = confirmedNumber(Number(tip), confirmations)
  const block = await readBlock(client, number)
  if (block === undefined) throw new EndpointError(`block ${number} is not there`)
  return block
}

/** This endpoint's canonical block of that number; undefined when it has none. */
export async function readBlock(client: RpcClient, number: number): Promise<BlockRef | undefined> {
  const block = await client.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(number), false],
  })
  return block === null ? undefined : toBlockRef(block)
}

/**
 * Checks that an endpoint has all blocks up to `number`, because its empty answers for later ones mean
 * nothing.
 *
 * @throws EndpointError when it is behind
 */
export async function requireBlock(client: RpcClient, number: number): Promise<void> {
  const tip = z.decode(Quantity, await client.request({ method: 'eth_blockNumber' }))
  if (tip < BigInt(number)) throw new EndpointError(`is behind: no block ${number} yet`)
}

/** The number of the newest block with that many confirmations, itself included; at least 0. */
export function confirmedNumber(tip: number, confirmations: number): number {
  return Math.max(tip - confirmations + 1, 0)
}

/**
 * Parses a block of a JSON-RPC answer.
 *
 * @throws ZodError
 */
export function toBlockRef(answer: unknown): BlockRef {
  const { number, hash, timestamp } = Block.parse(answer)
  return { number: Number(number), hash, at: new Date(Number(timestamp) * 1000) }
}
