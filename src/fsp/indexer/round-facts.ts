import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlockRef } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { DailyCounts } from './daily-counts.ts'
import { deleteOldCounts, listDailyCounts } from './daily-store.ts'
import type { EpochPart, ProviderObservation } from './observation-model.ts'
import { createRoundIndexer, type RoundIndexer } from './round-indexer.ts'
import { checksInRecord, RoundRecord } from './round-record.ts'
import type { RoundSource } from './round-session.ts'
import * as store from './round-store.ts'
import { createWholeRounds, withWholeRounds } from './whole-rounds.ts'

/** Stored rounds, for watches and pages. */
export interface RoundFacts extends RoundIndexer {
  /** Last block whose rounds are stored; undefined before the first round. */
  indexedBlock(): Promise<BlockRef | undefined>
  /**
   * Observations of each provider in the rounds completed in a span, oldest first; of a newly watched
   * provider only the newest observation, marked as past.
   */
  observations(
    requests: readonly { readonly provider: Address; readonly isNew: boolean }[],
    span: { readonly after: number | null; readonly upTo: number },
  ): Promise<readonly (readonly ProviderObservation[])[]>
  /**
   * Observations of a provider in the rounds completed between two times, oldest first, in pages; the first
   * observation is marked as past. `isWhole`: whether all rounds have the parts that are stored only for
   * watched providers.
   */
  history(
    provider: Address,
    span: { readonly from: Date; readonly to: Date },
  ): AsyncIterable<{
    readonly observations: readonly ProviderObservation[]
    readonly isWhole: boolean
  }>
  /** The newest rounds of a provider, newest first; up to a round, or of those that had begun at a time, if given. */
  newest(
    provider: Address,
    limit: number,
    until?: Date | number,
  ): Promise<readonly ProviderObservation[]>
  /** Verdicts of a provider in the stored rounds that began in a span, oldest first, without values. */
  verdictsBetween(
    provider: Address,
    span: { readonly from: Date; readonly to: Date },
  ): Promise<readonly { readonly startsAt: Date; readonly checks: RoundVerdicts }[]>
  /** Verdicts of every provider in the stored rounds among the newest `range` ids, newest first, without values. */
  verdictsOfAll(range: number): Promise<ReadonlyMap<Address, readonly RoundVerdicts[]>>
  /** A provider's published rewards of the newest reward epochs that have any, newest first. */
  rewards(provider: Address, limit: number): Promise<readonly EpochReward[]>
  /**
   * Counts over the last `days` days up to the newest stored one, by provider; of these providers only, if given.
   * Providers without a known round are left out.
   */
  dailyCounts(
    days: number,
    providers?: readonly Address[],
  ): Promise<ReadonlyMap<Address, DailyCounts>>
  prune(): Promise<void>
}

/** A provider's own published rewards of a reward epoch, and the part that is not claimed yet. */
export interface EpochReward {
  readonly rewardEpoch: number
  readonly amountWei: bigint
  readonly waitingWei: bigint
}

/** Verdicts of a round; null for a provider that was not in the signing policy. */
type RoundVerdicts = ReturnType<typeof checksInRecord>

/** Number of rounds that are stored: two reward epochs. */
const ROUNDS_KEPT = 2 * 3360
/**
 * Number of records that are decoded before control returns to the event loop: about ten milliseconds of
 * work.
 */
const RECORDS_PER_TURN = 200

/**
 * Current and former addresses of the protocol's contracts, by registry name, as stored with the last
 * round.
 *
 * @param formerSubmissions further addresses of Submission, from the configuration
 */
export async function storedContracts(
  db: Db,
  formerSubmissions: readonly Address[],
): Promise<Readonly<Record<string, readonly Address[]>>> {
  const stored = await store.listContracts(db)
  return { ...stored, Submission: [...(stored['Submission'] ?? []), ...formerSubmissions] }
}

/**
 * Creates the reader and store of voting rounds. Long because live reads, history and rewards share the
 * source and its state.
 */
export function createRoundFacts(source: RoundSource): RoundFacts {
  const { db } = source
  const wholeRounds = createWholeRounds(db)
  return {
    ...createRoundIndexer(source),
    indexedBlock: () => store.findIndexedBlock(db),
    async observations(requests, { after, upTo }) {
      const voters = requests.map(({ provider }) => provider)
      const rows = after === null ? [] : await store.listRounds(db, voters, { after, upTo })
      const needsNewest = after === null || requests.some(({ isNew }) => isNew)
      const newest = needsNewest ? await store.listNewestRounds(db, voters, 1, { upTo }) : []
      const observations: (readonly ProviderObservation[])[] = []
      let read = 0
      for (const { provider, isNew } of requests) {
        if (isNew || after === null) {
          observations.push(
            newest.map((row) => ({ ...observationOf(row, provider), isPast: true as const })),
          )
          continue
        }
        const own: Observed[] = []
        for (const row of rows) {
          own.push(...observationsOf(row, provider))
          read += 1
          if (read % RECORDS_PER_TURN === 0) await nextTurn()
        }
        observations.push(await withWholeRounds(wholeRounds, own))
      }
      return observations
    },
    async *history(provider, span) {
      let previous: store.RoundWithProviders | undefined
      for (;;) {
        const after = previous?.round ?? -1
        const rows = await store.listRoundsBetween(
          db,
          provider,
          { ...span, after },
          RECORDS_PER_TURN,
        )
        if (rows.length === 0) return
        const own: Observed[] = []
        for (const row of rows) {
          if (previous === undefined) {
            own.push({
              record: { c: '' },
              observation: { ...observationOf(row, provider), isPast: true },
            })
          } else own.push(...observationsOf(row, provider))
          previous = row
        }
        const observations = await withWholeRounds(wholeRounds, own)
        const isWhole = observations.every(
          ({ isBetween, policy }) => isBetween === true || policy !== null,
        )
        yield { observations, isWhole }
        await nextTurn()
      }
    },
    async newest(provider, limit, until) {
      const rows = await store.listNewestRounds(db, [provider], limit, { until })
      const [last, ...earlier] = rows.map((row) => observedRound(row, provider))
      const newest = await withWholeRounds(wholeRounds, last === undefined ? [] : [last])
      return [...newest, ...earlier.map(({ observation }) => observation)]
    },
    async verdictsBetween(provider, span) {
      const rows = await store.listLettersBetween(db, provider, span)
      const rounds: { startsAt: Date; checks: RoundVerdicts }[] = []
      for (const [index, { startsAt, letters }] of rows.entries()) {
        if (index % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await nextTurn()
        rounds.push({ startsAt, checks: checksInRecord(letters === null ? {} : { c: letters }) })
      }
      return rounds
    },
    async verdictsOfAll(range) {
      const verdicts = new Map<Address, RoundVerdicts[]>()
      const rows = await store.listVerdictLetters(db, range)
      for (const [index, { voter, letters }] of rows.entries()) {
        if (index % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await nextTurn()
        const ownVerdicts = verdicts.get(voter) ?? []
        ownVerdicts.push(checksInRecord({ c: letters }))
        verdicts.set(voter, ownVerdicts)
      }
      return verdicts
    },
    rewards: (provider, limit) => store.listPublishedRewards(db, provider, limit),
    dailyCounts: (days, providers) => listDailyCounts(db, days, providers),
    async prune() {
      await deleteOldCounts(db)
      const [last] = await store.listNewestRounds(db, [], 1)
      if (last !== undefined) await store.deleteRounds(db, last.round - ROUNDS_KEPT)
    },
  }
}

/** An observation, and the record of its round; an empty one where the round is not judged. */
interface Observed {
  readonly observation: ProviderObservation
  readonly record: RoundRecord
}

/** The observations between the previous round and a round, then the observation of the round. */
function observationsOf(row: store.RoundWithProviders, provider: Address): readonly Observed[] {
  const round = observedRound(row, provider)
  const { observation, record } = round
  const { epoch: _epoch, ...rest } = observation
  const { between = [] } = record
  const moments = between
    .filter(({ block }) => block < observation.position)
    .map(({ block, at, registration, fastUpdates }) => ({
      record: { c: '' },
      observation: {
        ...rest,
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
        earnings: null,
        isBetween: true as const,
      },
    }))
  return [...moments, round]
}

/** A damaged record says nothing: its verdicts are unknown, and the other providers' records are read. */
function recordIn({ providers }: store.RoundWithProviders, provider: Address): RoundRecord {
  return RoundRecord.safeParse(providers[provider] ?? {}).data ?? { c: '' }
}

function observationOf(row: store.RoundWithProviders, provider: Address): ProviderObservation {
  return observedRound(row, provider).observation
}

function observedRound(row: store.RoundWithProviders, provider: Address): Observed {
  const record = recordIn(row, provider)
  return { observation: observedIn(row, provider, record), record }
}

function observedIn(
  row: store.RoundWithProviders,
  provider: Address,
  record: RoundRecord,
): ProviderObservation {
  return {
    position: row.blockNumber,
    at: row.blockAt,
    provider,
    round: row.round,
    startsAt: row.startsAt.getTime() / 1000,
    rewardEpoch: row.rewardEpoch,
    addresses: record.addresses ?? null,
    checks: checksInRecord(record),
    anchors: record.a === undefined ? null : { hits: record.a[0], possible: record.a[1] },
    policy: record.policy ?? null,
    registration: record.registration ?? null,
    fastUpdates: record.fastUpdates ?? null,
    transactions: record.transactions ?? [],
    balances: record.balances ?? null,
    nodes: record.nodes ?? null,
    rewards: record.rewards ?? null,
    earnings: record.earnings ?? null,
    ...(record.e && { epoch: epochIn(record.e) }),
  }
}

function epochIn([span, anchors, fdc, ofUpdates]: NonNullable<RoundRecord['e']>): EpochPart {
  const [firstRound, endRound, judged] = span
  const [updates, updatesOfAll, weight] = ofUpdates
  const casesIn = ([done, possible, rounds]: typeof anchors) => ({ done, possible, rounds })
  return {
    ...{ firstRound, endRound, judged, updates, updatesOfAll, weightShare: weight / 1_000_000 },
    ...{ anchors: casesIn(anchors), fdc: casesIn(fdc) },
  }
}
