import type { BlockRef } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import { type Fence, transactUnder } from '#src/db/leases.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_SECONDS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import type { FspChain } from '../chain.ts'
import type { PolicySnapshot } from '../reader/policies.ts'
import { CLAIMS_KIND } from './publication-data.ts'
import * as rounds from './round-store.ts'
import * as store from './store.ts'

/** Rewards of a provider itself that are still unclaimed after a day. */
export interface UnclaimedRewards {
  /** Reward epochs of the rewards, oldest first. */
  readonly epochs: readonly number[]
  readonly amountWei: bigint
}

/** What the rounds of a reward epoch earn a provider, by its newest published rewards. */
export type Earnings = Awaited<ReturnType<typeof rounds.listNewestRewards>>

/** Inputs that are known when a round is stored. */
interface Known {
  readonly policies: PolicySnapshot
  /** Time from which on no claim was missed, epoch seconds. */
  readonly readSince: number | null
  readonly block: BlockRef
}

/** Kind of the stored publication that has the time from which on rewards can be claimed. */
const CLAIMABLE = 'claimable'
const POLL_MS = 5 * MINUTE_MS
/** Time for which rewards can be claimed before they count as unclaimed. */
const GRACE_SECONDS = DAY_SECONDS
/** Number of ended reward epochs whose rewards say what a round earns now: with two weeks, weights have hardly changed. */
const EARNINGS_EPOCHS = 4
/** Number of reward epochs whose rewards stay stored, also if one wrong answer says that they expire sooner. */
const EPOCHS_STORED_MIN = 100

/**
 * Ended reward epochs whose rewards can be claimed, newest first; all of them if the chain does not return when rewards
 * expire.
 */
export function claimableEpochs({
  clock,
  currentEpoch,
  schedule: { rewardExpirySeconds },
}: Pick<PolicySnapshot, 'clock' | 'currentEpoch' | 'schedule'>): readonly number[] {
  const lasting =
    rewardExpirySeconds === null
      ? currentEpoch
      : Math.ceil(rewardExpirySeconds / (clock.roundsPerEpoch * clock.roundSeconds))
  const length = Math.min(lasting, currentEpoch)
  return Array.from({ length }, (_, index) => currentEpoch - 1 - index)
}

/**
 * Creates the facts about providers' own rewards: published minus claimed. Long because recording and
 * reading rewards share the time of the last check.
 */
export function createRewardFacts({
  db,
  chain,
  clock,
  rewardDataUrls,
}: {
  readonly db: Db
  readonly chain: FspChain
  readonly clock: Clock
  readonly rewardDataUrls: readonly string[]
}) {
  let nextPollMs = 0

  /** Records the time from which on the rewards of the last reward epoch can be claimed. */
  async function learn(
    { policies }: Known,
    signal: AbortSignal,
    fence: Fence | undefined,
  ): Promise<void> {
    const nowMs = clock.now().getTime()
    if (nowMs < nextPollMs) return
    nextPollMs = nowMs + POLL_MS
    const epoch = policies.currentEpoch - 1
    const [noted] = await store.listPublications(db, CLAIMABLE, [epoch])
    if (noted !== undefined) return
    // The result stays as it is. The state of the round's own block may be gone.
    const newest = await chain.confirmedBlock(1, signal)
    const votes = await chain.protocol.votes(epoch, newest, signal)
    const seenAt = votes?.rewards.concludedAt
    if (votes?.rewards.hash == null || seenAt == null) return
    await transactUnder(fence, db, async (tx) => {
      await store.savePublication(tx, { kind: CLAIMABLE, rewardEpochId: epoch, data: {}, seenAt })
      const stored = Math.max(EPOCHS_STORED_MIN, 2 * claimableEpochs(policies).length)
      await rounds.deleteRewards(tx, epoch - stored)
    })
  }

  return {
    /** The newest published rewards of each provider, if one of the last reward epochs has any. */
    earnings(
      voters: readonly Address[],
      { policies: { currentEpoch } }: Pick<Known, 'policies'>,
    ): Promise<Earnings> {
      if (rewardDataUrls.length === 0 || voters.length === 0) return Promise.resolve(new Map())
      const span = { fromEpoch: currentEpoch - EARNINGS_EPOCHS, beforeEpoch: currentEpoch }
      return rounds.listNewestRewards(db, voters, span)
    },

    /**
     * Waiting rewards of each provider, in those of the reward epochs whose claims have all been read;
     * undefined if there is no such epoch.
     */
    async waiting(
      voters: readonly Address[],
      known: Known,
      signal: AbortSignal,
      fence: Fence | undefined,
    ): Promise<ReadonlyMap<Address, UnclaimedRewards> | undefined> {
      if (rewardDataUrls.length === 0 || voters.length === 0) return undefined
      await learn(known, signal, fence)
      const { policies, readSince, block } = known
      const epochs = claimableEpochs(policies)
      const [written, claimable] = await Promise.all([
        store.listPublications(db, CLAIMS_KIND, epochs),
        store.listPublications(db, CLAIMABLE, epochs),
      ])
      const isWritten = new Set(written.map(({ rewardEpochId }) => rewardEpochId))
      const covered = claimable.filter(
        ({ rewardEpochId, seenAt }) =>
          isWritten.has(rewardEpochId) &&
          readSince !== null &&
          seenAt.getTime() / 1000 >= readSince,
      )
      if (covered.length === 0) return undefined
      const dueMs = block.at.getTime() - GRACE_SECONDS * 1000
      const due = covered.filter(({ seenAt }) => seenAt.getTime() <= dueMs)
      const ids = due.map(({ rewardEpochId }) => rewardEpochId)
      const rows = await rounds.listUnclaimedRewards(db, voters, ids)
      return new Map(
        voters.map((voter) => {
          const unclaimed = rows.filter((row) => row.voter === voter)
          const amountWei = unclaimed.reduce((sum, reward) => sum + reward.amountWei, 0n)
          return [voter, { epochs: unclaimed.map(({ rewardEpoch }) => rewardEpoch), amountWei }]
        }),
      )
    },
  }
}
