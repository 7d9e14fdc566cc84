import { decodeErrorResult, type Hex, numberToHex, parseAbi, size, slice } from 'viem'
import type { Address } from '#src/kernel/units.ts'
import { ROUTER_ABI, TOKEN_ERRORS_ABI } from '../contracts.ts'
import type { RpcClient } from '../endpoints/endpoints.ts'
import { isEndpointFailure, isExecutionFailure, rpcErrorOf } from '../endpoints/failures.ts'
import { HexData } from '../endpoints/schemas.ts'

/** The fields of a transaction that a replay needs. */
export interface ReplayInput {
  readonly from: Address
  readonly to: Address | undefined
  readonly value: bigint
  readonly input: Hex
  readonly gas: bigint
}

/** Maximum length of a revert reason; anybody can deploy a contract that reverts with any text. */
const REASON_LENGTH_MAX = 120
const BUILT_IN = parseAbi(['error Error(string reason)', 'error Panic(uint256 code)'])
const KNOWN_ERRORS = [
  ...BUILT_IN,
  ...ROUTER_ABI.filter((entry) => entry.type === 'error'),
  ...TOKEN_ERRORS_ABI,
]

/** Result of a replay in the state of the previous block. */
export interface ReplayResult {
  /** `unknown`: the endpoint does not return the revert data, or has pruned the state. */
  readonly outcome: 'failed' | 'succeeded' | 'unknown'
  /** Revert reason, or the selector of an unknown error; null if the revert has no data. */
  readonly reason: string | null
}

/** Replays a transaction in the state of the block before the transaction's block. */
export async function replayTransaction(
  client: RpcClient,
  { from, to, value, input, gas }: ReplayInput,
  blockNumber: number,
): Promise<ReplayResult> {
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

/** Revert reason in words: a text or the name of a known error. Null without one, also for a bare selector. */
export async function readRevertReason(
  client: RpcClient,
  transaction: ReplayInput,
  blockNumber: number,
): Promise<string | null> {
  const { reason } = await replayTransaction(client, transaction, blockNumber)
  return reason !== null && /^0x[0-9a-f]{8}$/.test(reason) ? null : reason
}

/** Decodes revert data: its text, or the name of a known error; null otherwise. */
export function decodeRevertReason(data: Hex): string | null {
  try {
    const { errorName, args } = decodeErrorResult({ abi: KNOWN_ERRORS, data })
    if (errorName === 'Error') return cleanReason(String(args?.[0] ?? ''))
    return errorName === 'Panic' ? `Panic(${args?.[0]})` : errorName
  } catch {
    // Unknown data has no reason, since raw bytes explain nothing.
    return null
  }
}

/** Restricts to printable ASCII, because other characters can reverse, hide or break lines. */
function cleanReason(text: string): string | null {
  const clean = text.replace(/[^\x20-\x7e]/g, ' ').trim()
  return clean === '' ? null : clean.slice(0, REASON_LENGTH_MAX)
}
