import { decodeErrorResult, type Hex, numberToHex, parseAbi, size, slice } from 'viem'
import type { Address } from '#src/kernel/units.ts'
import { ROUTER_ABI, TOKEN_ERRORS_ABI } from './contracts.ts'
import type { RpcClient } from './endpoints.ts'
import { isEndpointFailure, isExecutionFailure, rpcErrorOf } from './failures.ts'
import { HexData } from './logs.ts'

/** A transaction, enough to make it again. */
export interface Repeatable {
  readonly from: Address
  readonly to: Address | undefined
  readonly value: bigint
  readonly input: Hex
  readonly gas: bigint
}

/** Most characters of what a contract says; anybody can deploy one that says anything. */
const REASON_LENGTH_MAX = 120
const BUILT_IN = parseAbi(['error Error(string reason)', 'error Panic(uint256 code)'])
const KNOWN_ERRORS = [
  ...BUILT_IN,
  ...ROUTER_ABI.filter((entry) => entry.type === 'error'),
  ...TOKEN_ERRORS_ABI,
]

/** What a transaction did when it was made once more in the state of the block before. */
export interface Replay {
  /** `unknown`: the endpoint does not give what the contract said, or has not this state any more. */
  readonly outcome: 'failed' | 'succeeded' | 'unknown'
  /** What its contract said; the selector of an error that has no name here; null where it said nothing. */
  readonly reason: string | null
}

/** Makes a transaction once more, in the state of the block before its own. */
export async function replay(
  client: RpcClient,
  { from, to, value, input, gas }: Repeatable,
  blockNumber: number,
): Promise<Replay> {
  if (to === undefined || blockNumber === 0) return { outcome: 'unknown', reason: null }
  const call = { from, to, value: numberToHex(value), data: input, gas: numberToHex(gas) }
  try {
    await client.request({ method: 'eth_call', params: [call, numberToHex(blockNumber - 1)] })
    return { outcome: 'succeeded', reason: null }
  } catch (error) {
    if (!isEndpointFailure(error)) throw error
    if (!isExecutionFailure(error)) return { outcome: 'unknown', reason: null }
    const { data } = HexData.safeParse(rpcErrorOf(error)?.data)
    if (data === undefined) return { outcome: 'failed', reason: null }
    return { outcome: 'failed', reason: decodeRevertReason(data) ?? selectorOf(data) }
  }
}

function selectorOf(data: Hex): Hex | null {
  return size(data) < 4 ? null : slice(data, 0, 4)
}

/** Why a transaction failed, where that can be learnt and has a name; null otherwise. */
export async function readRevertReason(
  client: RpcClient,
  transaction: Repeatable,
  blockNumber: number,
): Promise<string | null> {
  const { reason } = await replay(client, transaction, blockNumber)
  return reason !== null && /^0x[0-9a-f]{8}$/.test(reason) ? null : reason
}

/** What a contract said when it failed: its text, or the name of a known error; null otherwise. */
export function decodeRevertReason(data: Hex): string | null {
  try {
    const { errorName, args } = decodeErrorResult({ abi: KNOWN_ERRORS, data })
    if (errorName === 'Error') return cleanReason(String(args?.[0] ?? ''))
    return errorName === 'Panic' ? `Panic(${args?.[0]})` : errorName
  } catch {
    // Nothing that we know: no reason, rather than bytes that say nothing to anybody.
    return null
  }
}

/** Printable ASCII only: texts that turn around, hide or break lines say nothing here. */
function cleanReason(text: string): string | null {
  const clean = text.replace(/[^\x20-\x7e]/g, ' ').trim()
  return clean === '' ? null : clean.slice(0, REASON_LENGTH_MAX)
}
