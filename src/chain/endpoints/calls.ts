/** Calls of view functions: one by one, or typed, many in one request. */
import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  numberToHex,
} from 'viem'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { RpcClient } from './endpoints.ts'
import { isExecutionFailure } from './failures.ts'
import { readBatch } from './multicall.ts'

/** A call of one contract. */
export interface ViewCall {
  readonly to: Address
  readonly data: Hex
}

/** Block and value of a call. */
export interface CallOptions {
  /** Calls in the state at the end of this block; by default of the newest block. */
  readonly block?: number | undefined
  /** Coins sent with the call, 0 by default. The caller need not own them. */
  readonly value?: bigint
}

/** Calls a contract; returns undefined when the call reverts or the contract does not exist. */
export async function readCall(
  client: RpcClient,
  { to, data }: ViewCall,
  { block, value = 0n }: CallOptions = {},
): Promise<Hex | undefined> {
  const at = block === undefined ? 'latest' : numberToHex(block)
  const balance = { [ZERO_ADDRESS]: { balance: numberToHex(value) } }
  const paid = { from: ZERO_ADDRESS, to, data, value: numberToHex(value) }
  try {
    const answer = await client.request({
      method: 'eth_call',
      params: value === 0n ? [{ to, data }, at] : [paid, at, balance],
    })
    return answer === '0x' ? undefined : answer
  } catch (error) {
    if (isExecutionFailure(error)) return undefined
    throw error
  }
}

/** A call of a contract, with the decoder of its result. */
export interface ContractView<T> {
  readonly callData: Hex
  /** Decodes a result; undefined if the result is missing or malformed. */
  of(answer: Hex | undefined): T | undefined
}

/** Builds a view from a view function and its arguments. */
export function contractView<
  const A extends Abi,
  Name extends ContractFunctionName<A, 'view'>,
  const Args extends ContractFunctionArgs<A, 'view', Name>,
>(
  abi: A,
  functionName: Name,
  args: Args,
): ContractView<ContractFunctionReturnType<A, 'view', Name, Args>> {
  // Casts, because the compiler cannot infer these types while the function is a type parameter. They are checked
  // where `contractView` is called.
  const call = { abi: abi as Abi, functionName: functionName as string, args: args as unknown[] }
  return {
    callData: encodeFunctionData(call),
    of: (data) => {
      if (data === undefined || data === '0x') return undefined
      try {
        return decodeFunctionResult({ ...call, data }) as never
      } catch {
        return undefined
      }
    },
  }
}

/**
 * Calls many views of many contracts in the state after a block, in one request. Returns the undecoded results;
 * undefined where the contract is unknown or the call failed.
 */
export async function readViews(
  client: RpcClient,
  multicallAddress: Address,
  questions: readonly (readonly [Address | undefined, ContractView<unknown>])[],
  block: number | 'latest',
): Promise<readonly (Hex | undefined)[]> {
  const calls = questions.flatMap(([target, { callData }]) =>
    target === undefined ? [] : [{ target, callData }],
  )
  const answers =
    calls.length === 0 ? [] : await readBatch(client, calls, { multicallAddress, block })
  let next = 0
  return questions.map(([target]) => {
    if (target === undefined) return undefined
    next += 1
    return answers[next - 1]
  })
}
