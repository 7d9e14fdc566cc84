import { type Hex, numberToHex } from 'viem'
import { AppError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import type { Endpoints, RpcClient } from './endpoints.ts'
import { isPruned } from './failures.ts'
import { readPastState } from './past-state.ts'
import { Quantity } from './quantity.ts'

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

/** Reads a balance; undefined if the endpoint reports that the state is pruned. */
export async function readBalanceAt(
  client: RpcClient,
  holder: Address,
  block: number,
): Promise<bigint | undefined> {
  try {
    return await askBalanceAt(client, holder, block)
  } catch (error) {
    if (isPruned(error)) return undefined
    throw error
  }
}

async function askBalanceAt(client: RpcClient, holder: Address, block: number): Promise<bigint> {
  const params: [Address, Hex] = [holder, numberToHex(block)]
  return Quantity.parse(await client.request({ method: 'eth_getBalance', params }))
}
