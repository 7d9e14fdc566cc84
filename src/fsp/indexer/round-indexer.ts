import type { BlockRef } from '#src/chain/chain.ts'
import { type Fence, transactUnder } from '#src/db/lock.ts'
import { roundAt } from '../protocol/epochs.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import {
  type CompleteRound,
  judgeAndStoreRounds,
  recoverSigners,
} from './judge-and-store-rounds.ts'
import { addRefusedUpdates } from './long-updates.ts'
import { createRewardFacts } from './rewards.ts'
import {
  type IndexingSession,
  openIndexingSession,
  type RoundSource,
  renewIndexingSession,
} from './round-session.ts'
import { addBlock, addUncertainBlock, addValidatorPoll } from './round-state.ts'
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
  const { db, chain, clock, log } = source
  const rewards = createRewardFacts(source)
  let session: IndexingSession | undefined

  /** Whether the session is still valid: the lock is the same, and no other process has made progress. */
  async function isCurrent(current: IndexingSession, fence: Fence | undefined): Promise<boolean> {
    return current.fence === fence && (await store.findIndexedBlock(db)) === current.savedTo
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
   * Sorts blocks into rounds, and returns each block with the rounds that it completes. Signers of the next rounds
   * are recovered beside the work on a round.
   */
  function* collected({ collector }: IndexingSession, blocks: readonly ProtocolBlock[]) {
    const ahead: { readonly block: ProtocolBlock; readonly complete: readonly CompleteRound[] }[] =
      []
    let rounds = 0
    for (const block of blocks) {
      const complete = collector.add(block).map((evidence) => {
        const signers = recoverSigners(source, evidence)
        // An error is thrown where the round is judged.
        signers.catch(() => undefined)
        return { evidence, signers }
      })
      ahead.push({ block, complete })
      rounds += complete.length
      while (rounds > ROUNDS_AHEAD) {
        const first = ahead.shift()
        if (first === undefined) break
        rounds -= first.complete.length
        yield first
      }
    }
    yield* ahead
  }

  async function readOn(
    current: IndexingSession,
    tip: BlockRef,
    signal: AbortSignal,
  ): Promise<void> {
    await renewIndexingSession(source, current, tip, signal)
    await countPolls(current)
    const watched = new Set(current.owners.byAccount.keys())
    while (current.from <= tip.number && !signal.aborted) {
      const range = { from: current.from, to: tip.number, after: current.after }
      const { blocks, upTo } = await chain.rounds.span(range, watched, signal)
      for (const { block, complete } of collected(current, blocks)) {
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
        if (complete.length > 0) {
          await judgeAndStoreRounds({ source, rewards, current }, complete, block.ref, tip, signal)
        }
        current.after = block.ref.hash
      }
      current.from = upTo + 1
    }
    if (!current.isFailing || signal.aborted) return
    await transactUnder(current.fence, db, (tx) => store.saveFailingSince(tx, null))
    current.isFailing = false
  }

  return {
    async advance(tip, signal, fence) {
      try {
        if (session !== undefined && !(await isCurrent(session, fence))) session = undefined
        session ??= await openIndexingSession(source, tip, signal, fence)
        if (session !== undefined) await readOn(session, tip, signal)
      } catch (error) {
        session = undefined
        if (!signal.aborted) {
          const progress = await store.findIndexingProgress(db)
          if (progress?.failingSince === null) {
            await transactUnder(fence, db, (tx) => store.saveFailingSince(tx, clock.now()))
          }
        }
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
