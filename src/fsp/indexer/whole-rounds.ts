/** Stored rounds with all of their providers, by which the failures of one are compared with those of the others. */
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { isSilenceImprobable } from '../protocol/fast-update-silence.ts'
import type { WholeRound } from '../protocol/other-providers.ts'
import { ROUND_CHECKS } from '../protocol/verdict.ts'
import type { ProviderObservation } from './observation-model.ts'
import type { RoundRecord } from './round-record.ts'
import * as store from './round-store.ts'

/** Number of rounds, the round of an observation included, in which a failure is compared. */
const COMPARED_ROUNDS = 20
/** Number of rounds that stay in memory: those of a long outage, and of the page of a backtest. */
const REMEMBERED = 256
/** The largest probability of a silence that a watch can ask for. */
const PROBABILITY_MAX = 0.1

const Silence = z.object({
  exponent: z.number(),
  blocksSinceUpdate: z.int(),
  onePercentBlocks: z.int(),
})
const Stored = z.object({ c: z.string().max(ROUND_CHECKS.length), f: z.unknown(), l: z.boolean() })

/** Whether a provider failed in a round, so that others can be compared with it. */
function hasFailed({ c = '', fastUpdates: part }: RoundRecord): boolean {
  if (c.includes('b')) return true
  if (part === undefined) return false
  const { exponent, blocksSinceUpdate, onePercentBlocks, tooLong } = part
  const isQuiet =
    isSilenceImprobable(exponent, PROBABILITY_MAX) || blocksSinceUpdate >= onePercentBlocks
  return isQuiet || tooLong !== undefined
}

/** Reads whole rounds. Each is read once, however many providers and watches it concerns: stored rounds never change. */
export interface WholeRounds {
  /**
   * The rounds up to each of these rounds, newest first, at most `COMPARED_ROUNDS` of them. A round that is not stored
   * is left out.
   */
  upTo(rounds: readonly number[]): Promise<ReadonlyMap<number, readonly WholeRound[]>>
}

/** Creates a reader that remembers the rounds that it has read last. */
export function createWholeRounds(db: Db): WholeRounds {
  /** Undefined for a round that is not stored: rounds are stored in their order, so it never will be. */
  const known = new Map<number, WholeRound | undefined>()
  return {
    async upTo(rounds) {
      const wanted = [...new Set(rounds.flatMap(comparedWith))]
      // Another call may forget rounds while this one reads.
      const held = new Map(
        wanted.flatMap((round) => (known.has(round) ? [[round, known.get(round)] as const] : [])),
      )
      const missing = wanted.filter((round) => !held.has(round))
      if (missing.length > 0) {
        const rows = await store.listComparedRecords(db, missing)
        const read = new Map(rows.map(({ round, providers }) => [round, recordsIn(providers)]))
        for (const round of missing) {
          const providers = read.get(round)
          const whole = providers && { round, providers }
          held.set(round, whole)
          known.set(round, whole)
        }
      }
      const found = new Map(
        rounds.map((last) => [last, comparedWith(last).flatMap((round) => held.get(round) ?? [])]),
      )
      for (const round of known.keys()) {
        if (known.size <= REMEMBERED) break
        known.delete(round)
      }
      return found
    },
  }
}

/** Rounds up to a round, newest first. */
function comparedWith(last: number): readonly number[] {
  return Array.from({ length: COMPARED_ROUNDS }, (_, back) => last - back)
}

/** A damaged record is left out: nothing is known of this provider. */
function recordsIn(providers: Readonly<Record<string, unknown>>): WholeRound['providers'] {
  return new Map(
    Object.entries(providers).flatMap(([voter, stored]) => {
      const record = Stored.safeParse(stored)
      if (!record.success) return []
      const { c: letters, f, l: isTooLong } = record.data
      const silence = Silence.safeParse(f)
      const compared = {
        letters,
        ...(silence.success && { silence: { ...silence.data, isTooLong } }),
      }
      return [[voter, compared] as const]
    }),
  )
}

/** Observations with the rounds that those of them are compared with in which the provider failed. */
export async function withWholeRounds(
  wholeRounds: WholeRounds,
  all: readonly { readonly observation: ProviderObservation; readonly record: RoundRecord }[],
): Promise<readonly ProviderObservation[]> {
  const failed = all.filter(({ record }) => hasFailed(record))
  if (failed.length === 0) return all.map(({ observation }) => observation)
  const rounds = [...new Set(failed.map(({ observation }) => observation.round))]
  const found = await wholeRounds.upTo(rounds)
  return all.map(({ observation, record }) => {
    const compared = hasFailed(record) ? found.get(observation.round) : undefined
    return compared === undefined ? observation : { ...observation, compared }
  })
}
