/** Counts of the reward epoch in force: the part of the carried state by which its minimal conditions are judged. */
import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { AccountOwners } from './account-owners.ts'
import { keepVoters } from './by-voter.ts'
import { checksInRecord, type EpochRecord, type RoundRecord } from './round-record.ts'

/** Fulfilled cases, possible cases, and rounds with evidence. */
const Counted = z.tuple([z.int(), z.int(), z.int()])

export const EpochState = z.object({
  /** Counts since the first judged round of a reward epoch; null before the first one. */
  epochCounts: z
    .object({
      rewardEpoch: z.int(),
      /** The last counted round. A round that is judged again is not counted again. */
      round: z.int(),
      /** Judged rounds. */
      judged: z.int(),
      /** Accepted fast updates of all providers. */
      updates: z.int(),
      /** By identity: prices, rounds of the FDC, and number of accepted fast updates. */
      providers: z.record(Address, z.object({ anchors: Counted, fdc: Counted, updates: z.int() })),
    })
    .nullable(),
  /** By identity: accepted fast updates since the last judged round. */
  recentUpdates: z.record(Address, z.int()),
})
export type EpochState = z.output<typeof EpochState>

/** State before the first block. */
export const EMPTY_EPOCH: EpochState = { epochCounts: null, recentUpdates: {} }

/** Adds a block: its accepted fast updates. */
export function nextEpochUpdates(
  state: EpochState,
  block: ProtocolBlock,
  owners: AccountOwners,
): void {
  for (const { signingPolicy } of block.fastUpdates) {
    const voter = owners.bySigningPolicy.get(signingPolicy)
    if (voter !== undefined) state.recentUpdates[voter] = (state.recentUpdates[voter] ?? 0) + 1
  }
}

/** What is counted of a round. */
interface CountedRound {
  readonly round: number
  readonly rewardEpoch: number
  /** First round of the reward epoch, and the expected first round of the next. */
  readonly firstRound: number
  readonly endRound: number
  /** Shares of the weight in the signing policy, by identity. */
  readonly weights: ReadonlyMap<Address, number>
}

const MILLION = 1_000_000

/**
 * Adds a judged round to the counts of its reward epoch. Fast updates count to the reward epoch of the round that is
 * judged after them: those of the last two rounds before an epoch count to the epoch, for all providers alike.
 *
 * @returns the counts up to the round, by identity; of a round before the last counted one none
 */
export function countRound(
  state: EpochState,
  records: ReadonlyMap<Address, RoundRecord>,
  { round, rewardEpoch, firstRound, endRound, weights }: CountedRound,
): ReadonlyMap<Address, EpochRecord> {
  const before = state.epochCounts
  if (before !== null && round <= before.round) return new Map()
  const isSame = before?.rewardEpoch === rewardEpoch
  const counts = isSame
    ? { ...before, round, judged: before.judged + 1 }
    : { rewardEpoch, round, judged: 1, updates: 0, providers: {} }
  state.epochCounts = counts
  const recent = Object.values(state.recentUpdates)
  counts.updates += recent.reduce((sum, updates) => sum + updates, 0)
  const all = new Map<Address, EpochRecord>()
  for (const [voter, record] of records) {
    const own = counts.providers[voter] ?? { anchors: [0, 0, 0], fdc: [0, 0, 0], updates: 0 }
    const anchors = sumOf(own.anchors, anchorsIn(record))
    const fdc = sumOf(own.fdc, participationIn(record))
    const updates = own.updates + (state.recentUpdates[voter] ?? 0)
    counts.providers[voter] = { anchors, fdc, updates }
    const span: Counts = [firstRound, endRound, counts.judged]
    const weight = Math.round((weights.get(voter) ?? 0) * MILLION)
    all.set(voter, [span, anchors, fdc, [updates, counts.updates, weight]])
  }
  state.recentUpdates = {}
  return all
}

type Counts = z.output<typeof Counted>

function sumOf([a, b, c]: Counts, [d, e, f]: Counts): Counts {
  return [a + d, b + e, c + f]
}

/** Prices near the median, and feeds with a median, in one round; nothing without evidence. */
function anchorsIn({ a }: RoundRecord): Counts {
  return a === undefined ? [0, 0, 0] : [...a, 1]
}

/** Whether a provider took part in a round of the FDC; in a round without requests there is no case. */
function participationIn(record: RoundRecord): Counts {
  const checks = checksInRecord(record)
  const verdicts = [checks?.bitVote.verdict, checks?.fdcSignature.verdict]
  if (verdicts.some((verdict) => verdict === undefined || verdict === 'unknown')) return [0, 0, 0]
  if (verdicts.includes('not-applicable')) return [0, 0, 1]
  return [verdicts.every((verdict) => verdict === 'good') ? 1 : 0, 1, 1]
}

/** Deletes the counts of providers that are in no known signing policy. */
export function forgetEpochCounts(state: EpochState, members: ReadonlySet<Address>): void {
  keepVoters(state.recentUpdates, members)
  if (state.epochCounts !== null) keepVoters(state.epochCounts.providers, members)
}
