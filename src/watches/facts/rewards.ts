import { z } from 'zod'
import type { BlockRef, Chain } from '#src/chain/chain.ts'
import { OWN_CLAIM_TYPES } from '#src/chain/fsp/round-events.ts'
import type { Policies } from '#src/chain/fsp/round-reader.ts'
import type { Published } from '#src/chain/published.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { Address } from '#src/kernel/units.ts'
import * as rounds from './round-store.ts'
import * as store from './store.ts'
import { placeOf } from './votes.ts'

/** Rewards of a provider itself that nobody has claimed within a day. */
export interface Waiting {
  /** Reward epochs they are of, oldest first. */
  readonly epochs: readonly number[]
  readonly amountWei: bigint
}

/** What is known when a round is kept. */
interface Known {
  readonly policies: Policies
  /** Since when no claim can have been missed, epoch seconds. */
  readonly readSince: number | null
  readonly block: BlockRef
}

/** `reward-distribution-data.json`, of which only a provider's own claims matter. */
const RewardData = z.looseObject({
  rewardEpochId: z.int(),
  rewardClaims: z.array(
    z.looseObject({
      body: z.looseObject({
        beneficiary: Address,
        amount: z.string().regex(/^\d+$/),
        claimType: z.int(),
      }),
    }),
  ),
})

/** Publications noted: that the claims are written down, and since when they can be made. */
const CLAIMS = 'claims'
const CLAIMABLE = 'claimable'
const LOOK_MS = 5 * 60_000
/** Rewards can be claimed for so long before they count as waiting. */
const GRACE_SECONDS = 86_400
/** Rewards expire 90 days after their reward epoch, which is so many of them. */
const EPOCHS_KEPT = 26

/** Own rewards as they are published, less what was claimed. @see protocol reference, 10.4 */
export function createRewardFacts({
  db,
  chain,
  clock,
  published,
  rewardDataUrls,
}: {
  readonly db: Db
  readonly chain: Chain
  readonly clock: Clock
  readonly published: Published
  readonly rewardDataUrls: readonly string[]
}) {
  let lookAtMs = 0

  /** Writes down what the last reward epoch brought, and whether it can be claimed. */
  async function learn({ policies, block }: Known, signal: AbortSignal): Promise<void> {
    const nowMs = clock.now().getTime()
    if (nowMs < lookAtMs) return
    lookAtMs = nowMs + LOOK_MS
    const epoch = policies.currentEpoch - 1
    const [written] = await store.listPublications(db, CLAIMS, [epoch])
    if (written === undefined) await writeDown(epoch, policies, block, signal)
    const [noted] = await store.listPublications(db, CLAIMABLE, [epoch])
    if (noted !== undefined) return
    const votes = await chain.protocol.votes(epoch, block, signal)
    const seenAt = votes?.rewards.concludedAt
    if (votes?.rewards.hash == null || seenAt == null) return
    await store.savePublication(db, { kind: CLAIMABLE, rewardEpochId: epoch, data: {}, seenAt })
    await rounds.deleteRewards(db, epoch - EPOCHS_KEPT)
  }

  async function writeDown(
    epoch: number,
    { policies }: Policies,
    block: BlockRef,
    signal: AbortSignal,
  ): Promise<void> {
    const policy = policies.find(({ rewardEpoch }) => rewardEpoch === epoch)
    if (policy === undefined) return
    const owners = new Map(
      policy.providers.flatMap(({ voter, signingPolicy }) => [
        [signingPolicy, voter] as const,
        [voter, voter] as const,
      ]),
    )
    for (const url of rewardDataUrls) {
      const data = await published.read(placeOf(url, epoch), RewardData, signal)
      if (data?.rewardEpochId !== epoch) continue
      const own = data.rewardClaims.flatMap(({ body: { beneficiary, amount, claimType } }) => {
        const voter = owners.get(beneficiary)
        if (voter === undefined || !OWN_CLAIM_TYPES.includes(claimType)) return []
        return [{ rewardEpoch: epoch, beneficiary, claimType, voter, amountWei: BigInt(amount) }]
      })
      await db.transaction(async (tx) => {
        await rounds.saveRewards(tx, own)
        const publication = { kind: CLAIMS, rewardEpochId: epoch, data: {}, seenAt: block.at }
        await store.savePublication(tx, publication)
      })
      return
    }
  }

  return {
    /**
     * What waits for each of some providers, of those reward epochs whose claims have all been seen;
     * undefined while there is no such epoch.
     */
    async waiting(
      voters: readonly Address[],
      known: Known,
      signal: AbortSignal,
    ): Promise<ReadonlyMap<Address, Waiting> | undefined> {
      if (rewardDataUrls.length === 0 || voters.length === 0) return undefined
      await learn(known, signal)
      const { policies, readSince, block } = known
      const last = policies.currentEpoch - 1
      const epochs = Array.from({ length: EPOCHS_KEPT }, (_, index) => last - index)
      const [written, claimable] = await Promise.all([
        store.listPublications(db, CLAIMS, epochs),
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
      const rows = await rounds.listWaiting(db, voters, ids)
      return new Map(
        voters.map((voter) => {
          const own = rows.filter((row) => row.voter === voter)
          const amountWei = own.reduce((sum, one) => sum + one.amountWei, 0n)
          return [voter, { epochs: own.map(({ rewardEpoch }) => rewardEpoch), amountWei }]
        }),
      )
    },
  }
}
