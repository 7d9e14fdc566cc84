import type { Hex } from 'viem'
import { mayContainEvent } from '../blocks/bloom.ts'
import type { ReceiptReader } from '../blocks/receipts.ts'
import type { Log } from '../endpoints/schemas.ts'
import type { LogFilter } from './logs.ts'
import type { SpanBlock } from './span-block.ts'

/** Results of endpoints about the events of some blocks. */
export interface EndpointLogs {
  readonly blocks: readonly SpanBlock[]
  readonly logsByEndpoint: readonly (readonly Log[])[]
}

/** Events with their blocks. */
export interface SpanLogs {
  readonly blocks: readonly SpanBlock[]
  readonly logs: readonly Log[]
}

/** Events that need more than the answer of an endpoint. */
export interface EventProof {
  /** First topics of events that need a second endpoint's confirmation, or a proof. */
  readonly rare?: readonly Hex[] | undefined
  /** Whether every event needs a proof. */
  readonly isEveryProven?: boolean | undefined
}

/**
 * Determines the events of blocks, and proves that none is missing as far as that is possible.
 *
 * A block is checked again where endpoints differ, where the bloom filter of its header indicates events
 * that were not returned, and, while only one endpoint answered, where it has an event listed in `rare`:
 * the bloom filter cannot reveal a missing second event. All receipts of the block are then read: the root
 * in its header proves them, whichever endpoint returned them. Without receipts, every event that any
 * endpoint returned counts. The block is uncertain if two have a different event at the same index, if returned receipts
 * do not match it, or if its filter indicates events that nobody returned: an empty list proves nothing.
 */
export async function resolveEvents(
  receipts: ReceiptReader,
  filter: LogFilter,
  { blocks, logsByEndpoint }: EndpointLogs,
  { rare = [], isEveryProven = false }: EventProof,
  signal: AbortSignal | undefined,
): Promise<SpanLogs> {
  const logs = unite(logsByEndpoint)
  const logsOf = Map.groupBy(logs, ({ blockNumber }) => Number(blockNumber))
  const doubtful = new Set(blocksLackingEvents(blocks, logs, filter).map(({ ref }) => ref.number))
  const disputed = new Set(disputedBlocks(logsByEndpoint))
  const differing = new Set(differingBlocks(logsByEndpoint))
  const isRare = ({ topics: [kind] }: Log) => kind !== undefined && rare.includes(kind)

  const checkedBlocks = await Promise.all(
    blocks.map(async (block): Promise<{ block: SpanBlock; logs: readonly Log[] }> => {
      const { number } = block.ref
      const knownLogs = logsOf.get(number) ?? []
      const isLone = logsByEndpoint.length === 1 && knownLogs.some(isRare)
      const mustProve = isLone || (isEveryProven && knownLogs.length > 0)
      if (!doubtful.has(number) && !differing.has(number) && !mustProve)
        return { block, logs: knownLogs }
      const proven = await proveEvents(receipts, filter, block, signal)
      if (proven !== undefined) {
        return { block: { ...block, isSure: block.isSure && proven.isSure }, logs: proven.logs }
      }
      const isProven = !disputed.has(number) && !doubtful.has(number) && !isEveryProven
      return { block: { ...block, isSure: block.isSure && isProven }, logs: knownLogs }
    }),
  )
  return {
    blocks: checkedBlocks.map(({ block }) => block),
    logs: checkedBlocks.flatMap((blockLogs) => blockLogs.logs),
  }
}

/**
 * Reads the events of a block from its receipts. Returns none, as uncertain, if the receipts do not match the
 * block; undefined if no endpoint returns receipts.
 */
async function proveEvents(
  receipts: ReceiptReader,
  filter: LogFilter,
  block: SpanBlock,
  signal: AbortSignal | undefined,
): Promise<{ readonly logs: readonly Log[]; readonly isSure: boolean } | undefined> {
  const proven = await receipts.prove(block, signal)
  if (proven === undefined) return undefined
  if (proven === 'refuted') return { logs: [], isSure: false }
  const logs = proven.flatMap((receipt) => receipt.logs)
  return { logs: logs.filter((log) => isWanted(log, filter)), isSure: true }
}

function isWanted({ address, topics }: Log, filter: LogFilter): boolean {
  const fits = (choice: Hex | readonly Hex[] | null, value: Hex | undefined) =>
    choice === null ||
    choicesOf(choice).some((topic) => topic.toLowerCase() === value?.toLowerCase())
  return (
    fits(filter.address, address) && filter.topics.every((topic, at) => fits(topic, topics[at]))
  )
}

/** Blocks whose events differ between endpoints. */
function differingBlocks(logsByEndpoint: readonly (readonly Log[])[]): readonly number[] {
  const listsOf = new Map<number, string[]>()
  for (const [index, logs] of logsByEndpoint.entries()) {
    for (const log of logs) {
      const lists = listsOf.get(Number(log.blockNumber)) ?? logsByEndpoint.map(() => '')
      lists[index] += `${textOf(log)} `
      listsOf.set(Number(log.blockNumber), lists)
    }
  }
  return [...listsOf].flatMap(([number, lists]) => (new Set(lists).size > 1 ? [number] : []))
}

function textOf({ blockHash, logIndex, address, transactionHash, topics, data }: Log): string {
  return [blockHash, logIndex, address, transactionHash, ...topics, data].join().toLowerCase()
}

/** The union of all endpoints' events, without duplicates. */
function unite(logsByEndpoint: readonly (readonly Log[])[]): readonly Log[] {
  const logsByPlace = new Map(
    logsByEndpoint.flat().map((log) => [`${log.blockHash} ${log.logIndex}`, log] as const),
  )
  return [...logsByPlace.values()]
}

/** Blocks in which endpoints have different events at the same index. */
function disputedBlocks(logsByEndpoint: readonly (readonly Log[])[]): readonly number[] {
  const seen = new Map<string, string>()
  return logsByEndpoint.flat().flatMap((log) => {
    const place = `${log.blockHash} ${log.logIndex}`
    const text = textOf(log)
    const before = seen.get(place)
    seen.set(place, text)
    return before === undefined || before === text ? [] : [Number(log.blockNumber)]
  })
}

/**
 * Blocks whose bloom filter may contain an event of `filter` for a topic0 with no returned event.
 */
export function blocksLackingEvents(
  blocks: readonly SpanBlock[],
  logs: readonly Log[],
  { address, topics: [kinds = null, ...others] }: LogFilter,
): readonly SpanBlock[] {
  const seen = new Set(
    logs.flatMap((log) => [`${log.blockNumber}`, `${log.blockNumber} ${log.topics[0]}`]),
  )
  const otherChoices = [address, ...others].flatMap((choice) =>
    choice === null ? [] : [choicesOf(choice)],
  )
  return blocks.filter(({ ref, logsBloom }) => {
    const isMissed =
      kinds === null
        ? !seen.has(`${ref.number}`)
        : choicesOf(kinds).some(
            (kind) => !seen.has(`${ref.number} ${kind}`) && mayContainEvent(logsBloom, kind),
          )
    return (
      isMissed &&
      otherChoices.every((choice) => choice.some((value) => mayContainEvent(logsBloom, value)))
    )
  })
}

function choicesOf(choice: Hex | readonly Hex[]): readonly Hex[] {
  return typeof choice === 'string' ? [choice] : choice
}
