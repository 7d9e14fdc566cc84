import { type EpochSettings, roundAt, roundWindowsOf } from './epochs.ts'
import { FDC_PROTOCOL, FTSO_PROTOCOL } from './framing.ts'
import type { IndexedPolicy } from './policy.ts'
import { toRoundEvidence } from './round-contract.ts'
import {
  addSubmission,
  type OpenRound,
  openRound,
  type RoundEvidence,
  type SubmissionTransaction,
} from './round-evidence.ts'
import type { RoundResult } from './signatures.ts'

/** The data of one block that voting rounds need. Each list is in the order of transactions. */
export interface RoundBlock {
  readonly number: number
  /** Block time, epoch seconds. */
  readonly at: number
  /** Successful transactions to the current or a former Submission contract. */
  readonly submissions: readonly SubmissionTransaction[]
  /** Merkle roots that the current or the previous Relay contract finalised. */
  readonly finalised: readonly RoundResult[]
  /** Data of the FDC's attestation requests. */
  readonly requests: readonly string[]
  /** False if the content of the block could not be proven; its rounds are not judged then. Undefined counts as true. */
  readonly isSure?: boolean
}

/** Time without a block after which the chain counts as stopped, because no provider could submit. */
const STANDSTILL_SECONDS = 45

/** Collects blocks into voting rounds. */
export interface RoundCollector {
  /**
   * Adds the next block. No block may be left out.
   *
   * @returns the rounds that the block completes, oldest first
   */
  add(block: RoundBlock): readonly RoundEvidence[]
}

/**
 * Creates a collector, which sorts blocks into voting rounds and returns each round when it is complete. Long because
 * its inner functions share the open rounds.
 *
 * The round of the first block is left out, because its earlier blocks are unknown, and so are rounds with an uncertain
 * block and rounds in which the chain stood still. In memory are the current round, the one before, and the two
 * that follow, if a frame names them: a frame counts for the round that it names, up to two away from the current one.
 *
 * @param policyOf returns the policy of a round, or undefined if it is unknown; the round is then skipped
 */
export function createRoundCollector(
  clock: EpochSettings,
  policyOf: (round: number) => IndexedPolicy | undefined,
): RoundCollector {
  const open = new Map<number, OpenRound>()
  /** The first round that is collected; undefined before the first block. */
  let first: number | undefined
  let latest = -1
  let completeUpTo = -1
  let lastAt = Number.POSITIVE_INFINITY
  /** Rounds that are not judged, because the chain stood still or a block is uncertain. */
  const notJudged = new Set<number>()

  /** Marks rounds in which no block came for more than STANDSTILL_SECONDS. */
  function markStandstill(until: number): void {
    if (until - lastAt <= STANDSTILL_SECONDS) return
    for (let round = roundAt(clock, lastAt) - 1; round <= roundAt(clock, until); round += 1) {
      const { start, complete } = roundWindowsOf(clock, round)
      const seconds = Math.min(until, complete) - Math.max(lastAt, start)
      if (round > completeUpTo && seconds > STANDSTILL_SECONDS) notJudged.add(round)
    }
  }

  function findOrOpenRound(round: number): OpenRound | undefined {
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
      markStandstill(block.at)
      lastAt = block.at
      const complete: RoundEvidence[] = []
      while (roundWindowsOf(clock, completeUpTo + 1).complete <= block.at) {
        const evidence = findOrOpenRound(completeUpTo + 1)
        completeUpTo += 1
        if (evidence !== undefined && !notJudged.has(completeUpTo))
          complete.push(toRoundEvidence(evidence))
        open.delete(completeUpTo)
        notJudged.delete(completeUpTo)
      }
      // Opens rounds without submissions, too.
      for (; latest < current; latest += 1) findOrOpenRound(latest + 1)
      // The block may contain reveals and signatures of the previous round, so neither round is judged.
      if (block.isSure === false)
        for (const round of [current - 1, current]) {
          if (round > completeUpTo) notJudged.add(round)
        }
      for (const transaction of block.submissions) {
        addSubmission(clock, findOrOpenRound, transaction, block.at)
      }
      for (const result of block.finalised) {
        if (result.protocol !== FTSO_PROTOCOL && result.protocol !== FDC_PROTOCOL) continue
        const evidence = findOrOpenRound(result.round)
        if (evidence === undefined) continue
        evidence.finalised[result.protocol] ??= { ...result, at: block.at }
      }
      findOrOpenRound(current)?.requests.push(...block.requests)
      return complete
    },
  }
}
