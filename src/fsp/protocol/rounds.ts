import { type EpochClock, roundAt, windowsOf } from './epochs.ts'
import { FDC, FTSO } from './framing.ts'
import type { IndexedPolicy } from './policy.ts'
import {
  addSubmission,
  emptyRound,
  type RoundEvidence,
  type SubmissionTransaction,
} from './round-evidence.ts'
import type { RoundResult } from './signatures.ts'

/** One block as far as voting rounds are concerned, everything in the order of the chain. */
export interface RoundBlock {
  readonly number: number
  /** Block time, epoch seconds. */
  readonly at: number
  /** Successful transactions to the Submission contract. */
  readonly submissions: readonly SubmissionTransaction[]
  /** What Relays of either generation took. */
  readonly finalised: readonly RoundResult[]
  /** Data of the FDC's attestation requests. */
  readonly requests: readonly string[]
  /** false: endpoints contradict each other about this block. */
  readonly isSure?: boolean
}

/** Without a block for longer than that the chain stood still, and nobody could do anything. */
const STANDSTILL_SECONDS = 45

/** Collects blocks into rounds. */
export interface RoundCollector {
  /**
   * Takes the next block; blocks come without a gap.
   *
   * @returns rounds that are complete with it, oldest first
   */
  add(block: RoundBlock): readonly RoundEvidence[]
}

/**
 * Sorts blocks into voting rounds and hands each round out when it is over.
 *
 * Only rounds that were seen from before their beginning are handed out: nothing is said of a round
 * with a block missing or not sure, nor of one during which the chain stood still. Holds two to three rounds at a
 * time.
 *
 * @param policyOf the policy of a round; undefined where none is known: such a round is passed over
 */
export function collectRounds(
  clock: EpochClock,
  policyOf: (round: number) => IndexedPolicy | undefined,
): RoundCollector {
  const open = new Map<number, RoundEvidence>()
  /** The first round every block of which is seen; undefined before the first block. */
  let first: number | undefined
  let latest = -1
  let completeUpTo = -1
  let lastAt = Number.POSITIVE_INFINITY
  /** Rounds of which nothing is said: the chain stood still, or a block is not sure. */
  const halted = new Set<number>()

  /** Notes which rounds lie in the time between two blocks. */
  function recordGap(until: number): void {
    if (until - lastAt <= STANDSTILL_SECONDS) return
    for (let round = roundAt(clock, lastAt) - 1; round <= roundAt(clock, until); round += 1) {
      const { start, complete } = windowsOf(clock, round)
      const seconds = Math.min(until, complete) - Math.max(lastAt, start)
      if (round > completeUpTo && seconds > STANDSTILL_SECONDS) halted.add(round)
    }
  }

  function roundOf(round: number): RoundEvidence | undefined {
    const known = open.get(round)
    if (known !== undefined) return known
    if (first === undefined || round < first || round <= completeUpTo) return undefined
    const policy = policyOf(round)
    if (policy === undefined) return undefined
    const evidence = emptyRound(round, policy)
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
        if (evidence !== undefined && !halted.has(completeUpTo)) complete.push(evidence)
        open.delete(completeUpTo)
        halted.delete(completeUpTo)
      }
      for (; latest < current; latest += 1) roundOf(latest + 1)
      // A block belongs to its own round, and to the reveals and signatures of the one before.
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
