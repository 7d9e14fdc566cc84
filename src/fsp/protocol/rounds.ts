import { type EpochClock, roundAt, windowsOf } from './epochs.ts'
import { FDC, FTSO } from './framing.ts'
import type { IndexedPolicy } from './policy.ts'
import { settleRound } from './round-contract.ts'
import {
  addSubmission,
  type OpenRound,
  openRound,
  type RoundEvidence,
  type SubmissionTransaction,
} from './round-evidence.ts'
import type { RoundResult } from './signatures.ts'

/** The parts of one block that voting rounds need, in the order of the chain. */
export interface RoundBlock {
  readonly number: number
  /** Block time, epoch seconds. */
  readonly at: number
  /** Successful transactions to the Submission contract, present or former. */
  readonly submissions: readonly SubmissionTransaction[]
  /** Results finalised by Relays of either generation. */
  readonly finalised: readonly RoundResult[]
  /** Data of the FDC's attestation requests. */
  readonly requests: readonly string[]
  /** false: endpoints contradict each other about this block. */
  readonly isSure?: boolean
}

/** Time without a block after which the chain counts as halted, and no provider could act. */
const STANDSTILL_SECONDS = 45

/** Collector of blocks into rounds. */
export interface RoundCollector {
  /**
   * Adds the next block, without gaps.
   *
   * @returns rounds that it completes, oldest first
   */
  add(block: RoundBlock): readonly RoundEvidence[]
}

/**
 * Sorts blocks into voting rounds and returns each round when it is over. Long because its inner functions
 * share the open rounds.
 *
 * Only complete rounds are returned: not those with a block missing or uncertain, nor those in which the
 * chain halted. Holds two to three rounds at a time.
 *
 * @param policyOf the policy of a round; undefined where none is known: such a round is skipped
 */
export function collectRounds(
  clock: EpochClock,
  policyOf: (round: number) => IndexedPolicy | undefined,
): RoundCollector {
  const open = new Map<number, OpenRound>()
  /** The first round that is seen from its start; undefined before the first block. */
  let first: number | undefined
  let latest = -1
  let completeUpTo = -1
  let lastAt = Number.POSITIVE_INFINITY
  /** Rounds that are not judged: the chain halted, or a block is uncertain. */
  const halted = new Set<number>()

  /** Marks the rounds between two blocks. */
  function recordGap(until: number): void {
    if (until - lastAt <= STANDSTILL_SECONDS) return
    for (let round = roundAt(clock, lastAt) - 1; round <= roundAt(clock, until); round += 1) {
      const { start, complete } = windowsOf(clock, round)
      const seconds = Math.min(until, complete) - Math.max(lastAt, start)
      if (round > completeUpTo && seconds > STANDSTILL_SECONDS) halted.add(round)
    }
  }

  function roundOf(round: number): OpenRound | undefined {
    const known = open.get(round)
    if (known !== undefined) return known
    if (first === undefined || round < first || round <= completeUpTo) return undefined
    const policy = policyOf(round)
    if (policy === undefined) return undefined
    const evidence = openRound(round, policy)
    open.set(round, evidence)
    return evidence
  }

  return {
    add(block) {
      const current = roundAt(clock, block.at)
      if (first === undefined) {
        first = current + 1
        latest = current
        completeUpTo = current
      }
      recordGap(block.at)
      lastAt = block.at
      const complete: RoundEvidence[] = []
      while (windowsOf(clock, completeUpTo + 1).complete <= block.at) {
        const evidence = roundOf(completeUpTo + 1)
        completeUpTo += 1
        if (evidence !== undefined && !halted.has(completeUpTo))
          complete.push(settleRound(evidence))
        open.delete(completeUpTo)
        halted.delete(completeUpTo)
      }
      for (; latest < current; latest += 1) roundOf(latest + 1)
      // A block belongs to its own round, and to the reveals and signatures of the previous one.
      if (block.isSure === false)
        for (const round of [current - 1, current]) {
          if (round > completeUpTo) halted.add(round)
        }
      for (const transaction of block.submissions) {
        addSubmission(clock, roundOf, transaction, block.at)
      }
      for (const result of block.finalised) {
        if (result.protocol !== FTSO && result.protocol !== FDC) continue
        const evidence = roundOf(result.round)
        if (evidence === undefined) continue
        evidence.finalised[result.protocol] ??= { ...result, at: block.at }
      }
      roundOf(current)?.requests.push(...block.requests)
      return complete
    },
  }
}
