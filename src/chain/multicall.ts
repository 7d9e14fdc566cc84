import { type Hex, numberToHex } from 'viem'
import type { Address } from '#src/kernel/units.ts'
import { decodeResults, encodeCalls } from './aggregate.ts'
import type { RpcClient } from './endpoints.ts'
import { EndpointError } from './failures.ts'

/** One call of one contract in a batch. */
export interface ContractCall {
  readonly target: Address
  readonly callData: Hex
}

/** Block, and Multicall3 contract of a batch. */
export interface BatchOptions {
  readonly multicallAddress: Address
  /** State at the end of this block. */
  readonly block: number | 'latest'
}

/**
 * Gas of a whole batch. Bounds the gas that a hostile contract can burn, and the size of its result: memory
 * costs gas quadratically.
 */
const BATCH_GAS = 30_000_000

/**
 * Returns the results of the calls, in order, all read in one request; undefined for a call that failed.
 *
 * @throws viem's error of the request; `isExecutionFailure` tells whether the batch failed as a whole
 * @throws EndpointError when the number of results differs from the number of calls
 */
export async function readBatch(
  client: RpcClient,
  calls: readonly ContractCall[],
  { multicallAddress, block }: BatchOptions,
): Promise<readonly (Hex | undefined)[]> {
  const data = encodeCalls(calls)
  const answer = await client.request({
    method: 'eth_call',
    params: [
      { to: multicallAddress, data, gas: numberToHex(BATCH_GAS) },
      block === 'latest' ? block : numberToHex(block),
    ],
  })
  const results = decodeResults(answer)
  if (results.length !== calls.length) throw new EndpointError('wrong number of results')
  return results.map(({ success, returnData }) => (success ? returnData : undefined))
}

/** The number in the first word; undefined when the data is shorter. */
export function readWord(data: Hex): bigint | undefined {
  const word = /^0x[0-9a-f]{64}/i.exec(data)?.[0]
  return word === undefined ? undefined : BigInt(word)
}
