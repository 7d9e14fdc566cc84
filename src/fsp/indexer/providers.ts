import type { BlockRef } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { FspChain } from '../chain.ts'
import type { Registrations } from '../reader/system.ts'
import { PASSES, StoredPasses } from './publication-data.ts'
import * as store from './store.ts'

/** What the last published reward calculation says of a provider. */
export interface Eligibility {
  readonly rewardEpochId: number
  readonly isEligible: boolean
  /** Passes it holds; null when the calculation does not say. */
  readonly passes: number | null
  /** Conditions that failed, as the calculation names them. */
  readonly failures: readonly string[]
}

/** How a provider stands. */
export interface ProviderStatus {
  /** The reward epoch in force. */
  readonly rewardEpochId: number
  readonly isRegistered: boolean
  /** null: nothing has been published yet that could say. */
  readonly eligibility: Eligibility | null
  readonly name: string | null
}

/** Above every reward epoch. */
const EPOCH_MAX = 2 ** 31 - 1
/** So long a registration must be missing, on the chain, when not every endpoint could be asked. */
const DOUBT_MS = 90_000
interface Calculation {
  readonly rewardEpochId: number
  readonly rows: ReadonlyMap<Address, StoredPasses[number]>
}

/** Registration out of the chain, eligibility out of the table of what is published. */
export function createProviderFacts({ db, chain }: { readonly db: Db; readonly chain: FspChain }) {
  /** Since when a registration is missing without every endpoint having said so. */
  const doubts = new Map<Address, Date>()

  /** The newest calculation about a reward epoch up to this one. */
  async function newest(upToEpoch: number): Promise<Calculation | undefined> {
    const found = await store.findPublication(db, PASSES, upToEpoch)
    return (
      found && {
        rewardEpochId: found.rewardEpochId,
        rows: new Map(StoredPasses.parse(found.data).map((row) => [row.voter, row])),
      }
    )
  }

  /** undefined while it is not sure. */
  function isRegistered(
    voter: Address,
    { voters, isSure }: Registrations,
    block: BlockRef,
  ): boolean | undefined {
    if (voters.has(voter) || isSure) {
      doubts.delete(voter)
      return voters.has(voter)
    }
    const since = doubts.get(voter)
    if (since === undefined) doubts.set(voter, block.at)
    return since !== undefined && block.at.getTime() - since.getTime() >= DOUBT_MS
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
      const known = await newest(rewardEpochId - 1)
      return voters.map((voter) => {
        const registered = isRegistered(voter, registrations, block)
        if (registered === undefined) return undefined
        const row = known?.rows.get(voter)
        return {
          rewardEpochId,
          isRegistered: registered,
          eligibility:
            known === undefined || row?.isEligible === null
              ? null
              : {
                  rewardEpochId: known.rewardEpochId,
                  isEligible: row?.isEligible ?? false,
                  passes: row?.passes ?? null,
                  failures: row?.failures ?? [],
                },
          name: row?.name ?? null,
        }
      })
    },

    /** Names that providers have in the last published calculation. */
    async names(): Promise<ReadonlyMap<Address, string>> {
      const known = await newest(EPOCH_MAX)
      const named = [...(known?.rows ?? [])].flatMap(([voter, { name }]) =>
        name === null ? [] : [[voter, name] as const],
      )
      return new Map(named)
    },
  }
}
