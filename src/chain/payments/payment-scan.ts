import { AppError } from '#src/kernel/errors.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { ReceiptReader } from '../blocks/receipts.ts'
import type { BlockRef, Payment, PaymentDestinations, PaymentTransactionStatus } from '../chain.ts'
import { EndpointError } from '../endpoints/failures.ts'
import { type Log, Transaction } from '../endpoints/schemas.ts'
import type { LogFilter } from '../events/logs.ts'
import type { SpanBlock } from '../events/span-block.ts'
import { isBlockUnreadable, readSpan, type SpanSource } from '../events/spans.ts'
import { nativePayment, PAID_TOPIC, readTransactionFacts, routerPayment } from './payments.ts'

/** A payment with the index of its transaction in the block. */
interface Found {
  readonly payment: Payment
  readonly transactionIndex: number
}

/** Blocks with their payments, as far as these can be proven. */
interface ScannedBlocks {
  readonly payments: readonly Payment[]
  /** The first block whose payments cannot be proven; undefined if all are. */
  readonly unproven: BlockRef | undefined
}

/**
 * Every payment of the blocks from `fromBlock` to `toBlock`, in the order of the chain.
 *
 * A payment counts if the receipts of its block prove it. Where the bloom filter of a header announces a payment of
 * the router, the receipts decide, whatever endpoints say about events. Plain transfers emit no event, so whole
 * blocks are read if `payTo` is set, and otherwise only their headers.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint has all of these blocks, or the payments of one
 * cannot be proven
 */
export async function scanPayments(
  source: SpanSource,
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
  destinations: PaymentDestinations,
  signal?: AbortSignal,
): Promise<readonly Payment[]> {
  const payments: Payment[] = []
  if (destinations.router === undefined && destinations.payTo === undefined) return []
  for (let from = fromBlock; from <= toBlock; ) {
    const range = { from, to: toBlock }
    let step = await scanStep(source, range, destinations, signal)
    if (step.unproven !== undefined) {
      // A block that is kept may have been replaced meanwhile.
      source.recent.clear()
      step = await scanStep(source, range, destinations, signal)
    }
    if (step.unproven !== undefined) throw unprovenError(step.unproven)
    payments.push(...step.payments)
    from = step.upTo + 1
  }
  return payments
}

function unprovenError({ number }: BlockRef): AppError {
  const cause = new EndpointError(`no endpoint proves the payments of block ${number}`)
  return new AppError('upstream', 'dependency_unavailable', {}, { cause })
}

/**
 * Whether no endpoint returns a block whose payments can be proven, though an endpoint responds and has later blocks.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint responds
 */
export async function isUnproven(
  source: SpanSource,
  number: number,
  destinations: PaymentDestinations,
  signal?: AbortSignal,
): Promise<boolean> {
  if (await isBlockUnreadable(source.endpoints, number, signal)) return true
  const { unproven } = await scanStep(source, { from: number, to: number }, destinations, signal)
  return unproven !== undefined
}

/**
 * State of a transaction and its payments. What one endpoint says of it only names the block, whose receipts prove
 * the payments.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint answers, or the payments cannot be proven
 */
export async function findTransactionPayments(
  source: SpanSource,
  txHash: Hash,
  destinations: PaymentDestinations,
  signal?: AbortSignal,
): Promise<PaymentTransactionStatus> {
  const facts = await source.endpoints.askUntil(
    (client) => readTransactionFacts(client, txHash, destinations),
    ({ status }) => status !== 'unknown',
    signal,
  )
  if (facts.status !== 'mined' || facts.payments.length === 0) return facts
  const { number, hash } = facts.block
  const step = await scanStep(source, { from: number, to: number }, destinations, signal)
  if (step.unproven !== undefined || step.hash !== hash) throw unprovenError(facts.block)
  return { ...facts, payments: step.payments.filter((payment) => payment.txHash === txHash) }
}

async function scanStep(
  source: SpanSource,
  range: { readonly from: number; readonly to: number },
  destinations: PaymentDestinations,
  signal: AbortSignal | undefined,
): Promise<ScannedBlocks & { readonly upTo: number; readonly hash: Hash | undefined }> {
  const { router, payTo } = destinations
  const span = await readSpan(
    source,
    paidBy(router),
    { ...range, withTransactions: payTo !== undefined, isEveryProven: true },
    signal,
  )
  const unproven = span.blocks.find(({ isSure }) => !isSure)?.ref
  const scanned = { upTo: span.upTo, hash: span.blocks[0]?.ref.hash }
  if (unproven !== undefined) return { ...scanned, payments: [], unproven }
  const blocks = new Map(span.blocks.map(({ ref }) => [ref.number, ref]))
  const found = routed(span.logs, blocks, destinations)
  for (const block of span.blocks) {
    const transfers = await provenTransfers(source.receipts, block, destinations, signal)
    if (transfers === undefined) return { ...scanned, payments: [], unproven: block.ref }
    found.push(...transfers)
  }
  const payments = found.toSorted(byPlace).map(({ payment }) => payment)
  return { ...scanned, payments, unproven: undefined }
}

function paidBy(router: Address | undefined): LogFilter {
  return { address: router ?? [], topics: [PAID_TOPIC] }
}

function routed(
  logs: readonly Log[],
  blocks: ReadonlyMap<number, BlockRef>,
  destinations: PaymentDestinations,
): Found[] {
  return logs.flatMap((log) => {
    const block = blocks.get(Number(log.blockNumber))
    const payment = block && routerPayment(log, block, destinations)
    return payment ? [{ payment, transactionIndex: Number(log.transactionIndex) }] : []
  })
}

/** Plain transfers of a block that succeeded; undefined if its receipts cannot be proven. */
async function provenTransfers(
  receipts: ReceiptReader,
  block: SpanBlock,
  destinations: PaymentDestinations,
  signal: AbortSignal | undefined,
): Promise<readonly Found[] | undefined> {
  const { payTo } = destinations
  if (payTo === undefined) return []
  const transfers: Found[] = []
  for (const [transactionIndex, raw] of block.transactions.entries()) {
    if (!isSentTo(raw, payTo)) continue
    const transaction = Transaction.safeParse(raw)
    if (!transaction.success) return undefined
    const payment = nativePayment(transaction.data, block.ref, destinations)
    if (payment !== undefined) transfers.push({ payment, transactionIndex })
  }
  if (transfers.length === 0) return []
  const proven = await receipts.prove(block, signal)
  if (typeof proven !== 'object') return undefined
  return transfers.filter(({ transactionIndex }) => proven[transactionIndex]?.hasSucceeded)
}

/** Not by a schema, because a block has hundreds of transactions. */
function isSentTo(transaction: unknown, address: Address): boolean {
  if (typeof transaction !== 'object' || transaction === null) return false
  if (!('to' in transaction) || typeof transaction.to !== 'string') return false
  return transaction.to.toLowerCase() === address.toLowerCase()
}

function byPlace(a: Found, b: Found): number {
  return (
    a.payment.block.number - b.payment.block.number ||
    a.transactionIndex - b.transactionIndex ||
    a.payment.logIndex - b.payment.logIndex
  )
}
