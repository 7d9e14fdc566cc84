import { type Hex, numberToHex } from 'viem'
import { z } from 'zod'
import { Hash } from '#src/kernel/units.ts'
import { requireBlock, toBlockRef } from './blocks.ts'
import { mayContain } from './bloom.ts'
import type { BlockRef } from './chain.ts'
import type { Endpoints, RpcClient } from './endpoints.ts'
import { EndpointError } from './failures.ts'
import { HexData, type Log, type LogFilter, type LogReader, readLogsOfBlock } from './logs.ts'
import { forEachAtOnce } from './parallel.ts'

/** What a span is read with. */
export interface SpanSource {
  readonly endpoints: Endpoints
  readonly logs: LogReader
}

/** A block of a span. */
export interface SpanBlock {
  readonly ref: BlockRef
  readonly logsBloom: Hex
  /** As JSON-RPC answers them, in their order; only their hashes in a span without transactions. */
  readonly transactions: readonly unknown[]
}

/** Blocks of the chain without a gap, and their events. */
export interface Span {
  readonly blocks: readonly SpanBlock[]
  /** In the order of the chain. */
  readonly logs: readonly Log[]
  /** The last block it holds: as many as one step may have. */
  readonly upTo: number
}

/** Blocks read in one go, so that it ends within an endpoint's time limit. */
export const BLOCKS_PER_STEP = 30
const BLOCKS_AT_ONCE = 6

const Contents = z.object({
  logsBloom: HexData,
  parentHash: Hash,
  transactions: z.array(z.unknown()),
  transactionsRoot: Hash,
})

/** The root that the head of a block without transactions has. */
const NO_TRANSACTIONS = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/**
 * The blocks from `from` on, up to `to` and as many as one step may have, with their events: complete, or
 * not at all.
 *
 * An endpoint may leave events out. The head of a block tells by its bloom filter which it may have: where
 * one is missing every endpoint is asked for that block alone.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint has all of these blocks
 */
export async function readSpan(
  source: SpanSource,
  filter: LogFilter,
  range: {
    readonly from: number
    readonly to: number
    /** The block before the first, if it is known: the span must follow it. */
    readonly after?: Hash | undefined
    readonly withTransactions: boolean
  },
  signal?: AbortSignal,
): Promise<Span> {
  const { from, after, withTransactions } = range
  const last = Math.min(range.to, from + BLOCKS_PER_STEP - 1)
  const { blocks, logs } = await source.endpoints.ask(async (client) => {
    await requireBlock(client, last)
    const found = await source.logs.read(client, filter, from, last)
    const blocks = await readBlocks(client, { from, to: found.upTo, withTransactions, after })
    checkPlaces(found.logs, blocks)
    return { blocks, logs: found.logs }
  }, signal)
  const missed: Log[] = []
  for (const { ref } of doubtfulBlocks(blocks, logs, filter)) {
    missed.push(...(await askForLogs(source, filter, ref, signal)))
  }
  const all = [...logs, ...missed]
  return {
    blocks,
    logs: missed.length === 0 ? all : all.toSorted(byPlace),
    upTo: blocks.at(-1)?.ref.number ?? from - 1,
  }
}

/** Every block of a range, whole or with hashes alone, in order and each the parent of the next. */
export async function readBlocks(
  client: RpcClient,
  range: {
    readonly from: number
    readonly to: number
    readonly withTransactions: boolean
    readonly after?: Hash | undefined
  },
): Promise<readonly SpanBlock[]> {
  const { from, to, withTransactions } = range
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const found: (SpanBlock & { readonly parentHash: Hash })[] = []
  await forEachAtOnce(numbers, BLOCKS_AT_ONCE, async (number) => {
    const answer = await client.request({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(number), withTransactions],
    })
    if (answer === null) throw new EndpointError(`block ${number} is not there`)
    const contents = Contents.parse(answer)
    if ((contents.transactions.length === 0) !== (contents.transactionsRoot === NO_TRANSACTIONS)) {
      throw new EndpointError(`block ${number} is there without its transactions`)
    }
    found.push({ ref: toBlockRef(answer), ...contents })
  })
  const blocks = found.toSorted((one, other) => one.ref.number - other.ref.number)
  let before = range.after
  for (const { ref, parentHash } of blocks) {
    if (before !== undefined && parentHash !== before) {
      throw new EndpointError(`block ${ref.number} does not follow the one before it`)
    }
    before = ref.hash
  }
  return blocks
}

/** Blocks whose head says that they may have such an event, of which none is there. */
export function doubtfulBlocks(
  blocks: readonly SpanBlock[],
  logs: readonly Log[],
  { address, topics }: LogFilter,
): readonly SpanBlock[] {
  const seen = new Set(logs.map(({ blockNumber }) => Number(blockNumber)))
  const places = [address, ...topics].flatMap((choice) =>
    choice === null ? [] : [typeof choice === 'string' ? [choice] : choice],
  )
  return blocks.filter(
    ({ ref, logsBloom }) =>
      !seen.has(ref.number) &&
      places.every((choice) => choice.some((value) => mayContain(logsBloom, value))),
  )
}

/** The events of one block, from the first endpoint that knows of any. */
export function askForLogs(
  { endpoints }: Pick<SpanSource, 'endpoints'>,
  filter: LogFilter,
  block: BlockRef,
  signal: AbortSignal | undefined,
): Promise<readonly Log[]> {
  return endpoints.askUntil(
    (client) => readLogsOfBlock(client, filter, block.hash),
    (answer) => answer.length > 0,
    signal,
  )
}

function checkPlaces(logs: readonly Log[], blocks: readonly SpanBlock[]): void {
  const hashes = new Map(blocks.map(({ ref }) => [ref.number, ref.hash]))
  const stray = logs.find((log) => hashes.get(Number(log.blockNumber)) !== log.blockHash)
  if (stray !== undefined) throw new EndpointError(`block ${stray.blockNumber} was replaced`)
}

function byPlace(one: Log, other: Log): number {
  return Number(one.blockNumber - other.blockNumber) || Number(one.logIndex - other.logIndex)
}
