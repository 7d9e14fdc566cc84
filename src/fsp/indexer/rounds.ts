import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { ProviderObservation } from './observation.ts'
import { createRoundKeeper, type RoundKeeper } from './round-keeper.ts'
import { checksOf, RoundRecord } from './round-record.ts'
import type { RoundSource } from './round-session.ts'
import * as store from './round-store.ts'

/** Kept rounds as watches and pages need them. */
export interface RoundFacts extends RoundKeeper {
  /** How far rounds are known, and since when nothing can be read; undefined before the first. */
  reach(): Promise<{ readonly block: number; readonly failingSince: Date | null } | undefined>
  /**
   * Per provider, what was seen of it in the rounds completed in a span, oldest first; of one that was
   * never looked at only the newest, which was over by then.
   */
  observations(
    looks: readonly { readonly provider: Address; readonly isNew: boolean }[],
    span: { readonly after: number | null; readonly upTo: number },
  ): Promise<readonly (readonly ProviderObservation[])[]>
  /** The newest rounds of a provider, newest first. */
  newest(provider: Address, limit: number): Promise<readonly ProviderObservation[]>
  prune(): Promise<void>
}

/** Rounds kept: two reward epochs. */
const ROUNDS_KEPT = 2 * 3360
/** Records decoded before other work of the process has its turn: some ten milliseconds of work. */
const RECORDS_PER_TURN = 200

/** Addresses that contracts of the protocol have or had, by registry name, as stored with the last round. */
export function storedContracts(db: Db): Promise<Readonly<Record<string, readonly Address[]>>> {
  return store.listContracts(db)
}

/** Reads, keeps and gives voting rounds. */
export function createRoundFacts(source: RoundSource): RoundFacts {
  const { db } = source
  return {
    ...createRoundKeeper(source),
    async reach() {
      const progress = await store.findProgress(db)
      return progress && { block: progress.blockNumber, failingSince: progress.failingSince }
    },
    async observations(looks, { after, upTo }) {
      const voters = looks.map(({ provider }) => provider)
      const rows = after === null ? [] : await store.listRounds(db, voters, { after, upTo })
      const needsNewest = after === null || looks.some(({ isNew }) => isNew)
      const newest = needsNewest ? await store.listNewest(db, voters, 1, upTo) : []
      const found: ProviderObservation[][] = []
      let read = 0
      for (const { provider, isNew } of looks) {
        if (isNew || after === null) {
          found.push(
            newest.map((row) => ({ ...observationOf(row, provider), isPast: true as const })),
          )
          continue
        }
        const own: ProviderObservation[] = []
        for (const row of rows) {
          own.push(...observationsOf(row, provider, after))
          read += 1
          if (read % RECORDS_PER_TURN === 0) await nextTurn()
        }
        found.push(own)
      }
      return found
    },
    async newest(provider, limit) {
      const rows = await store.listNewest(db, [provider], limit)
      return rows.map((row) => observationOf(row, provider))
    },
    async prune() {
      const [last] = await store.listNewest(db, [], 1)
      if (last !== undefined) await store.deleteRounds(db, last.round - ROUNDS_KEPT)
    },
  }
}

/** The round, after what ended since the round before it. */
function observationsOf(
  row: store.ProvidersRow,
  provider: Address,
  after: number,
): readonly ProviderObservation[] {
  const round = observationOf(row, provider)
  const { between = [] } = RoundRecord.parse(row.providers[provider] ?? {})
  const moments = between
    .filter(({ block }) => block > after && block < round.position)
    .map(({ block, at, registration, fastUpdates }) => ({
      ...round,
      position: block,
      at: new Date(at * 1000),
      checks: null,
      anchors: null,
      policy: null,
      registration: registration ?? null,
      fastUpdates: fastUpdates ?? null,
      transactions: [],
      balances: null,
      nodes: null,
      rewards: null,
      isBetween: true as const,
    }))
  return [...moments, round]
}

function observationOf(row: store.ProvidersRow, provider: Address): ProviderObservation {
  const record = RoundRecord.parse(row.providers[provider] ?? {})
  return {
    position: row.blockNumber,
    at: row.blockAt,
    provider,
    round: row.round,
    startsAt: row.startsAt.getTime() / 1000,
    rewardEpoch: row.rewardEpoch,
    addresses: record.addresses ?? null,
    checks: checksOf(record),
    anchors: record.a === undefined ? null : { hits: record.a[0], possible: record.a[1] },
    policy: record.policy ?? null,
    registration: record.registration ?? null,
    fastUpdates: record.fastUpdates ?? null,
    transactions: record.transactions ?? [],
    balances: record.balances ?? null,
    nodes: record.nodes ?? null,
    rewards: record.rewards ?? null,
  }
}
