import { z } from 'zod'
import type { BlockRef, Chain } from '#src/chain/chain.ts'
import type { Registrations } from '#src/chain/fsp/system.ts'
import type { Published } from '#src/chain/published.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { Address } from '#src/kernel/units.ts'
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
export interface ProviderStanding {
  /** The reward epoch in force. */
  readonly rewardEpochId: number
  readonly isRegistered: boolean
  /** null: nothing has been published yet that could say. */
  readonly eligibility: Eligibility | null
  readonly name: string | null
}

/**
 * `passes.json`: one row for each provider that had a part in the reward epoch.
 *
 * @see protocol reference, 9.1
 */
const Passes = z
  .array(
    z.looseObject({
      rewardEpochId: z.coerce.number().int(),
      voterAddress: Address,
      eligibleForReward: z.boolean(),
      passes: z.number().nullish(),
      dataProviderName: z.string().nullish(),
      failures: z.array(z.looseObject({ failureId: z.string() })).nullish(),
    }),
  )
  .min(1)

/** The same as it is kept. */
const Kept = z.array(
  z.object({
    voter: Address,
    isEligible: z.boolean(),
    passes: z.number().nullable(),
    name: z.string().nullable(),
    failures: z.array(z.string()),
  }),
)
type Kept = z.output<typeof Kept>

const KIND = 'passes'
/** Time between two looks for a newer calculation, in milliseconds. */
const LOOK_MS = 10 * 60_000
/** How far back the last published one is looked for at first, in reward epochs. */
const EPOCHS_BACK = 4
/** So long a registration must be missing, on the chain, when not every endpoint could be asked. */
const DOUBT_MS = 90_000
const NAME_LENGTH_MAX = 40

interface Calculation {
  readonly rewardEpochId: number
  readonly rows: ReadonlyMap<Address, Kept[number]>
}

/** Registration out of the chain, eligibility out of what is published. */
export function createProviderFacts({
  db,
  chain,
  clock,
  published,
  datasetUrl,
}: {
  readonly db: Db
  readonly chain: Chain
  readonly clock: Clock
  readonly published: Published
  readonly datasetUrl: string | undefined
}) {
  let calculation: Calculation | undefined
  let lookAtMs = 0
  /** Since when a registration is missing without every endpoint having said so. */
  const doubts = new Map<Address, Date>()

  async function lookForNewer(
    current: number,
    block: BlockRef,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (datasetUrl === undefined) return
    const known = await store.findPublication(db, KIND, current - 1)
    const first = Math.max(0, known?.rewardEpochId ?? current - EPOCHS_BACK)
    for (let epoch = current - 1; epoch >= first; epoch--) {
      const url = datasetUrl.replaceAll('{epoch}', `${epoch}`)
      const rows = await published.read(url, Passes, signal)
      // A calculation of another reward epoch under this address is none.
      if (rows === undefined || rows.some(({ rewardEpochId }) => rewardEpochId !== epoch)) continue
      const data = z.encode(Kept, rows.map(toKept))
      await store.savePublication(db, {
        kind: KIND,
        rewardEpochId: epoch,
        data,
        seenAt: block.at,
      })
      return
    }
  }

  async function newest(
    current: number,
    block: BlockRef,
    signal: AbortSignal | undefined,
  ): Promise<Calculation | undefined> {
    const nowMs = clock.now().getTime()
    if (nowMs < lookAtMs) return calculation
    await lookForNewer(current, block, signal)
    const found = await store.findPublication(db, KIND, current - 1)
    calculation = found && {
      rewardEpochId: found.rewardEpochId,
      rows: new Map(Kept.parse(found.data).map((row) => [row.voter, row])),
    }
    lookAtMs = nowMs + LOOK_MS
    return calculation
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
    async standings(
      voters: readonly Address[],
      block: BlockRef,
      signal?: AbortSignal,
    ): Promise<readonly (ProviderStanding | undefined)[]> {
      const registrations = await chain.protocol.registrations(block, voters, signal)
      if (registrations === undefined || registrations.voters.size === 0) {
        return voters.map(() => undefined)
      }
      const { rewardEpochId } = registrations
      const known = await newest(rewardEpochId, block, signal)
      return voters.map((voter) => {
        const registered = isRegistered(voter, registrations, block)
        if (registered === undefined) return undefined
        const row = known?.rows.get(voter)
        return {
          rewardEpochId,
          isRegistered: registered,
          eligibility:
            known === undefined
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
    async names(block: BlockRef, signal?: AbortSignal): Promise<ReadonlyMap<Address, string>> {
      const current = await chain.protocol.rewardEpoch(block, signal)
      const known = current === undefined ? undefined : await newest(current, block, signal)
      const named = [...(known?.rows ?? [])].flatMap(([voter, { name }]) =>
        name === null ? [] : [[voter, name] as const],
      )
      return new Map(named)
    },
  }
}

function toKept(row: z.output<typeof Passes>[number]): Kept[number] {
  return {
    voter: row.voterAddress,
    isEligible: row.eligibleForReward,
    passes: row.passes ?? null,
    name: row.dataProviderName?.slice(0, NAME_LENGTH_MAX) ?? null,
    failures: (row.failures ?? []).map(({ failureId }) => failureId),
  }
}
