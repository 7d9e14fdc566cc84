import { type EpochSettings, roundAt, roundWindowsOf } from './epochs.ts'
import {
  decodeSubmission,
  FDC_PROTOCOL,
  type Frame,
  FTSO_PROTOCOL,
  type SubmitFunction,
} from './framing.ts'
import type { IndexedPolicy } from './policy.ts'
import type { RoundResult } from './signatures.ts'

/**
 * Evidence of one voting round: submissions, requests to the FDC and finalised results, not judged yet.
 * `judge-round.ts` judges the evidence when the round is complete.
 */

/** A frame with its transaction. */
export interface SentFrame {
  readonly payload: Uint8Array
  readonly tx: string
  /** Block time, epoch seconds. */
  readonly at: number
  /** Address of the Submission contract, lower case. */
  readonly to: string
}

/** The last frame of each timing: early, in time, late; of one protocol in one function. */
export interface FramesByTiming {
  inTime?: SentFrame
  early?: SentFrame
  late?: SentFrame
}

/** Submissions of one provider for one round. */
export interface ProviderEvidence {
  readonly commit: FramesByTiming
  /** A frame of the FDC in submit1, which the protocol ignores. */
  strayCommit?: SentFrame
  readonly reveal: FramesByTiming
  readonly bitVote: FramesByTiming
  /** Every signature in time, in the order of the chain, by protocol. */
  readonly signatures: Readonly<Record<typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL, SentFrame[]>>
  readonly earlySignature: Partial<Record<typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL, SentFrame>>
  /**
   * FDC signatures between the end of the round and the end of its reveals. They are neither required nor
   * an offence.
   */
  readonly signaturesWithReveals: SentFrame[]
}

/** A result that the Relay finalised. */
export interface FinalisedResult extends RoundResult {
  /** Block time of the first finalisation, epoch seconds. */
  readonly at: number
}

/** Submissions to one contract, by index in the policy; absent if a provider submitted nothing. */
export type Submissions = ReadonlyMap<number, ProviderEvidence>

/** Data of a round besides submissions. */
interface RoundParts {
  readonly round: number
  readonly policy: IndexedPolicy
  /** Data of the attestation requests in order, not merged yet. */
  readonly requests: string[]
  readonly finalised: Partial<Record<typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL, FinalisedResult>>
}

/** A round while its blocks are read. */
export interface OpenRound extends RoundParts {
  /** Submissions by the address of the Submission contract, current or former. */
  readonly contracts: Map<string, Map<number, ProviderEvidence>>
}

/** Evidence of one complete round. */
export interface RoundEvidence extends RoundParts {
  /** Submissions to the contract of the round. */
  readonly providers: Submissions
  /** Submissions to another Submission contract, which the protocol ignores. */
  readonly elsewhere: Submissions
  /** The Submission contract of the round by function; absent where nobody submitted. */
  readonly contractOf: Partial<Record<SubmitFunction, string>>
}

/** The fields of a transaction that submissions need. Addresses and data are as the node returns them. */
export interface SubmissionTransaction {
  readonly hash: string
  readonly from: string
  readonly to: string
  readonly input: string
}

/** Creates a round before its first block. */
export function openRound(round: number, policy: IndexedPolicy): OpenRound {
  return { round, policy, contracts: new Map(), requests: [], finalised: {} }
}

/**
 * Adds a successful transaction to a current or former Submission contract. Frames count for the round that
 * they name, at any time.
 *
 * @param at block time, epoch seconds
 * @param roundOf evidence of a round; undefined for rounds that are not being collected
 */
export function addSubmission(
  clock: EpochSettings,
  roundOf: (round: number) => OpenRound | undefined,
  { hash, from, to, input }: SubmissionTransaction,
  at: number,
): void {
  const submission = decodeSubmission(input)
  if (submission === undefined) return
  const contract = to.toLowerCase()
  for (const frame of submission.frames) {
    if (frame.protocol !== FTSO_PROTOCOL && frame.protocol !== FDC_PROTOCOL) continue
    const isStray = submission.function === 'submit1' && frame.protocol === FDC_PROTOCOL
    const current = roundAt(clock, at)
    // A frame that names a distant round was not meant for the current round. A stray commit counts,
    // whatever round it names.
    const named = Math.abs(frame.round - current) > 2 ? undefined : roundOf(frame.round)
    const evidence = named ?? (isStray ? roundOf(current) : undefined)
    if (evidence === undefined) continue
    const { bySubmit, bySubmitSignatures } = evidence.policy
    const isSignature = submission.function === 'submitSignatures'
    const index = (isSignature ? bySubmitSignatures : bySubmit).get(from.toLowerCase())
    if (index === undefined) continue
    const submissions = evidence.contracts.get(contract) ?? new Map<number, ProviderEvidence>()
    evidence.contracts.set(contract, submissions)
    const provider = submissions.get(index) ?? emptyProviderEvidence()
    submissions.set(index, provider)
    const sent = { payload: frame.payload, tx: hash, at, to: contract }
    const windows = roundWindowsOf(clock, frame.round)
    if (submission.function === 'submit1') {
      if (isStray) provider.strayCommit = sent
      else sortIn(provider.commit, sent, windows.start, windows.end)
    } else if (submission.function === 'submit2') {
      sortIn(framesOfSubmit2(provider, frame), sent, windows.end, windows.revealEnd)
    } else if (at < windows.revealEnd) {
      provider.earlySignature[frame.protocol] = sent
      if (frame.protocol === FDC_PROTOCOL && at >= windows.end)
        provider.signaturesWithReveals.push(sent)
    } else if (at < windows.complete) {
      provider.signatures[frame.protocol].push(sent)
    }
  }
}

function framesOfSubmit2(provider: ProviderEvidence, frame: Frame): FramesByTiming {
  return frame.protocol === FTSO_PROTOCOL ? provider.reveal : provider.bitVote
}

function sortIn(seen: FramesByTiming, sent: SentFrame, from: number, to: number): void {
  if (sent.at < from) seen.early = sent
  else if (sent.at < to) seen.inTime = sent
  else seen.late = sent
}

/** The evidence of a provider without submissions. */
export function emptyProviderEvidence(): ProviderEvidence {
  return {
    commit: {},
    reveal: {},
    bitVote: {},
    signatures: { [FTSO_PROTOCOL]: [], [FDC_PROTOCOL]: [] },
    earlySignature: {},
    signaturesWithReveals: [],
  }
}
