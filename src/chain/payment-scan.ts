import { numberToHex } from 'viem'
import { z } from 'zod'
import { type Address, Hash } from '#src/kernel/units.ts'
import { readBlock, requireBlock, toBlockRef } from './blocks.ts'
import { mayContain } from './bloom.ts'
import type { BlockRef, Payment, PaymentPlaces } from './chain.ts'
import type { Endpoints, RpcClient } from './endpoints.ts'
import { EndpointError } from './failures.ts'
import { HexData, type Log, type LogReader, readLogsOfBlock } from './logs.ts'
import { forEachAtOnce } from './parallel.ts'
import {
  hasSucceeded,
  nativePayment,
  PAID_TOPIC,
  replaced,
  routerPayment,
  Transaction,
} from './payments.ts'

/** What a scan needs besides its range. */
export interface ScanSource {
  readonly endpoints: Endpoints
  readonly logs: LogReader
}

/** A payment and where its transaction stands in the block. */
interface Found {
  readonly payment: Payment
  readonly transactionIndex: number
}

/** A block with its transactions, of which only possible payments are looked at closely. */
interface FullBlock {
  readonly ref: BlockRef
  readonly logsBloom: `0x${string}`
  readonly transactions: readonly unknown[]
}

const Contents = z.object({ logsBloom: HexData, transactions: z.array(z.unknown()) })
const Recipient = z.object({ to: z.string().nullish(), transactionIndex: z.string() })

/** Blocks with transactions read in one go, so that it ends within an endpoint's time limit. */
const BLOCKS_PER_STEP = 30
const BLOCKS_AT_ONCE = 6

/**
 * Every payment of the blocks from `fromBlock` to `toBlock`, in the order of the chain.
 *
 * Events come by `eth_getLogs`; plain transfers leave none, so blocks are read whole while `payTo` is
 * set. Their bloom filters then tell when an endpoint may have left an event out: all endpoints are
 * asked for that block before it is believed to have none.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint has all of these blocks
 */
export async function scanPayments(
  source: ScanSource,
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
  places: PaymentPlaces,
  signal?: AbortSignal,
): Promise<readonly Payment[]> {
  const found: Found[] = []
  if (places.router === undefined && places.payTo === undefined) return []
  for (let from = fromBlock; from <= toBlock; ) {
    const step = await source.endpoints.ask(
      (client) => readStep(source, client, { from, to: toBlock }, places),
      signal,
    )
    found.push(...step.found)
    for (const block of step.doubtful) found.push(...(await ask(source, block, places, signal)))
    from = step.upTo + 1
  }
  return found.toSorted(byPlace).map(({ payment }) => payment)
}

interface Step {
  readonly found: readonly Found[]
  /** Blocks that may have a payment by the router, though none was given. */
  readonly doubtful: readonly BlockRef[]
  readonly upTo: number
}

async function readStep(
  source: ScanSource,
  client: RpcClient,
  { from, to }: { readonly from: number; readonly to: number },
  places: PaymentPlaces,
): Promise<Step> {
  const { router, payTo } = places
  const last = payTo === undefined ? to : Math.min(to, from + BLOCKS_PER_STEP - 1)
  await requireBlock(client, last)
  const { logs, upTo } =
    router === undefined
      ? { logs: [], upTo: last }
      : await source.logs.read(client, { address: router, topic: PAID_TOPIC }, from, last)
  if (payTo === undefined) {
    const blocks = await readHeads(client, logs)
    return { found: routed(logs, blocks, places), doubtful: [], upTo }
  }
  const blocks = await readFullBlocks(client, from, upTo)
  const refs = new Map(blocks.map(({ ref }) => [ref.number, ref]))
  const native = await transfers(client, blocks, places)
  const doubtful = router === undefined ? [] : doubted(blocks, logs, router)
  return { found: [...routed(logs, refs, places), ...native], doubtful, upTo }
}

/** The router's payments in a block, from the first endpoint that knows of any. */
async function ask(
  { endpoints }: ScanSource,
  block: BlockRef,
  places: PaymentPlaces,
  signal: AbortSignal | undefined,
): Promise<readonly Found[]> {
  const { router } = places
  if (router === undefined) return []
  const logs = await endpoints.askUntil(
    (client) => readLogsOfBlock(client, { address: router, topic: PAID_TOPIC }, block.hash),
    (answer) => answer.length > 0,
    signal,
  )
  return routed(logs, new Map([[block.number, block]]), places)
}

function routed(
  logs: readonly Log[],
  blocks: ReadonlyMap<number, BlockRef>,
  places: PaymentPlaces,
): readonly Found[] {
  return logs.flatMap((log) => {
    const block = blocks.get(Number(log.blockNumber))
    if (block?.hash !== log.blockHash) throw replaced(log.blockNumber)
    const payment = routerPayment(log, block, places)
    return payment ? [{ payment, transactionIndex: Number(log.transactionIndex) }] : []
  })
}

async function transfers(
  client: RpcClient,
  blocks: readonly FullBlock[],
  places: PaymentPlaces,
): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const { ref, transactions } of blocks) {
    for (const answer of transactions) {
      const { to, transactionIndex } = Recipient.parse(answer)
      if (to?.toLowerCase() !== places.payTo?.toLowerCase()) continue
      const payment = nativePayment(Transaction.parse(answer), ref, places)
      if (payment === undefined) continue
      if (!(await hasSucceeded(client, z.decode(Hash, payment.txHash), ref))) continue
      found.push({ payment, transactionIndex: Number(transactionIndex) })
    }
  }
  return found
}

/** Blocks whose head says that the router may have logged a payment, but no event of it is there. */
function doubted(
  blocks: readonly FullBlock[],
  logs: readonly Log[],
  router: Address,
): readonly BlockRef[] {
  const seen = new Set(logs.map(({ blockNumber }) => Number(blockNumber)))
  return blocks
    .filter(({ ref }) => !seen.has(ref.number))
    .filter(({ logsBloom }) => mayContain(logsBloom, router) && mayContain(logsBloom, PAID_TOPIC))
    .map(({ ref }) => ref)
}

async function readHeads(
  client: RpcClient,
  logs: readonly Log[],
): Promise<ReadonlyMap<number, BlockRef>> {
  const heads = new Map<number, BlockRef>()
  const numbers = new Set(logs.map(({ blockNumber }) => Number(blockNumber)))
  await forEachAtOnce([...numbers], BLOCKS_AT_ONCE, async (number) => {
    const block = await readBlock(client, number)
    if (block !== undefined) heads.set(number, block)
  })
  return heads
}

async function readFullBlocks(
  client: RpcClient,
  from: number,
  to: number,
): Promise<readonly FullBlock[]> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const blocks: FullBlock[] = []
  await forEachAtOnce(numbers, BLOCKS_AT_ONCE, async (number) => {
    const answer = await client.request({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(number), true],
    })
    if (answer === null) throw new EndpointError(`block ${number} is not there`)
    blocks.push({ ref: toBlockRef(answer), ...Contents.parse(answer) })
  })
  return blocks.toSorted((one, other) => one.ref.number - other.ref.number)
}

function byPlace(one: Found, other: Found): number {
  return (
    one.payment.block.number - other.payment.block.number ||
    one.transactionIndex - other.transactionIndex ||
    one.payment.logIndex - other.payment.logIndex
  )
}
