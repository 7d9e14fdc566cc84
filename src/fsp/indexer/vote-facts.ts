import type { BlockRef } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import { type Fence, transactUnder } from '#src/db/leases.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import type { FspChain } from '../chain.ts'
import {
  type EpochVotes,
  VOTE_KINDS,
  type VoteKind,
  type VoterSignedAt,
  type VoteSignature,
} from '../reader/signing-protocol.ts'
import { type EpochVoteFacts, epochVoteFacts, firstRewardsSignature } from './provider-vote.ts'
import { REWARDS_KIND } from './publication-data.ts'
import { addRange, missingRanges } from './ranges.ts'
import * as store from './store.ts'

/**
 * A provider's votes on the reward epochs that ended last, oldest first, without epochs in which the
 * provider was not registered.
 */
export interface VoteFacts {
  /** The reward epoch in force. */
  readonly rewardEpochId: number
  readonly epochs: readonly EpochVoteFacts[]
}

/** What the state after a block says of an ended reward epoch. */
interface EpochState {
  readonly epoch: number
  readonly votes: EpochVotes
  /** Weights of its voters. */
  readonly shares: ReadonlyMap<Address, number>
  /** The requested voters that are among them. */
  readonly taking: readonly Address[]
  /** When they signed the winning result; null while a vote is open. */
  readonly winners: Readonly<Record<VoteKind, ReadonlyMap<Address, VoterSignedAt> | null>>
}

/** Number of reward epochs that are read, because a vote can continue while the next epoch ends. */
const EPOCHS = 2
/**
 * If the publication of rewards cannot be read for this long after the first vote on them, the rewards
 * count as published with this vote.
 */
const UNREADABLE_MS = 2 * HOUR_MS
/** Maximum number of block ranges that are read per epoch in one pass. */
const RANGES_PER_PASS = 40
/** Retention of stored signatures and of the three caches below, in reward epochs. */
const EPOCHS_KEPT = 6

/**
 * Creates the reader of votes: results from the contract, signers of an open vote from events. Long because
 * reading, completing and judging votes share the caches of concluded votes.
 */
export function createVoteFacts({
  db,
  chain,
  log,
  rewardDataUrls,
}: {
  readonly db: Db
  readonly chain: FspChain
  readonly log: Logger
  readonly rewardDataUrls: readonly string[]
}) {
  const { protocol } = chain
  const weights = new Map<number, ReadonlyMap<Address, number>>()
  /** By `<epoch> <kind>`: when each voter signed the winning result; null: did not. */
  const winningSignatureTimes = new Map<string, Map<Address, Date | null>>()
  /**
   * Reward epochs in which the end of the uptime vote was searched, because the contract does not return
   * it.
   */
  const soughtEnds = new Set<number>()

  async function weightsOf(epoch: number, block: BlockRef, signal: AbortSignal | undefined) {
    const known = weights.get(epoch) ?? (await protocol.weights(epoch, block, signal))
    if (known !== undefined) weights.set(epoch, known)
    for (const old of weights.keys()) if (old < epoch - EPOCHS_KEPT) weights.delete(old)
    return known
  }

  /**
   * Reads the missing events.
   *
   * @param isEnough tells for a signature whether no further signatures are needed
   * @returns whether nothing more has to be read
   */
  async function readSignatures(
    epoch: number,
    from: number,
    block: BlockRef,
    signal: AbortSignal | undefined,
    fence: Fence | undefined,
    isEnough: (vote: VoteSignature) => boolean = () => false,
  ): Promise<boolean> {
    const name = rangesOf(epoch)
    const wanted = { fromBlock: from, toBlock: block.number }
    for (let step = 0; step < RANGES_PER_PASS; step++) {
      const ranges = await store.listRanges(db, name)
      const [gap] = missingRanges(ranges, wanted)
      if (gap === undefined) return true
      const range = { from: gap.fromBlock, to: gap.toBlock }
      const { votes, upTo } = await protocol.signatures(epoch, range, signal)
      if (upTo < range.from) return false
      await transactUnder(fence, db, async (tx) => {
        await store.insertSignatures(
          tx,
          votes.map((vote) => toStored(epoch, vote)),
        )
        const read = { fromBlock: gap.fromBlock, toBlock: upTo }
        await store.replaceRanges(tx, name, addRange(await store.listRanges(tx, name), read))
      })
      if (votes.some(isEnough)) return true
    }
    return missingRanges(await store.listRanges(db, name), wanted).length === 0
  }

  /**
   * Reads the signature that concluded the uptime vote, if the vote ended between two reads; tried once per
   * epoch and process.
   */
  async function seekUptimeEnd(
    epoch: number,
    { uptime: { hash, openedIn } }: EpochVotes,
    block: BlockRef,
    signal: AbortSignal | undefined,
    fence: Fence | undefined,
  ): Promise<void> {
    if (hash === null || openedIn === null || soughtEnds.has(epoch)) return
    const isEnd = ({ kind, isLast }: { kind: string; isLast: boolean }) =>
      kind === 'uptime' && isLast
    if (!(await store.listSignatures(db, epoch)).some(isEnd)) {
      await readSignatures(epoch, openedIn, block, signal, fence, isEnd)
    }
    soughtEnds.add(epoch)
    for (const old of soughtEnds) if (old < epoch - EPOCHS_KEPT) soughtEnds.delete(old)
  }

  /** When voters signed the winning result of a concluded vote; a voter is absent while that is uncertain. */
  async function winningSignatureTimesOf(
    epoch: number,
    kind: VoteKind,
    voters: readonly Address[],
    block: BlockRef,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<Address, VoterSignedAt>> {
    const key = `${epoch} ${kind}`
    const known = winningSignatureTimes.get(key) ?? new Map<Address, Date | null>()
    winningSignatureTimes.set(key, known)
    for (const old of winningSignatureTimes.keys()) {
      if (Number.parseInt(old, 10) < epoch - EPOCHS_KEPT) winningSignatureTimes.delete(old)
    }
    const wanted = voters.filter((voter) => !known.has(voter))
    if (wanted.length === 0) return known
    const newSignings = await protocol.signings(epoch, kind, wanted, block, signal)
    for (const [index, voter] of wanted.entries()) {
      const signing = newSignings[index]
      if (signing !== undefined) known.set(voter, signing)
    }
    return known
  }

  /**
   * Time at which the rewards of a reward epoch were first seen published. If they could not be read for
   * two hours after the first vote on them, they count as published.
   */
  async function publishedAt(
    epoch: number,
    firstSignedAt: Date | null,
    block: BlockRef,
    fence: Fence | undefined,
  ): Promise<Date | null> {
    if (rewardDataUrls.length === 0) return firstSignedAt
    const [known] = await store.listPublications(db, REWARDS_KIND, [epoch])
    if (known !== undefined) return known.seenAt
    const ageMs = firstSignedAt === null ? 0 : block.at.getTime() - firstSignedAt.getTime()
    if (firstSignedAt === null || ageMs < UNREADABLE_MS) return null
    const fields = { epoch, since: firstSignedAt }
    log.warn(
      fields,
      'published rewards cannot be read; they count as published with the first vote',
    )
    // Without a root: it could not be read.
    const data = { merkleRoot: null }
    const publication = { kind: REWARDS_KIND, rewardEpochId: epoch, data, seenAt: firstSignedAt }
    await transactUnder(fence, db, (tx) => store.savePublication(tx, publication))
    return firstSignedAt
  }

  /** Reads what the state after a block says of an epoch; undefined if its votes or weights cannot be read. */
  async function readEpochState(
    epoch: number,
    voters: readonly Address[],
    block: BlockRef,
    signal: AbortSignal | undefined,
  ): Promise<EpochState | undefined> {
    const votes = await protocol.votes(epoch, block, signal)
    const shares = votes && (await weightsOf(epoch, block, signal))
    if (votes === undefined || shares === undefined || shares.size === 0) return undefined
    const taking = voters.filter((voter) => shares.has(voter))
    const winnersOf = (kind: VoteKind) =>
      votes[kind].hash && winningSignatureTimesOf(epoch, kind, taking, block, signal)
    const winners = { uptime: await winnersOf('uptime'), rewards: await winnersOf('rewards') }
    return { epoch, votes, shares, taking, winners }
  }

  /** What the providers signed in an epoch, by its state and the events up to the same block. */
  async function readEpochFacts(
    { epoch, votes, shares, taking, winners }: EpochState,
    block: BlockRef,
    signal: AbortSignal | undefined,
    fence: Fence | undefined,
  ): Promise<ReadonlyMap<Address, EpochVoteFacts>> {
    const open = VOTE_KINDS.filter((kind) => votes[kind].hash === null)
    const starts = open.flatMap((kind) => votes[kind].openedIn ?? [])
    const isComplete =
      starts.length === 0 ||
      (await readSignatures(epoch, Math.min(...starts), block, signal, fence))
    await seekUptimeEnd(epoch, votes, block, signal, fence)
    const stored = await store.listSignatures(db, epoch)
    const firstSignedAt = firstRewardsSignature(stored, winners.rewards)
    const published = await publishedAt(epoch, firstSignedAt, block, fence)
    const evidence = { votes, stored, shares, isComplete, winners }
    return new Map(
      taking.map((voter) => [voter, epochVoteFacts(epoch, voter, evidence, published)]),
    )
  }

  return {
    async of(
      voters: readonly Address[],
      block: BlockRef,
      signal?: AbortSignal,
      fence?: Fence,
    ): Promise<readonly (VoteFacts | undefined)[]> {
      const current = await protocol.rewardEpoch(block, signal)
      // Nodes keep the state of a block for a minute. Reading events may take longer, so it comes last.
      const states: EpochState[] = []
      for (let epoch = (current ?? 0) - EPOCHS; epoch < (current ?? 0); epoch++) {
        const state = epoch < 0 ? undefined : await readEpochState(epoch, voters, block, signal)
        if (state !== undefined) states.push(state)
      }
      const factsOfEpochs: ReadonlyMap<Address, EpochVoteFacts>[] = []
      for (const state of states) {
        factsOfEpochs.push(await readEpochFacts(state, block, signal, fence))
      }
      if (current === undefined || factsOfEpochs.length === 0) return voters.map(() => undefined)
      return voters.map((voter) => ({
        rewardEpochId: current,
        epochs: factsOfEpochs.flatMap((facts) => facts.get(voter) ?? []),
      }))
    },

    async prune(): Promise<void> {
      const last = await store.findLastSignedEpoch(db)
      if (last === undefined) return
      const before = last - EPOCHS_KEPT
      await store.deleteSignatures(db, before)
      const old = Array.from({ length: EPOCHS_KEPT * 4 }, (_, index) => before - 1 - index)
      await store.deleteReadRanges(db, old.map(rangesOf))
    },
  }
}

function rangesOf(epoch: number): string {
  return `votes ${epoch}`
}

function toStored(
  epoch: number,
  { kind, voter, hash, at, isLast }: VoteSignature,
): store.StoredSignature {
  return { rewardEpochId: epoch, kind, voter, hash, signedAt: at, isLast }
}
