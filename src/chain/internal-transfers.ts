import { isAddressEqual, zeroAddress } from 'viem'
import { z } from 'zod'
import { type Address, Hash } from '#src/kernel/units.ts'
import { readBalanceAt } from './balance-at.ts'
import { type BalanceComparison, type BalanceSpan, OTHER_LOG_INDEX, type Payment } from './chain.ts'
import type { RpcClient } from './endpoints.ts'
import { RpcTransaction } from './payments.ts'
import { Quantity } from './quantity.ts'
import type { SpanBlock } from './span-block.ts'
import { BLOCKS_PER_STEP, readBlocks, type SpanSource } from './spans.ts'

const Receipt = z.object({ status: Quantity, gasUsed: Quantity, effectiveGasPrice: Quantity })

/** A block, with the change of the balance by its own transactions. */
interface Explained {
  readonly block: SpanBlock
  readonly transactions: readonly z.output<typeof RpcTransaction>[]
  readonly units: bigint
}

/**
 * Coins that an address received without a transaction to it: by an internal call of a contract wallet, a
 * multisender or a reward. Such transfers emit no event. They are derived from the balance, which is
 * compared block by block with the transactions to and from the address. A block whose state is pruned is
 * compared together with the blocks after it, in a later range if necessary.
 *
 * A transfer's `txHash` is its transaction if only one transaction of the block can have caused it, else
 * the hash of the block; `handle` and `tag` are null.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint has all of these blocks, or an
 * endpoint refuses to return a balance
 */
export async function findInternalTransfers(
  { endpoints, recent }: Pick<SpanSource, 'endpoints' | 'recent'>,
  holder: Address,
  span: BalanceSpan,
  signal?: AbortSignal,
): Promise<BalanceComparison> {
  const transfers: Payment[] = []
  let known = span.before
  let isAssumed = span.isAssumed === true
  let pending: Explained[] = []
  for (let from = span.from; from <= span.to; from += BLOCKS_PER_STEP) {
    const to = Math.min(span.to, from + BLOCKS_PER_STEP - 1)
    const step = await endpoints.ask(async (client) => {
      const blocks = await readBlocks(client, { from, to, withTransactions: true }, recent)
      const explained: Explained[] = []
      for (const block of blocks) {
        const explanation = await explain(client, holder, block)
        const units = explanation.units + (span.explained?.get(block.ref.number) ?? 0n)
        explained.push({ ...explanation, units })
      }
      const end = to === span.to ? span.after : await readBalanceAt(client, holder, to)
      const balances = new Map<number, bigint | undefined>([[to, end]])
      const isOdd = end !== undefined && end - known !== sum([...pending, ...explained])
      if (isOdd) {
        for (let at = from; at < to; at += 1) {
          balances.set(at, await readBalanceAt(client, holder, at))
        }
      }
      return { explained, balances }
    }, signal)
    for (const explained of step.explained) {
      pending.push(explained)
      const balance = step.balances.get(explained.block.ref.number)
      if (balance === undefined) continue
      const units = balance - known - sum(pending)
      if (units > 0n) transfers.push(toPayment(pending, units, isAssumed ? undefined : holder))
      known = balance
      pending = []
      isAssumed = false
    }
  }
  return {
    transfers,
    balance: known + sum(pending),
    isAssumed: isAssumed || pending.length > 0,
  }
}

function sum(blocks: readonly Explained[]): bigint {
  return blocks.reduce((total, { units }) => total + units, 0n)
}

/** Change of the holder's balance by the transactions to and from it, including fees. */
async function explain(client: RpcClient, holder: Address, block: SpanBlock): Promise<Explained> {
  const transactions = block.transactions.map((transaction) => RpcTransaction.parse(transaction))
  let units = 0n
  for (const { hash, from, to, value } of transactions) {
    const isFrom = isAddressEqual(from, holder)
    const isTo = to !== undefined && isAddressEqual(to, holder)
    if (!isFrom && !(isTo && value > 0n)) continue
    const answer = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    const { status, gasUsed, effectiveGasPrice } = Receipt.parse(answer)
    if (isTo && status !== 0n) units += value
    if (isFrom && status !== 0n) units -= value
    if (isFrom) units -= gasUsed * effectiveGasPrice
  }
  return { block, transactions, units }
}

/**
 * Builds the payment of a difference.
 * @param holder undefined if the coins may have come in earlier blocks; then no transaction is named
 */
function toPayment(
  blocks: readonly Explained[],
  units: bigint,
  holder: Address | undefined,
): Payment {
  const last = blocks.at(-1)
  if (last === undefined) throw new Error('a balance was compared without a block')
  const transaction =
    blocks.length === 1 && holder !== undefined ? findPayingTransaction(last, holder) : undefined
  return {
    way: 'internal',
    txHash: transaction?.hash ?? last.block.ref.hash,
    logIndex: OTHER_LOG_INDEX,
    handle: null,
    tag: null,
    payer: transaction?.from ?? zeroAddress,
    asset: 'FLR',
    amountUnits: units,
    block: last.block.ref,
  }
}

/** The only transaction of a block that has the holder in its data, or the only one at all. */
function findPayingTransaction({ transactions }: Explained, holder: Address) {
  const others = transactions.filter(({ to }) => to === undefined || !isAddressEqual(to, holder))
  const digits = holder.slice(2).toLowerCase()
  const naming = others.filter(({ input }) => input.toLowerCase().includes(digits))
  const [transaction, ...more] = naming.length > 0 ? naming : others
  return more.length === 0 && transaction !== undefined
    ? { hash: z.decode(Hash, transaction.hash), from: transaction.from }
    : undefined
}
