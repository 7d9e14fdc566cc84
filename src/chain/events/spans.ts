import { AppError } from '#src/kernel/errors.ts'
import { forEachConcurrently } from '#src/kernel/for-each-concurrently.ts'
import type { Hash } from '#src/kernel/units.ts'
import { readHeader, requireBlock } from '../blocks/blocks.ts'
import { BlockError, type ReadBlock, readOne } from '../blocks/read-block.ts'
import type { ReceiptReader } from '../blocks/receipts.ts'
import type { RecentBlocks } from '../blocks/recent-blocks.ts'
import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import { EndpointError, isEndpointFailure, isRefusal } from '../endpoints/failures.ts'
import type { Log } from '../endpoints/schemas.ts'
import type { LogFilter, LogReader } from './logs.ts'
import type { SpanBlock } from './span-block.ts'
import {
  blocksLackingEvents,
  type EndpointLogs,
  type EventProof,
  resolveEvents,
} from './span-events.ts'

/** Dependencies of reading a span. */
export interface SpanSource {
  readonly endpoints: Endpoints
  readonly logs: LogReader
  readonly recent: RecentBlocks
  readonly receipts: ReceiptReader
}

/** Consecutive blocks of the chain, with their events. */
export interface Span {
  readonly blocks: readonly SpanBlock[]
  /** In the order of the chain. */
  readonly logs: readonly Log[]
  /** Last block that was read, limited by the size of a step. */
  readonly upTo: number
}

/** Blocks read from one endpoint at a time. */
export const BLOCKS_PER_STEP = 30
/** Maximum number of blocks that are read at a time; bounds memory. */
const BLOCKS_AT_ONCE = 120
/**
 * Size of a step at the newest blocks. There the events are requested after the blocks, and only if the bloom filter of
 * a block shows that there may be one; in larger steps they are requested at the same time.
 */
const QUIET_BLOCKS_MAX = 16
/** Maximum number of concurrent requests for blocks to one endpoint in one step. */
const REQUESTS_AT_ONCE = 6

/**
 * Whether no endpoint returns a block, though an endpoint responds and has later blocks. The block is
 * missing, its transactions do not match the root in its header, or an endpoint that returns its newest
 * block returns an error or a malformed result for this block. False when no endpoint responds.
 */
export async function isBlockUnreadable(
  endpoints: Endpoints,
  number: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const answers = await endpoints.askEach(async (client) => {
    await requireBlock(client, number + 1)
    try {
      return (await readOne(client, number, true)).proof !== 'none'
    } catch (error) {
      if (error instanceof BlockError) return false
      if (!isEndpointFailure(error) || isRefusal(error, true)) throw error
      await readHeader(client, 'latest', false)
      return false
    }
  }, signal)
  return answers.length > 0 && !answers.includes(true)
}

/**
 * Reads the blocks from `from` on, up to `to` and limited by the size of a step, each with all its events.
 * If a block is unavailable, the blocks before it are returned.
 *
 * Every block is a separate request, which is sent to another endpoint if the first fails. A missing
 * transaction is detected by the root in the header. Events are requested from all healthy endpoints; where
 * their results differ, or the header indicates further events, the block's receipts decide.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint has all blocks of the step
 */
export async function readSpan(
  source: SpanSource,
  filter: LogFilter,
  range: {
    readonly from: number
    readonly to: number
    /** Hash of the block before the first, if known: the span must follow that block. */
    readonly after?: Hash | undefined
    readonly withTransactions: boolean
  } & EventProof,
  signal?: AbortSignal,
): Promise<Span> {
  const parts =
    (await readApart(source, filter, range, signal)) ??
    (await readTogether(source, filter, range, signal))
  const { blocks, logs } = await resolveEvents(source.receipts, filter, parts, range, signal)
  return {
    blocks,
    logs: logs.toSorted(byPlace),
    upTo: blocks.at(-1)?.ref.number ?? range.from - 1,
  }
}

type Range = Parameters<typeof readSpan>[2]

/**
 * Reads each part from an endpoint that has it; undefined when the parts do not fit together, or a part is
 * unavailable.
 */
async function readApart(
  source: SpanSource,
  filter: LogFilter,
  { from, to, after, withTransactions }: Range,
  signal: AbortSignal | undefined,
): Promise<EndpointLogs | undefined> {
  const last = Math.min(to, from + BLOCKS_AT_ONCE - 1)
  const numbers = Array.from({ length: last - from + 1 }, (_, index) => from + index)
  const reading = Promise.all(
    numbers.map((number) =>
      source.recent
        .get(number, withTransactions, () =>
          readSurely(source.endpoints, number, withTransactions, signal),
        )
        .catch((error) => {
          if (error instanceof AppError && error.kind === 'upstream') return undefined
          throw error
        }),
    ),
  )
  const logs =
    numbers.length <= QUIET_BLOCKS_MAX
      ? reading.then((found) =>
          mayHaveEvents(found, filter) ? readLogs(source, filter, { from, last }, signal) : [[]],
        )
      : readLogs(source, filter, { from, last }, signal)
  const [logsByEndpoint, found] = await Promise.all([logs, reading])
  const missing = found.indexOf(undefined)
  const read = found
    .slice(0, missing === -1 ? undefined : missing)
    .filter((readBlock) => readBlock !== undefined)
  if (logsByEndpoint.length === 0 || read.length === 0) return undefined
  const end = from + read.length - 1
  const within = logsByEndpoint.map((logs) =>
    logs.filter(({ blockNumber }) => Number(blockNumber) <= end),
  )
  try {
    checkParents(read, after)
    checkPlaces(within.flat(), read)
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error
    source.recent.clear()
    return undefined
  }
  return { blocks: read, logsByEndpoint: within }
}

/** Whether a block that could not be read, or one whose bloom filter shows it, may have an event of the filter. */
function mayHaveEvents(blocks: readonly (ReadBlock | undefined)[], filter: LogFilter): boolean {
  const read = blocks.filter((block) => block !== undefined)
  return read.length < blocks.length || blocksLackingEvents(read, [], filter).length > 0
}

/**
 * The events of a range, from every healthy endpoint. An endpoint that is behind may return fewer of them: the bloom
 * filters of the blocks show it.
 */
function readLogs(
  { endpoints, logs: reader }: SpanSource,
  filter: LogFilter,
  { from, last }: { readonly from: number; readonly last: number },
  signal: AbortSignal | undefined,
): Promise<readonly (readonly Log[])[]> {
  return endpoints.askEach(async (client) => {
    const logs: Log[] = []
    for (let next = from; next <= last; ) {
      const step = await reader.read(client, filter, next, last)
      logs.push(...step.logs)
      next = step.upTo + 1
    }
    return logs
  }, signal)
}

/** Reads all parts from one endpoint, because those of several do not fit, as when they are on different forks. */
async function readTogether(
  { endpoints, logs: reader }: SpanSource,
  filter: LogFilter,
  { from, to, after, withTransactions }: Range,
  signal: AbortSignal | undefined,
): Promise<EndpointLogs> {
  const last = Math.min(to, from + BLOCKS_PER_STEP - 1)
  return endpoints.ask(async (client) => {
    const { logs, upTo } = await reader.read(client, filter, from, last)
    const blocks = await readBlocks(client, { from, to: upTo, withTransactions, after })
    checkPlaces(logs, blocks)
    return { blocks, logsByEndpoint: [logs] }
  }, signal)
}

/**
 * Reads a block with all its transactions, from the first endpoint that has them. If no result can be
 * proven complete, and the results differ, the block is uncertain.
 */
async function readSurely(
  endpoints: Endpoints,
  number: number,
  withTransactions: boolean,
  signal: AbortSignal | undefined,
): Promise<ReadBlock> {
  const read = (client: RpcClient) => readOne(client, number, withTransactions)
  try {
    const block = await endpoints.ask(async (client) => {
      const readBlock = await read(client)
      if (readBlock.proof === 'none') throw new EndpointError(`block ${number} lacks transactions`)
      return readBlock
    }, signal)
    if (block.proof === 'full') return block
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'upstream') throw error
    const readings = await endpoints.askEach(read, signal)
    const proven = readings.find(({ proof }) => proof === 'full')
    const fullest = readings.toSorted(
      (readBlock, other) => other.transactions.length - readBlock.transactions.length,
    )
    if (proven !== undefined) return proven
    if (fullest[0] === undefined) throw error
    return { ...fullest[0], isSure: false }
  }
  // The root cannot be computed for some transaction types: then the endpoints must agree.
  const readings = await endpoints.askEach(read, signal)
  const fullest = readings.toSorted(
    (readBlock, other) => other.transactions.length - readBlock.transactions.length,
  )
  if (fullest[0] === undefined) throw new AppError('upstream', 'dependency_unavailable')
  const isSure = readings.every(
    ({ transactions }) => transactions.length === fullest[0]?.transactions.length,
  )
  return { ...fullest[0], isSure }
}

/**
 * Reads every block of a range, whole or with hashes only, in order. Each block must be the parent of the
 * next.
 *
 * @param recent blocks that need no request; without it, all blocks are of this endpoint
 */
export async function readBlocks(
  client: RpcClient,
  range: {
    readonly from: number
    readonly to: number
    readonly withTransactions: boolean
    readonly after?: Hash | undefined
  },
  recent?: RecentBlocks,
): Promise<readonly SpanBlock[]> {
  const { from, to, withTransactions } = range
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const collected: ReadBlock[] = []
  await forEachConcurrently(numbers, REQUESTS_AT_ONCE, async (number) => {
    const read = () => readOne(client, number, withTransactions)
    const block = await (recent?.get(number, withTransactions, read) ?? read())
    if (block.proof === 'none') throw new EndpointError(`block ${number} lacks transactions`)
    collected.push(block)
  })
  const blocks = collected.toSorted((readBlock, other) => readBlock.ref.number - other.ref.number)
  try {
    checkParents(blocks, range.after)
  } catch (error) {
    recent?.clear()
    throw error
  }
  return blocks
}

function checkParents(blocks: readonly ReadBlock[], after: Hash | undefined): void {
  let before = after
  let atMs = Number.NEGATIVE_INFINITY
  for (const { ref, parentHash } of blocks) {
    if ((before !== undefined && parentHash !== before) || ref.at.getTime() < atMs) {
      throw new EndpointError(`block ${ref.number} does not follow the previous block`)
    }
    before = ref.hash
    atMs = ref.at.getTime()
  }
}

function checkPlaces(logs: readonly Log[], blocks: readonly SpanBlock[]): void {
  const hashes = new Map(blocks.map(({ ref }) => [ref.number, ref.hash]))
  const stray = logs.find((log) => hashes.get(Number(log.blockNumber)) !== log.blockHash)
  if (stray !== undefined) throw new EndpointError(`block ${stray.blockNumber} was replaced`)
}

function byPlace(a: Log, b: Log): number {
  return Number(a.blockNumber - b.blockNumber) || Number(a.logIndex - b.logIndex)
}
