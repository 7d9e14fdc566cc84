import { type Hex, numberToHex } from 'viem'
import { AppError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import type { BalanceQuery } from '../chain.ts'
import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import { isExecutionFailure } from '../endpoints/failures.ts'
import { readBatch, readWord } from '../endpoints/multicall.ts'
import { Quantity } from '../endpoints/schemas.ts'
import { balanceCall } from './balances.ts'
import { readPastState } from './past-state.ts'

/**
 * An address's balance in the smallest unit at the end of a block; undefined if every endpoint reports
 * that the state is pruned.
 *
 * @throws AppError upstream `dependency_unavailable` when an endpoint refuses and no other returns the
 * balance
 */
export async function findBalanceAt(
  endpoints: Endpoints,
  holder: Address,
  block: number,
  signal?: AbortSignal,
): Promise<bigint | undefined> {
  const { found, isSure } = await readPastState(
    endpoints,
    (client) => askBalanceAt(client, holder, block),
    signal,
  )
  if (found === undefined && !isSure) throw new AppError('upstream', 'dependency_unavailable')
  return found
}

/**
 * A balance in the smallest unit at the end of a block of the past: null where the token's contract
 * returned no number, undefined if every endpoint reports that the state is pruned.
 *
 * @throws AppError upstream `dependency_unavailable` when an endpoint refuses and no other returns the
 * balance
 */
export async function findPastBalance(
  source: { readonly endpoints: Endpoints; readonly multicallAddress: Address },
  query: BalanceQuery,
  block: number,
  signal?: AbortSignal,
): Promise<bigint | null | undefined> {
  const { endpoints, multicallAddress } = source
  if (query.asset === 'FLR') return findBalanceAt(endpoints, query.address, block, signal)
  const call = balanceCall(query, multicallAddress)
  const { found, isSure } = await readPastState(
    endpoints,
    (client) => readToken(client, call, { multicallAddress, block }),
    signal,
  )
  if (found === undefined && !isSure) throw new AppError('upstream', 'dependency_unavailable')
  return found
}

async function readToken(
  client: RpcClient,
  call: ReturnType<typeof balanceCall>,
  at: { readonly multicallAddress: Address; readonly block: number },
): Promise<bigint | null> {
  try {
    const [data] = await readBatch(client, [call], at)
    return data === undefined ? null : (readWord(data) ?? null)
  } catch (error) {
    if (isExecutionFailure(error)) return null
    throw error
  }
}

async function askBalanceAt(client: RpcClient, holder: Address, block: number): Promise<bigint> {
  const params: [Address, Hex] = [holder, numberToHex(block)]
  return Quantity.parse(await client.request({ method: 'eth_getBalance', params }))
}
