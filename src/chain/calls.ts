import { type Hex, numberToHex } from 'viem'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { RpcClient } from './endpoints.ts'
import { isExecutionFailure } from './failures.ts'

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
