import {
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  multicall3Abi,
  numberToHex,
} from 'viem'
import type { Address } from '#src/kernel/units.ts'
import type { RpcClient } from './endpoints.ts'
import { EndpointError } from './failures.ts'

/** One read of one contract. */
export interface ContractCall {
  readonly target: Address
  readonly callData: Hex
}

/** When and through which contract a batch is read. */
export interface BatchOptions {
  readonly multicallAddress: Address
  /** The state at the end of this block. */
  readonly block: number | 'latest'
}

/**
 * Gas for a whole batch. Bounds what a hostile contract can burn, and the size of what it can answer:
 * memory costs gas quadratically.
 */
const BATCH_GAS = 30_000_000

/**
 * What each call returned, in order, all read in one request; undefined for a call that failed.
 *
 * @throws viem's error of the request; `isExecutionFailure` tells when the batch failed as a whole
 * @throws EndpointError when the answer has not one result per call
 */
export async function readBatch(
  client: RpcClient,
  calls: readonly ContractCall[],
  { multicallAddress, block }: BatchOptions,
): Promise<readonly (Hex | undefined)[]> {
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [calls.map((call) => ({ ...call, allowFailure: true }))],
  })
  const answer = await client.request({
    method: 'eth_call',
    params: [
      { to: multicallAddress, data, gas: numberToHex(BATCH_GAS) },
      block === 'latest' ? block : numberToHex(block),
    ],
  })
  const results = decodeFunctionResult({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    data: answer,
  })
  if (results.length !== calls.length) throw new EndpointError('answer of another length')
  return results.map(({ success, returnData }) => (success ? returnData : undefined))
}

/** The number in the first word; undefined when there is none. */
export function readWord(data: Hex): bigint | undefined {
  const word = /^0x[0-9a-f]{64}/i.exec(data)?.[0]
  return word === undefined ? undefined : BigInt(word)
}
