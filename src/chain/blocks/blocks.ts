import { numberToHex } from 'viem'
import { z } from 'zod'
import type { Hash } from '#src/kernel/units.ts'
import type { RpcClient } from '../endpoints/endpoints.ts'
import { EndpointError, NotYetError } from '../endpoints/failures.ts'
import * as schemas from '../endpoints/schemas.ts'
import type { BlockRef } from './block-ref.ts'

const Ref = schemas.Header.pick({ number: true, hash: true, timestamp: true })
const Parent = schemas.Header.pick({ parentHash: true })

/** A block with the hash of its parent. */
export interface Header extends BlockRef {
  readonly parentHash: Hash
}

/**
 * Reads the newest block of an endpoint, or the one with a number.
 *
 * @param withTransactions whether the answer contains whole transactions, or their hashes
 * @returns its header, and the whole answer
 * @throws EndpointError when the endpoint has no block, NotYetError when it has none with that number
 */
export async function readHeader(
  client: RpcClient,
  block: number | 'latest',
  withTransactions: boolean,
): Promise<{ readonly header: Header; readonly answer: unknown }> {
  const answer = await client.request({
    method: 'eth_getBlockByNumber',
    params: [block === 'latest' ? block : numberToHex(block), withTransactions],
  })
  if (answer === null && block === 'latest') throw new EndpointError('the newest block is missing')
  if (answer === null) throw new NotYetError(`block ${block} is missing`)
  return { header: { ...toBlockRef(answer), ...Parent.parse(answer) }, answer }
}

/**
 * Most blocks that a new head may be ahead of the newest known one: so many, and so many more for each second between
 * their times.
 */
const AHEAD_MAX = { blocks: 10_000, perSecond: 100 }

/** Whether two blocks cannot be of one chain: a later block is not earlier, and a child names its parent. */
export function contradicts(one: Header, other: Header): boolean {
  const [first, last] = one.number <= other.number ? [one, other] : [other, one]
  const blocks = last.number - first.number
  const seconds = (last.at.getTime() - first.at.getTime()) / 1000
  if (blocks === 0) return last.hash !== first.hash
  if (blocks === 1 && last.parentHash !== first.hash) return true
  return seconds < 0 || blocks > AHEAD_MAX.blocks + AHEAD_MAX.perSecond * seconds
}

/**
 * Reads the block with this number on the endpoint's canonical chain; undefined when the endpoint has no
 * such block.
 */
export async function readBlock(client: RpcClient, number: number): Promise<BlockRef | undefined> {
  const block = await requestBlock(client, number)
  return block === null ? undefined : toBlockRef(block)
}

function requestBlock(client: RpcClient, number: number) {
  return client.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(number), false],
  })
}

/**
 * Checks that an endpoint has all blocks up to `number`. An endpoint that is behind returns empty results
 * for blocks that it does not have; these must not be read as "no events".
 *
 * @throws EndpointError when the endpoint is behind
 */
export async function requireBlock(client: RpcClient, number: number): Promise<void> {
  const tip = z.decode(schemas.Quantity, await client.request({ method: 'eth_blockNumber' }))
  if (tip < BigInt(number))
    throw new NotYetError(`endpoint is behind: it has no block ${number} yet`)
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
  const { number, hash, timestamp } = Ref.parse(answer)
  return { number: Number(number), hash, at: new Date(Number(timestamp) * 1000) }
}
