import { z } from 'zod'
import { type Address, Hash } from '#src/kernel/units.ts'
import { readBlock, requireBlock } from './blocks.ts'
import type { BlockRef, Payment, PaymentDestinations } from './chain.ts'
import type { Endpoints, RpcClient } from './endpoints.ts'
import { forEachConcurrently } from './for-each-concurrently.ts'
import type { Log, LogFilter, LogReader } from './logs.ts'
import {
  blockReplacedError,
  hasSucceeded,
  nativePayment,
  PAID_TOPIC,
  RpcTransaction,
  routerPayment,
} from './payments.ts'
import type { SpanBlock } from './span-block.ts'
import { blocksLackingEvents, readLogsFromAny } from './span-events.ts'
import { BLOCKS_PER_STEP, readBlocks } from './spans.ts'

/** Dependencies of a scan. */
export interface ScanSource {
  readonly endpoints: Endpoints
  readonly logs: LogReader
}

/** A payment with the index of its transaction in the block. */
interface Found {
  readonly payment: Payment
  readonly transactionIndex: number
}

const Recipient = z.object({ to: z.string().nullish(), transactionIndex: z.string() })

const HEADS_AT_ONCE = 6

/**
 * Every payment of the blocks from `fromBlock` to `toBlock`, in the order of the chain.
 *
 * Events are read by `eth_getLogs`. Plain transfers emit no event, so whole blocks are read if `payTo` is
 * set, and otherwise only their headers. The bloom filter of a header shows when an endpoint may have
 * omitted an event: then all endpoints are asked for that block before it counts as having no event.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint has all of these blocks
 */
export async function scanPayments(
  source: ScanSource,
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
  destinations: PaymentDestinations,
  signal?: AbortSignal,
): Promise<readonly Payment[]> {
  const foundPayments: Found[] = []
  if (destinations.router === undefined && destinations.payTo === undefined) return []
  for (let from = fromBlock; from <= toBlock; ) {
    const step = await source.endpoints.ask(
      (client) => readStep(source, client, { from, to: toBlock }, destinations),
      signal,
    )
    foundPayments.push(...step.found)
    const doubtful =
      step.doubtful ?? (await findDoubtful(source, { from, ...step }, destinations, signal))
    for (const block of doubtful)
      foundPayments.push(...(await ask(source, block, destinations, signal)))
    from = step.upTo + 1
  }
  return foundPayments.toSorted(byPlace).map(({ payment }) => payment)
}

interface Step {
  readonly found: readonly Found[]
  readonly logs: readonly Log[]
  /**
   * Blocks that may have a router payment though no endpoint returned one; undefined if no header was read.
   */
  readonly doubtful: readonly BlockRef[] | undefined
  readonly upTo: number
}

async function readStep(
  source: ScanSource,
  client: RpcClient,
  { from, to }: { readonly from: number; readonly to: number },
  destinations: PaymentDestinations,
): Promise<Step> {
  const { router, payTo } = destinations
  const last = payTo === undefined ? to : Math.min(to, from + BLOCKS_PER_STEP - 1)
  await requireBlock(client, last)
  const { logs, upTo } =
    router === undefined
      ? { logs: [], upTo: last }
      : await source.logs.read(client, paidBy(router), from, last)
  if (payTo === undefined) {
    const blocks = await readHeads(client, logs)
    return { found: routed(logs, blocks, destinations), logs, doubtful: undefined, upTo }
  }
  const blocks = await readBlocks(client, { from, to: upTo, withTransactions: true })
  const refs = new Map(blocks.map(({ ref }) => [ref.number, ref]))
  const native = await transfers(client, blocks, destinations)
  const doubtful =
    router === undefined
      ? []
      : blocksLackingEvents(blocks, logs, paidBy(router)).map(({ ref }) => ref)
  return { found: [...routed(logs, refs, destinations), ...native], logs, doubtful, upTo }
}

/** Finds the blocks that, by their headers, may have a router payment though no endpoint returned one. */
async function findDoubtful(
  { endpoints }: ScanSource,
  span: { readonly from: number; readonly upTo: number; readonly logs: readonly Log[] },
  { router }: PaymentDestinations,
  signal: AbortSignal | undefined,
): Promise<readonly BlockRef[]> {
  const doubtful: BlockRef[] = []
  if (router === undefined) return doubtful
  for (let from = span.from; from <= span.upTo; from += BLOCKS_PER_STEP) {
    const to = Math.min(span.upTo, from + BLOCKS_PER_STEP - 1)
    const range = { from, to, withTransactions: false }
    const blocks = await endpoints.ask((client) => readBlocks(client, range), signal)
    for (const { ref } of blocksLackingEvents(blocks, span.logs, paidBy(router))) doubtful.push(ref)
  }
  return doubtful
}

/** The router's payments in a block, from the first endpoint that returns any. */
async function ask(
  { endpoints }: ScanSource,
  block: BlockRef,
  destinations: PaymentDestinations,
  signal: AbortSignal | undefined,
): Promise<readonly Found[]> {
  const { router } = destinations
  if (router === undefined) return []
  const logs = await readLogsFromAny({ endpoints }, paidBy(router), block, signal)
  return routed(logs, new Map([[block.number, block]]), destinations)
}

function paidBy(router: Address): LogFilter {
  return { address: router, topics: [PAID_TOPIC] }
}

function routed(
  logs: readonly Log[],
  blocks: ReadonlyMap<number, BlockRef>,
  destinations: PaymentDestinations,
): readonly Found[] {
  return logs.flatMap((log) => {
    const block = blocks.get(Number(log.blockNumber))
    if (block?.hash !== log.blockHash) throw blockReplacedError(log.blockNumber)
    const payment = routerPayment(log, block, destinations)
    return payment ? [{ payment, transactionIndex: Number(log.transactionIndex) }] : []
  })
}

async function transfers(
  client: RpcClient,
  blocks: readonly SpanBlock[],
  destinations: PaymentDestinations,
): Promise<readonly Found[]> {
  const foundPayments: Found[] = []
  for (const { ref, transactions } of blocks) {
    for (const answer of transactions) {
      const { to, transactionIndex } = Recipient.parse(answer)
      if (to?.toLowerCase() !== destinations.payTo?.toLowerCase()) continue
      const payment = nativePayment(RpcTransaction.parse(answer), ref, destinations)
      if (payment === undefined) continue
      if (!(await hasSucceeded(client, z.decode(Hash, payment.txHash), ref))) continue
      foundPayments.push({ payment, transactionIndex: Number(transactionIndex) })
    }
  }
  return foundPayments
}

async function readHeads(
  client: RpcClient,
  logs: readonly Log[],
): Promise<ReadonlyMap<number, BlockRef>> {
  const heads = new Map<number, BlockRef>()
  const numbers = new Set(logs.map(({ blockNumber }) => Number(blockNumber)))
  await forEachConcurrently([...numbers], HEADS_AT_ONCE, async (number) => {
    const block = await readBlock(client, number)
    if (block !== undefined) heads.set(number, block)
  })
  return heads
}

function byPlace(a: Found, b: Found): number {
  return (
    a.payment.block.number - b.payment.block.number ||
    a.transactionIndex - b.transactionIndex ||
    a.payment.logIndex - b.payment.logIndex
  )
}
