import { z } from 'zod'
import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import { isEndpointFailure } from '#src/chain/endpoints/failures.ts'
import { type Log, Transaction } from '#src/chain/endpoints/schemas.ts'
import type { LogFilter } from '#src/chain/events/logs.ts'
import { readSpan, type Span } from '#src/chain/events/spans.ts'
import { AppError } from '#src/kernel/errors.ts'
import { type Address, type Hash, ZERO_ADDRESS } from '#src/kernel/units.ts'
import { SUBMIT_UPDATES_SELECTOR } from '../protocol/fast-update.ts'
import { SUBMIT_AND_PASS_SELECTOR, submitFunctionOf } from '../protocol/framing.ts'
import type { RoundBlock } from '../protocol/round-collector.ts'
import type { SubmissionTransaction } from '../protocol/round-evidence.ts'
import { createCallReader, type ProtocolCall } from './round-calls.ts'
import {
  NO_EVENTS,
  type ProtocolEvents,
  protocolEventsIn,
  RARE_TOPICS,
  ROUND_TOPICS,
} from './round-events.ts'

/** A block of a span, with the protocol's events and submissions. */
export interface ProtocolBlock extends RoundBlock, ProtocolEvents {
  readonly ref: BlockRef
  readonly calls: readonly ProtocolCall[]
}

/** Contracts whose calls are recorded. */
const CALLED = [
  'Submission',
  'Relay',
  'FlareSystemsManager',
  'VoterRegistry',
  'VoterPreRegistry',
  'EntityManager',
  'FastUpdater',
] as const

/** Contracts whose events are read. */
const EMITTING = ['Relay', 'FdcHub', 'FastUpdater', 'RewardManager', 'VoterRegistry'] as const

/** Reader of blocks with the protocol's content. */
export interface ProtocolBlockReader {
  /** Like `RoundReader.span`. */
  read(
    range: { readonly from: number; readonly to: number; readonly after?: Hash | undefined },
    watched: ReadonlySet<string>,
    signal?: AbortSignal,
  ): Promise<{ readonly blocks: readonly ProtocolBlock[]; readonly upTo: number }>
}

/** Creates a block reader; it finds the contracts through the registry. */
export function createBlockReader(source: ChainAccess): ProtocolBlockReader {
  const { contracts } = source
  const readCalls = createCallReader(source)

  return {
    async read(range, watched, signal) {
      let known = await readProtocolContracts(source, signal)
      let span = await readWith(source, known, range, signal)
      if (hasCallOfUnknownContract(span, known) && contracts.suspectMove()) {
        const current = await readProtocolContracts(source, signal)
        if (current.called.size > known.called.size)
          span = await readWith(source, current, range, signal)
        known = current
      }
      const logsOf = Map.groupBy(span.logs, ({ blockNumber }) => Number(blockNumber))
      const seenIn = span.blocks.map((block) => ({
        ...block,
        seen: transactionsTo(block.transactions, known.called),
      }))
      const blockResults = await Promise.all(
        seenIn.map(async ({ seen, ...block }): Promise<ProtocolBlock | AppError> => {
          const watchedTransactions = z
            .array(Transaction)
            .safeParse(seen.filter(({ from }) => watched.has(from)).map(({ raw }) => raw))
          const { ref, isSure } = block
          const events = readEvents(logsOf.get(ref.number) ?? [], seen)
          try {
            const transactions = watchedTransactions.data ?? []
            const calls = await readCalls(transactions, block, known.called, signal)
            const failed = new Set<string>(calls.filter(({ ok }) => !ok).map(({ tx }) => tx))
            return {
              ref,
              number: ref.number,
              at: ref.at.getTime() / 1000,
              isSure: isSure && watchedTransactions.success && events !== undefined,
              submissions: seen.filter(
                ({ hash, isSubmission }) => isSubmission && !failed.has(hash),
              ),
              ...(events ?? NO_EVENTS),
              calls,
            }
          } catch (error) {
            if (error instanceof AppError && error.kind === 'upstream') return error
            throw error
          }
        }),
      )
      // If receipts of a block are unavailable, the blocks before it are returned.
      const blocks: ProtocolBlock[] = []
      for (const block of blockResults) {
        if (!(block instanceof AppError)) blocks.push(block)
        else if (blocks.length === 0) throw block
        else break
      }
      return { blocks, upTo: blocks.at(-1)?.number ?? span.upTo }
    },
  }
}

/**
 * A transaction to one of the protocol's contracts. Not validated by a schema, because a block has hundreds.
 */
interface ProtocolTransaction extends SubmissionTransaction {
  readonly raw: unknown
  readonly isSubmission: boolean
  /** A fast update that Submission passes on, or one that was sent to the FastUpdater itself. */
  readonly fastUpdate: 'passed' | 'direct' | undefined
}

function transactionsTo(
  transactions: readonly unknown[],
  called: ReadonlyMap<string, string>,
): ProtocolTransaction[] {
  return transactions.flatMap((raw): ProtocolTransaction[] => {
    if (typeof raw !== 'object' || raw === null) return []
    const { hash, from, to, input } = raw as Record<string, unknown>
    if (typeof hash !== 'string' || typeof from !== 'string') return []
    if (typeof to !== 'string' || typeof input !== 'string') return []
    const contract = called.get(to.toLowerCase())
    if (contract === undefined) return []
    const selector = input.slice(2, 10).toLowerCase()
    return [
      {
        raw,
        hash,
        from: from.toLowerCase(),
        to: to.toLowerCase(),
        input,
        isSubmission: contract === 'Submission' && submitFunctionOf(input) !== undefined,
        fastUpdate:
          contract === 'Submission' && selector === SUBMIT_AND_PASS_SELECTOR
            ? 'passed'
            : contract === 'FastUpdater' && selector === SUBMIT_UPDATES_SELECTOR
              ? 'direct'
              : undefined,
      },
    ]
  })
}

/** Contracts of the protocol, at all known addresses. */
interface ProtocolContracts {
  /** Names of those whose calls are recorded, by address in lower case. */
  readonly called: ReadonlyMap<string, string>
  /** Those whose events are read. */
  readonly emitting: readonly Address[]
}

function readProtocolContracts(
  { endpoints, contracts }: ChainAccess,
  signal?: AbortSignal,
): Promise<ProtocolContracts> {
  return endpoints.ask(async (client) => {
    const named = await Promise.all(
      CALLED.map(async (name) => [name, await contracts.all(client, name)] as const),
    )
    const emitting = await Promise.all(EMITTING.map((name) => contracts.all(client, name)))
    return {
      called: new Map(
        named.flatMap(([name, all]) =>
          all.map((address) => [address.toLowerCase(), name] as const),
        ),
      ),
      emitting: emitting.flat(),
    }
  }, signal)
}

function readWith(
  source: ChainAccess,
  { emitting }: ProtocolContracts,
  range: Parameters<ProtocolBlockReader['read']>[0],
  signal?: AbortSignal,
): Promise<Span> {
  // Nodes treat an empty list as any contract.
  const address = emitting.length === 0 ? [ZERO_ADDRESS] : [...emitting]
  const filter: LogFilter = { address, topics: [Object.values(ROUND_TOPICS)] }
  return readSpan(source, filter, { ...range, withTransactions: true, rare: RARE_TOPICS }, signal)
}

/** Whether a submit function of an unknown contract is called, as after a move of Submission. */
function hasCallOfUnknownContract({ blocks }: Span, { called }: ProtocolContracts): boolean {
  return blocks.some(({ transactions }) =>
    transactions.some((raw) => {
      if (typeof raw !== 'object' || raw === null) return false
      const { to, input } = raw as Record<string, unknown>
      if (typeof to !== 'string' || typeof input !== 'string') return false
      return submitFunctionOf(input) !== undefined && !called.has(to.toLowerCase())
    }),
  )
}

/** The events of a block; undefined when one of them does not match its topic. */
function readEvents(
  logs: readonly Log[],
  seen: readonly ProtocolTransaction[],
): ProtocolEvents | undefined {
  const updates = seen.flatMap(({ hash, from, input, fastUpdate }) =>
    fastUpdate === undefined
      ? []
      : [[hash, { from, input, isSubmission: fastUpdate === 'passed' }] as const],
  )
  try {
    return protocolEventsIn(logs, new Map(updates))
  } catch (error) {
    if (isEndpointFailure(error)) return undefined
    throw error
  }
}
