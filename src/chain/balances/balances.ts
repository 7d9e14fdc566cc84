import { getAbiItem, toFunctionSelector } from 'viem'
import { forEachConcurrently } from '#src/kernel/for-each-concurrently.ts'
import type { Address } from '#src/kernel/units.ts'
import type { BalanceQuery, BlockRef } from '../chain.ts'
import { NATIVE_BALANCE_ABI, TOKEN_ABI } from '../contracts.ts'
import type { Endpoints } from '../endpoints/endpoints.ts'
import { isExecutionFailure } from '../endpoints/failures.ts'
import { type ContractCall, encodeAddressCall, readWord } from '../endpoints/multicall.ts'
import type { SharedCalls } from '../endpoints/shared-calls.ts'

/** Dependencies of reading balances. */
export interface BalanceSource {
  readonly endpoints: Endpoints
  readonly multicallAddress: Address
  readonly calls: SharedCalls
}

/** A balance query, with its index among all queries. */
interface Asked extends BalanceQuery {
  readonly place: number
}

// viem would hash the function's name for each call.
const NATIVE_BALANCE = toFunctionSelector(NATIVE_BALANCE_ABI[0])
const TOKEN_BALANCE = toFunctionSelector(getAbiItem({ abi: TOKEN_ABI, name: 'balanceOf' }))
const BATCH_SIZE = 500
const BATCHES_AT_ONCE = 4
/**
 * Maximum number of batches that are repeated because of one token. Anybody can deploy a token that returns
 * balances of some accounts only.
 */
const TRIES_PER_TOKEN = 24

/**
 * Reads balances in the smallest unit at the end of `block`, in the given order; undefined where a contract
 * returned no number.
 *
 * A token that burns all gas makes the other calls of its batch fail too. Failed calls are therefore
 * repeated in batches of one token, so that a bad token affects no other token. A token that needs much gas
 * is queried in smaller batches.
 *
 * @throws AppError upstream `dependency_unavailable`
 */
export async function readBalances(
  source: BalanceSource,
  queries: readonly BalanceQuery[],
  block: BlockRef,
  signal?: AbortSignal,
): Promise<readonly (bigint | undefined)[]> {
  const placedQueries = queries.map((query, place): Asked => ({ ...query, place }))
  const balanceByPlace = new Map<number, bigint>()
  const failed: Asked[] = []
  const read = async (batch: readonly Asked[], onFailure: (query: Asked) => void) => {
    const balances = await readOneBatch(source, batch, block, signal)
    batch.forEach((query, index) => {
      const balance = balances[index]
      if (typeof balance === 'bigint') balanceByPlace.set(query.place, balance)
      else if (balance === 'failed') onFailure(query)
    })
  }

  const native = placedQueries.filter(({ asset }) => asset === 'FLR')
  const tokens = placedQueries.filter(({ asset }) => asset !== 'FLR')
  await forEachConcurrently(
    [...inBatches(native), ...inBatches(tokens)],
    BATCHES_AT_ONCE,
    (batch) => read(batch, (query) => failed.push(query)),
  )
  const apart = [...Map.groupBy(failed, ({ asset }) => asset).values()]
  await forEachConcurrently(apart, BATCHES_AT_ONCE, async (queries) => {
    let left: readonly Asked[] = queries
    let size = BATCH_SIZE
    for (let tries = 0; left.length > 0 && tries < TRIES_PER_TOKEN; tries += 1) {
      const batch = left.slice(0, size)
      const unanswered: Asked[] = []
      await read(batch, (query) => unanswered.push(query))
      const remaining = left.slice(batch.length)
      left = batch.length === 1 ? remaining : [...unanswered, ...remaining]
      if (unanswered.length === 0) continue
      // The number of calls that had enough gas, or half of the batch if none had.
      const answered = batch.length - unanswered.length
      size = answered > 0 ? answered : Math.ceil(batch.length / 2)
    }
  })
  return placedQueries.map(({ place }) => balanceByPlace.get(place))
}

/**
 * Returns for each query the balance, `failed` when the call failed, or `none` when the call returned no
 * number.
 */
function readOneBatch(
  { endpoints, multicallAddress, calls: shared }: BalanceSource,
  batch: readonly Asked[],
  block: BlockRef,
  signal: AbortSignal | undefined,
): Promise<readonly (bigint | 'failed' | 'none')[]> {
  const calls = batch.map((query) => balanceCall(query, multicallAddress))
  return endpoints.ask(async (client) => {
    try {
      const answers = await shared.read(client, calls, { multicallAddress, block: block.number })
      return answers.map((data) => (data === undefined ? 'failed' : (readWord(data) ?? 'none')))
    } catch (error) {
      if (isExecutionFailure(error)) return batch.map(() => 'failed')
      throw error
    }
  }, signal)
}

/** The contract call of one query. */
export function balanceCall(
  { address, asset }: BalanceQuery,
  multicallAddress: Address,
): ContractCall {
  if (asset === 'FLR') {
    return { target: multicallAddress, callData: encodeAddressCall(NATIVE_BALANCE, address) }
  }
  return { target: asset, callData: encodeAddressCall(TOKEN_BALANCE, address) }
}

function inBatches(queries: readonly Asked[]): readonly (readonly Asked[])[] {
  const starts = Array.from({ length: Math.ceil(queries.length / BATCH_SIZE) }, (_, n) => n)
  return starts.map((n) => queries.slice(n * BATCH_SIZE, (n + 1) * BATCH_SIZE))
}
