import { type Hex, numberToHex } from 'viem'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { RpcClient } from './endpoints.ts'
import { isExecutionFailure } from './failures.ts'

/** A question to one contract. */
export interface Call {
  readonly to: Address
  readonly data: Hex
}

/** When a contract is asked, and what the question pays. */
export interface CallOptions {
  /** The state at the end of this block; the newest without it. */
  readonly block?: number | undefined
  /** Paid out of coins that exist for this call alone; 0 without it. */
  readonly value?: bigint
}

/** What a contract answers; undefined when it fails or is not there. */
export async function readCall(
  client: RpcClient,
  { to, data }: Call,
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
