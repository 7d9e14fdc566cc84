import { isDeepStrictEqual } from 'node:util'
import { decodeFunctionResult, encodeFunctionData, type Hex, size } from 'viem'
import { AppError } from '#src/kernel/errors.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import { type Address, ASSET_DECIMALS_MAX } from '#src/kernel/units.ts'
import type { AssetInfo } from '../chain.ts'
import { TOKEN_ABI } from '../contracts.ts'
import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import { EndpointError, isExecutionFailure } from '../endpoints/failures.ts'
import { readBatch, readWord } from '../endpoints/multicall.ts'
import { decodePaddedText } from '../feeds/padded-text.ts'

/** Maximum number of graphemes of a symbol. */
export const SYMBOL_LENGTH_MAX = 16

/**
 * Symbol and decimals of a token contract, in which all endpoints must agree: amounts are stored by them.
 *
 * @returns undefined when there is no contract, or its symbol and decimals cannot be read
 * @throws AppError upstream `dependency_unavailable`, also when endpoints contradict each other
 */
export async function findTokenInfo(
  endpoints: Endpoints,
  token: Address,
  multicallAddress: Address,
  signal: AbortSignal | undefined,
): Promise<AssetInfo | undefined> {
  const [first, ...others] = await endpoints.askEach(
    async (client) => ({ info: await readTokenInfo(client, token, multicallAddress) }),
    signal,
  )
  if (first !== undefined && others.every(({ info }) => isDeepStrictEqual(info, first.info))) {
    return first.info
  }
  const cause = new EndpointError(`no agreement about the token ${token}`)
  throw new AppError('upstream', 'dependency_unavailable', {}, { cause })
}

/**
 * Reads symbol and decimals of a token contract.
 *
 * @returns undefined when there is no contract, or its symbol and decimals cannot be read
 */
async function readTokenInfo(
  client: RpcClient,
  token: Address,
  multicallAddress: Address,
): Promise<AssetInfo | undefined> {
  const calls = (['symbol', 'decimals'] as const).map((functionName) => ({
    target: token,
    callData: encodeFunctionData({ abi: TOKEN_ABI, functionName }),
  }))
  try {
    const answers = await readBatch(client, calls, { multicallAddress, block: 'latest' })
    return decodeTokenInfo(answers[0], answers[1])
  } catch (error) {
    if (isExecutionFailure(error)) return undefined
    throw error
  }
}

/** Decodes a token's symbol and decimals; undefined when one is missing, the symbol is empty or the decimals are too many. */
export function decodeTokenInfo(
  symbolData: Hex | undefined,
  decimalsData: Hex | undefined,
): AssetInfo | undefined {
  const symbol = symbolData && decodeSymbol(symbolData)
  const decimals = decimalsData && readWord(decimalsData)
  if (symbol === undefined || symbol === '') return undefined
  if (typeof decimals !== 'bigint' || decimals > BigInt(ASSET_DECIMALS_MAX)) return undefined
  return { symbol, decimals: Number(decimals) }
}

/**
 * Decodes a symbol for display, from a `string` or, with older tokens, a `bytes32`; empty if no visible
 * character is left.
 */
export function decodeSymbol(data: Hex): string {
  if (size(data) === 32) return cleanOutsideText(decodePaddedText(data), SYMBOL_LENGTH_MAX)
  try {
    const symbol = decodeFunctionResult({ abi: TOKEN_ABI, functionName: 'symbol', data })
    return cleanOutsideText(symbol, SYMBOL_LENGTH_MAX)
  } catch {
    return ''
  }
}
