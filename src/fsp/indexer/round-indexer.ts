import type { BlockRef } from '#src/chain/chain.ts'
import type { Fence } from '#src/db/leases.ts'
import { AppError } from '#src/kernel/errors.ts'
import { roundAt } from '../protocol/epochs.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import { addBlock, addUncertainBlock } from './carried-state.ts'
import { judgeAndStoreRounds, recoverSigners } from './judge-and-store-rounds.ts'
import { addRefusedUpdates } from './long-updates.ts'
import { addValidatorPoll } from './poll-state.ts'
import { createRewardFacts } from './rewards.ts'
import {
  type IndexingSession,
  openIndexingSession,
  type RoundSource,
  renewIndexingSession,
  type SortedBlock,
} from './round-session.ts'
import * as store from './round-store.ts'

/** Reads voting rounds one after another and stores them. */
export interface RoundIndexer {
  /**
   * Reads every block up to `tip` and stores the complete rounds, with the observations of each provider.
   * If the process stops at any point, nothing is lost or repeated.
   *
   * @param fence fence of the only process that reads; omitted where there is a single process
   * @throws AppError upstream `dependency_unavailable` when blocks cannot be read; the next call continues;
   * FenceError when another process took over
   */
  advance(tip: BlockRef, signal: AbortSignal, fence?: Fence): Promise<void>
}

/**
 * Creates a reader that continues where the last process stopped. Long because reading and resuming share
 * the session.
 */
export function createRoundIndexer(source: RoundSource): RoundIndexer {
  const { db, chain, log } = source
  const rewards = createRewardFacts(source)
  let session: IndexingSession | undefined

  /** Whether the session is still valid: the lock is the same, and no other process has made progress. */
  async function isCurrent(current: IndexingSession, fence: Fence | undefined): Promise<boolean> {
    const stored = await store.findIndexedBlock(db)
    return current.fence === fence && stored?.number === current.savedTo
  }

  /**
   * Whether the session goes on after an error: what it has read is proven, and an endpoint that fails takes nothing
   * from that. Any other error, or another block of the chain in place of the last one that was read, ends it.
   */
  async function isKept(
    { from, after }: IndexingSession,
    error: unknown,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (signal.aborted || !(error instanceof AppError) || error.kind !== 'upstream') return false
    if (after === undefined) return true
    const last = await chain.blockAt(from - 1, signal).catch(() => undefined)
    return last === undefined || last.hash === after
  }

  /** Counts the polls of the P-chain since the last count. */
  async function countPolls({ state }: IndexingSession): Promise<void> {
    const after = state.pollsTo === null ? undefined : new Date(state.pollsTo)
    for (const { polledAt, validators } of await store.listPolls(db, after)) {
      state.pollsTo = polledAt.toISOString()
      addValidatorPoll(state, validators)
    }
  }

  /**
   * The next block to judge; undefined if every block up to `tip` is judged. Blocks are sorted ahead of it, so that the
   * signers of the next rounds are recovered beside the work on a round.
   */
  async function findNext(
    current: IndexingSession,
    tip: BlockRef,
    signal: AbortSignal,
  ): Promise<SortedBlock | undefined> {
    const { sorted, read, collector } = current
    if (sorted.length === 0 && read.length === 0) {
      if (current.from > tip.number) return undefined
      const range = { from: current.from, to: tip.number, after: current.after }
      const watched = new Set(current.owners.byAccount.keys())
      const { blocks, upTo } = await chain.rounds.span(range, watched, signal)
      read.push(...blocks)
      current.from = upTo + 1
      current.after = blocks.at(-1)?.ref.hash ?? current.after
    }
    const ahead = () => sorted.reduce((sum, { complete }) => sum + complete.length, 0)
    while (read.length > 0 && ahead() <= ROUNDS_AHEAD) {
      const block = read.shift()
      if (block === undefined) break
      const complete = collector.add(block).map((evidence) => {
        const signers = recoverSigners(source, evidence)
        // An error is thrown where the round is judged.
        signers.catch(() => undefined)
        return { evidence, signers }
      })
      sorted.push({ block, complete, isCounted: false })
    }
    return sorted[0]
  }

  /** Adds a block to the carried state. */
  async function countBlock(current: IndexingSession, block: ProtocolBlock): Promise<void> {
    if (block.isSure === false) {
      log.warn(
        { block: block.number },
        'endpoints contradict each other; the rounds of this block are not judged',
      )
    }
    recordFirst(current, roundAt(current.policies.clock, block.at), block.number)
    if (block.number > current.countedTo) {
      if (block.isSure === false) addUncertainBlock(current.state)
      else {
        addBlock(current.state, block, current.owners)
        await addRefusedUpdates(current.state, block, current.owners)
      }
    }
    if (block.isSure !== false) current.claims.push(...block.claims)
  }

  async function readOn(
    current: IndexingSession,
    tip: BlockRef,
    signal: AbortSignal,
  ): Promise<void> {
    await renewIndexingSession(source, current, tip, signal)
    await countPolls(current)
    while (!signal.aborted) {
      const next = await findNext(current, tip, signal)
      if (next === undefined) break
      const { block, complete } = next
      if (!next.isCounted) await countBlock(current, block)
      next.isCounted = true
      if (complete.length > 0) {
        await judgeAndStoreRounds({ source, rewards, current }, complete, block.ref, tip, signal)
      }
      current.sorted.shift()
    }
  }

  return {
    async advance(tip, signal, fence) {
      try {
        if (session !== undefined && !(await isCurrent(session, fence))) session = undefined
        session ??= await openIndexingSession(source, tip, signal, fence)
        if (session !== undefined) await readOn(session, tip, signal)
      } catch (error) {
        if (session !== undefined && !(await isKept(session, error, signal))) session = undefined
        throw error
      }
    },
  }
}

/** Number of rounds whose signers are recovered before they are judged. */
const ROUNDS_AHEAD = 2
/** The maximum number of rounds that are open at a time, plus one. */
const OPEN_ROUNDS = 4

function recordFirst({ firstBlocks }: IndexingSession, round: number, block: number): void {
  if (firstBlocks.has(round)) return
  firstBlocks.set(round, block)
  for (const old of firstBlocks.keys()) if (old <= round - OPEN_ROUNDS) firstBlocks.delete(old)
}
