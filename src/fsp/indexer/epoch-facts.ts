/** What is stored of a provider and a reward epoch. */
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { TIMED_DUTIES } from '../protocol/verdict.ts'
import type { EpochCounts } from './daily-counts.ts'
import { listCountedEpochs, listEpochCounts } from './daily-store.ts'
import { eligibilityIn } from './provider-status.ts'
import { CLAIMS_KIND, PASSES_KIND, StoredPasses } from './publication-data.ts'
import { marginIn } from './round-record.ts'
import * as rounds from './round-store.ts'
import * as store from './store.ts'

/** The rewards of a reward epoch: not read here, not published yet, or published, with the provider's own if it has any. */
export type RewardsOfEpoch =
  | { readonly state: 'not-read' | 'not-published' }
  | { readonly state: 'published'; readonly amountWei: bigint | null }

/** What is stored of a provider and a reward epoch. */
export interface StoredEpoch {
  readonly provider: Address
  readonly rewardEpoch: number
  /** Whether rounds of a later reward epoch are stored. */
  readonly isOver: boolean
  /** Counts of every provider. */
  readonly counts: ReadonlyMap<Address, EpochCounts>
  /** Seconds that were left of each duty in the stored rounds, oldest first; empty once the rounds are deleted. */
  readonly margins: Readonly<Record<(typeof TIMED_DUTIES)[number], readonly number[]>>
  /** The last stored round of the epoch; undefined once its rounds are deleted. */
  readonly lastRound: number | undefined
  readonly rewards: RewardsOfEpoch
  /** Eligibility by the data about this epoch; null if it is not published, or leaves it open. */
  readonly eligibility: ReturnType<typeof eligibilityIn>
}

/** A reward epoch that ended. */
export interface EndedEpoch {
  readonly rewardEpoch: number
  /** Start of the first stored round of the next epoch. */
  readonly endedAt: Date
  /** Block time at which its rewards were published; null if they are not, or are not read here. */
  readonly rewardsAt: Date | null
  /** Whether rewards are read at all. */
  readonly readsRewards: boolean
}

/** Reads reward epochs from the stored rounds, counts and publications. */
export interface EpochFacts {
  /** Undefined if no round of the provider in this reward epoch was counted. */
  of(provider: Address, rewardEpoch: number): Promise<StoredEpoch | undefined>
  /** The newest reward epochs in which rounds of a provider were counted, newest first. */
  list(provider: Address, limit: number): Promise<readonly number[]>
  /** The reward epoch that ended last; undefined before the first end that was seen. */
  ended(): Promise<EndedEpoch | undefined>
}

/** @param source `rewardDataUrls`: where rewards are published; if empty, they are not read */
export function createEpochFacts({
  db,
  rewardDataUrls,
}: {
  readonly db: Db
  readonly rewardDataUrls: readonly string[]
}): EpochFacts {
  const readsRewards = rewardDataUrls.length > 0
  const publishedAt = async (rewardEpoch: number): Promise<Date | null> => {
    if (!readsRewards) return null
    const [publication] = await store.listPublications(db, CLAIMS_KIND, [rewardEpoch])
    return publication?.seenAt ?? null
  }
  return {
    async of(provider, rewardEpoch) {
      const counts = await listEpochCounts(db, provider, rewardEpoch)
      if (!counts.has(provider)) return undefined
      const [epochs, margins, rewardsAt, passes] = await Promise.all([
        rounds.listStoredEpochs(db),
        rounds.listMargins(db, provider, rewardEpoch),
        publishedAt(rewardEpoch),
        store.listPublications(db, PASSES_KIND, [rewardEpoch]),
      ])
      const amountWei = await rounds.findRewardOf(db, provider, rewardEpoch)
      const own = epochs.find((epoch) => epoch.rewardEpoch === rewardEpoch)
      return {
        ...{ provider, rewardEpoch, counts },
        isOver: epochs.some((epoch) => epoch.rewardEpoch > rewardEpoch),
        margins: marginsIn(margins),
        lastRound: own?.lastRound ?? undefined,
        rewards:
          rewardsAt === null
            ? { state: readsRewards ? 'not-published' : 'not-read' }
            : { state: 'published', amountWei: amountWei ?? null },
        eligibility: eligibilityIn(calculationIn(passes), provider),
      }
    },
    list: (provider, limit) => listCountedEpochs(db, provider, limit),
    async ended() {
      const epochs = await rounds.listStoredEpochs(db)
      const [last, before] = epochs.toReversed()
      if (before === undefined || last?.firstAt == null) return undefined
      const { rewardEpoch } = before
      const rewardsAt = await publishedAt(rewardEpoch)
      return { rewardEpoch, endedAt: last.firstAt, rewardsAt, readsRewards }
    },
  }
}

function marginsIn(rows: readonly { readonly margins: unknown }[]): StoredEpoch['margins'] {
  const ofDuty = (duty: (typeof TIMED_DUTIES)[number]) =>
    rows.map(({ margins }) => marginIn(margins, duty)).filter((margin) => margin !== null)
  const all = TIMED_DUTIES.map((duty) => [duty, ofDuty(duty)] as const)
  return Object.fromEntries(all) as unknown as StoredEpoch['margins']
}

function calculationIn([publication]: readonly store.Publication[]) {
  const parsed = StoredPasses.safeParse(publication?.data)
  if (publication === undefined || !parsed.success) return undefined
  const rows = new Map(parsed.data.map((row) => [row.voter, row]))
  return { rewardEpochId: publication.rewardEpochId, rows }
}
