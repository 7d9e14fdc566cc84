import { encodeFunctionData, getAddress, type Hex, slice } from 'viem'
import type { Address } from '#src/kernel/units.ts'
import type { PaymentRouterState } from '../chain.ts'
import { ROUTER_ABI } from '../contracts.ts'
import type { RpcClient } from '../endpoints/endpoints.ts'
import { isExecutionFailure } from '../endpoints/failures.ts'
import { readBatch, readWord } from '../endpoints/multicall.ts'

/** Offset of an address in a word, in bytes. */
const ADDRESS_OFFSET = 12

/**
 * Reads a payment router's state, in one request.
 *
 * @returns undefined when the address is not a router
 */
export async function readRouterState(
  client: RpcClient,
  router: Address,
  tokens: readonly Address[],
  multicallAddress: Address,
): Promise<PaymentRouterState | undefined> {
  const abi = ROUTER_ABI
  const calls = [
    encodeFunctionData({ abi, functionName: 'paused' }),
    encodeFunctionData({ abi, functionName: 'treasury' }),
    ...tokens.map((token) => encodeFunctionData({ abi, functionName: 'allowed', args: [token] })),
  ].map((callData) => ({ target: router, callData }))
  try {
    const answers = await readBatch(client, calls, { multicallAddress, block: 'latest' })
    const [paused, treasury, ...allowed] = answers.map(word)
    if (paused === undefined || treasury === undefined) return undefined
    return {
      paused: isTrue(paused),
      treasury: getAddress(slice(treasury, ADDRESS_OFFSET)),
      allowed: allowed.map((answer) => answer !== undefined && isTrue(answer)),
    }
  } catch (error) {
    if (isExecutionFailure(error)) return undefined
    throw error
  }
}

/** Returns a result of exactly one word; undefined for any other. */
function word(data: Hex | undefined): Hex | undefined {
  return data?.length === 66 ? data : undefined
}

function isTrue(data: Hex): boolean {
  return readWord(data) === 1n
}
