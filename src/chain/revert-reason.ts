import { decodeErrorResult, type Hex, numberToHex, parseAbi } from 'viem'
import type { Address } from '#src/kernel/units.ts'
import { ROUTER_ABI, TOKEN_ERRORS_ABI } from './contracts.ts'
import type { RpcClient } from './endpoints.ts'
import { isEndpointFailure, rpcErrorOf } from './failures.ts'
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

/**
 * Why a transaction failed: what its contract says when it is called once more in the state of the
 * block before.
 *
 * @returns null when it does not fail there, or the endpoint does not give what the contract said
 */
export async function readRevertReason(
  client: RpcClient,
  { from, to, value, input, gas }: Repeatable,
  blockNumber: number,
): Promise<string | null> {
  if (to === undefined || blockNumber === 0) return null
  const call = { from, to, value: numberToHex(value), data: input, gas: numberToHex(gas) }
  try {
    await client.request({ method: 'eth_call', params: [call, numberToHex(blockNumber - 1)] })
    return null
  } catch (error) {
    if (!isEndpointFailure(error)) throw error
    const { data } = HexData.safeParse(rpcErrorOf(error)?.data)
    return data === undefined ? null : decodeRevertReason(data)
  }
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
