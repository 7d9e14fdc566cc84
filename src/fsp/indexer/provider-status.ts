import type { BlockRef } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { FspChain } from '../chain.ts'
import type { RegisteredVoters } from '../reader/signing-protocol.ts'
import { eligibilityAt, PASSES_KIND, StoredPasses } from './publication-data.ts'
import { listFirstRounds, listStoredHours } from './round-store.ts'
import * as store from './store.ts'

/** Eligibility of a provider in the last published eligibility data. */
export interface Eligibility {
  readonly rewardEpochId: number
  readonly isEligible: boolean
  /** Passes that the provider holds; null when the data does not contain them. */
  readonly passes: number | null
  /** Failed conditions, in the words of the data. */
  readonly failures: readonly string[]
}

/** Current status of a provider. */
export interface ProviderStatus {
  /** The reward epoch in force. */
  readonly rewardEpochId: number
  readonly isRegistered: boolean
  /** Eligibility; null if no eligibility data has been published yet. */
  readonly eligibility: Eligibility | null
  readonly name: string | null
}

/** Status of a provider from a time on. */
export interface PastStatus extends ProviderStatus {
  readonly at: Date
}

/** A number above that of every reward epoch. */
const EPOCH_MAX = 2 ** 31 - 1
/**
 * Number of reward epochs before the first stored one that are searched for the eligibility data that was
 * the newest at that time.
 */
const EPOCHS_BEFORE = 4
/** Time, by the chain's clock, for which a registration must be missing if not every endpoint answered. */
const UNCONFIRMED_MS = 90_000
interface Calculation {
  readonly rewardEpochId: number
  readonly rows: ReadonlyMap<Address, StoredPasses[number]>
}

/**
 * Eligibility of a provider by one calculation; null without a calculation, or if it leaves the eligibility open. A
 * provider that the calculation does not name is not eligible.
 */
export function eligibilityIn(
  calculation: Calculation | undefined,
  voter: Address,
): Eligibility | null {
  const row = calculation?.rows.get(voter)
  if (calculation === undefined || row?.isEligible === null) return null
  return {
    rewardEpochId: calculation.rewardEpochId,
    isEligible: row?.isEligible ?? false,
    passes: row?.passes ?? null,
    failures: row?.failures ?? [],
  }
}

/**
 * Creates the facts about providers: registration from the chain, eligibility from the stored publications.
 * Long because registration, eligibility and names share the newest eligibility data and the unconfirmed
 * registrations.
 */
export function createProviderFacts({ db, chain }: { readonly db: Db; readonly chain: FspChain }) {
  /** Time since which a registration is missing, while not every endpoint has confirmed that. */
  const missingSince = new Map<Address, Date>()

  /** The newest eligibility data of a reward epoch up to `upToEpoch`. */
  async function newest(upToEpoch: number): Promise<Calculation | undefined> {
    const publication = await store.findPublication(db, PASSES_KIND, upToEpoch)
    return (
      publication && {
        rewardEpochId: publication.rewardEpochId,
        rows: new Map(StoredPasses.parse(publication.data).map((row) => [row.voter, row])),
      }
    )
  }

  /** Whether a provider is registered; undefined while this is uncertain. */
  function isRegistered(
    voter: Address,
    { voters, isSure }: RegisteredVoters,
    block: BlockRef,
  ): boolean | undefined {
    if (voters.has(voter) || isSure) {
      missingSince.delete(voter)
      return voters.has(voter)
    }
    const since = missingSince.get(voter)
    if (since === undefined) missingSince.set(voter, block.at)
    return since !== undefined && block.at.getTime() - since.getTime() >= UNCONFIRMED_MS
      ? false
      : undefined
  }

  return {
    async statuses(
      voters: readonly Address[],
      block: BlockRef,
      signal?: AbortSignal,
    ): Promise<readonly (ProviderStatus | undefined)[]> {
      const registrations = await chain.protocol.registrations(block, voters, signal)
      if (registrations === undefined || registrations.voters.size === 0) {
        return voters.map(() => undefined)
      }
      const { rewardEpochId } = registrations
      const calculation = await newest(rewardEpochId - 1)
      return voters.map((voter) => {
        const registered = isRegistered(voter, registrations, block)
        if (registered === undefined) return undefined
        return {
          rewardEpochId,
          isRegistered: registered,
          eligibility: eligibilityIn(calculation, voter),
          name: calculation?.rows.get(voter)?.name ?? null,
        }
      })
    },

    /** Eligibility in the last published eligibility data; null if there is none, or it is unknown. */
    async eligibility(voter: Address): Promise<Eligibility | null> {
      const calculation = await newest(EPOCH_MAX)
      return calculation?.rows.has(voter) === true ? eligibilityIn(calculation, voter) : null
    },

    /**
     * Status of a provider at `from`, or from the first stored round on, and at every later time at which a
     * reward epoch began or eligibility data was published, for the first time or again. Registered means
     * in the signing policy.
     */
    async history(
      voter: Address,
      { from, to }: { readonly from: Date; readonly to: Date },
    ): Promise<readonly PastStatus[]> {
      const epochs = await listFirstRounds(db, voter, to)
      const [first] = epochs
      if (first === undefined) return []
      const published = await store.listPublicationsFrom(
        db,
        PASSES_KIND,
        first.rewardEpoch - EPOCHS_BEFORE,
      )
      const calculations = published.map(({ rewardEpochId, seenAt, data }) => ({
        rewardEpochId,
        seenAt,
        row: StoredPasses.parse(data).find((provider) => provider.voter === voter),
      }))
      const startMs = Math.max(from.getTime(), first.blockAt.getTime())
      const seen = calculations.flatMap(({ seenAt, row }) => [
        seenAt,
        ...(row?.earlier ?? []).map(({ until }) => until),
      ])
      const times = [...epochs.map(({ blockAt }) => blockAt), ...seen]
        .map((at) => at.getTime())
        .filter((ms) => ms > startMs && ms <= to.getTime())
      return [...new Set([startMs, ...times])]
        .toSorted((a, b) => a - b)
        .map((ms) => statusAt(new Date(ms), epochs, calculations))
        .filter((status) => status !== undefined)
    },

    /** Times of stored rounds, at least two of each hour that has several. */
    async seenAt(span: { readonly from: Date; readonly to: Date }): Promise<readonly Date[]> {
      const hours = await listStoredHours(db, span)
      return hours.flatMap(({ first, last }) => [first, last]).filter((at) => at !== null)
    },

    /** Names of providers in the last published eligibility data. */
    async names(): Promise<ReadonlyMap<Address, string>> {
      const calculation = await newest(EPOCH_MAX)
      const named = [...(calculation?.rows ?? [])].flatMap(([voter, { name }]) =>
        name === null ? [] : [[voter, name] as const],
      )
      return new Map(named)
    },
  }
}

/** Status at a time, by the data that was stored at that time; undefined before the first reward epoch. */
function statusAt(
  at: Date,
  epochs: Awaited<ReturnType<typeof listFirstRounds>>,
  calculations: readonly {
    readonly rewardEpochId: number
    readonly seenAt: Date
    readonly row: StoredPasses[number] | undefined
  }[],
): PastStatus | undefined {
  const epoch = epochs.findLast(({ blockAt }) => blockAt <= at)
  if (epoch === undefined) return undefined
  const calculation = calculations.findLast(
    ({ rewardEpochId, seenAt }) => seenAt <= at && rewardEpochId < epoch.rewardEpoch,
  )
  return {
    at,
    rewardEpochId: epoch.rewardEpoch,
    isRegistered: epoch.isMember,
    eligibility:
      calculation === undefined
        ? null
        : eligibilityOf(calculation.rewardEpochId, calculation.row, at),
    name: calculation?.row?.name ?? null,
  }
}

/** Eligibility by a provider's row of the data at a time; null where the row could not be parsed. */
function eligibilityOf(
  rewardEpochId: number,
  row: StoredPasses[number] | undefined,
  at: Date,
): Eligibility | null {
  const answer =
    row === undefined ? { isEligible: false, passes: null, failures: [] } : eligibilityAt(row, at)
  const { isEligible, passes, failures } = answer
  return isEligible === null ? null : { rewardEpochId, isEligible, passes, failures }
}
