import { isAddressEqual } from 'viem'
import type { Address } from '#src/kernel/units.ts'
import type { RpcClient } from '../endpoints/endpoints.ts'
import { Receipt, Transaction } from '../endpoints/schemas.ts'
import type { SpanBlock } from '../events/span-block.ts'
import { BLOCKS_PER_STEP, readBlocks, type SpanSource } from '../events/spans.ts'

const Cost = Receipt.pick({ status: true, gasUsed: true, effectiveGasPrice: true })

/**
 * Change of an address's balance by the transactions to and from it in these blocks, fees included, in the smallest
 * unit. Coins that a contract sends are not in it.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint has all of these blocks
 */
export async function readOwnTransfers(
  { endpoints, recent }: Pick<SpanSource, 'endpoints' | 'recent'>,
  holder: Address,
  { from, to }: { readonly from: number; readonly to: number },
  signal?: AbortSignal,
): Promise<bigint> {
  let units = 0n
  for (let first = from; first <= to; first += BLOCKS_PER_STEP) {
    const step = { from: first, to: Math.min(to, first + BLOCKS_PER_STEP - 1) }
    units += await endpoints.ask(async (client) => {
      const blocks = await readBlocks(client, { ...step, withTransactions: true }, recent)
      let change = 0n
      for (const block of blocks) change += await changeBy(client, holder, block)
      return change
    }, signal)
  }
  return units
}

async function changeBy(client: RpcClient, holder: Address, block: SpanBlock): Promise<bigint> {
  let units = 0n
  for (const transaction of block.transactions) {
    const { hash, from, to, value } = Transaction.parse(transaction)
    const isFrom = isAddressEqual(from, holder)
    const isTo = to !== undefined && isAddressEqual(to, holder)
    if (!isFrom && !(isTo && value > 0n)) continue
    const answer = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    const { status, gasUsed, effectiveGasPrice } = Cost.parse(answer)
    if (isTo && status !== 0n) units += value
    if (isFrom && status !== 0n) units -= value
    if (isFrom) units -= gasUsed * effectiveGasPrice
  }
  return units
}
