import { type EpochClock, roundAt, windowsOf } from './epochs.ts'
import { decodeSubmission, FDC, type Frame, FTSO } from './framing.ts'
import type { IndexedPolicy } from './policy.ts'
import type { RoundResult } from './signatures.ts'

/**
 * Evidence of one voting round: submissions, requests to the FDC and finalised results, not judged yet;
 * `verdicts.ts` judges it when the round is over.
 */

/** A frame with its transaction. */
export interface SentFrame {
  readonly payload: Uint8Array
  readonly tx: string
  /** Block time, epoch seconds. */
  readonly at: number
}

/** Frames of one protocol in one function: the last one in time, else one out of time. */
export interface ProtocolFrames {
  inTime?: SentFrame
  early?: SentFrame
  late?: SentFrame
}

/** Submissions of one provider for one round. */
export interface ProviderEvidence {
  readonly commit: ProtocolFrames
  /** A frame of the FDC in submit1, which the protocol ignores. */
  strayCommit?: SentFrame
  readonly reveal: ProtocolFrames
  readonly bitVote: ProtocolFrames
  /** Every signature in time, in the order of the chain, by protocol. */
  readonly signatures: Readonly<Record<typeof FTSO | typeof FDC, SentFrame[]>>
  readonly earlySignature: Partial<Record<typeof FTSO | typeof FDC, SentFrame>>
  /**
   * FDC signatures between the end of the round and the end of its reveals: neither required nor an
   * offence.
   */
  readonly signaturesWithReveals: SentFrame[]
}

/** A result that the Relay finalised. */
export interface FinalisedResult extends RoundResult {
  /** Block time of the first finalisation, epoch seconds. */
  readonly at: number
}

/** Evidence of one round. */
export interface RoundEvidence {
  readonly round: number
  readonly policy: IndexedPolicy
  /** By index in the policy; absent without submissions. */
  readonly providers: Map<number, ProviderEvidence>
  /** Data of the attestation requests in order, not merged yet. */
  readonly requests: string[]
  readonly finalised: Partial<Record<typeof FTSO | typeof FDC, FinalisedResult>>
}

/** The parts of a transaction that submissions need. Addresses and data as the node writes them. */
export interface SubmissionTransaction {
  readonly hash: string
  readonly from: string
  readonly input: string
}

/** Creates the evidence of a round before its first block. */
export function emptyRound(round: number, policy: IndexedPolicy): RoundEvidence {
  return { round, policy, providers: new Map(), requests: [], finalised: {} }
}

/**
 * Adds a successful transaction to the Submission contract. Frames count for the round they name, at any
 * time.
 *
 * @param at block time, epoch seconds
 * @param roundOf evidence of a round; undefined for rounds that are not being collected
 */
export function addSubmission(
  clock: EpochClock,
  roundOf: (round: number) => RoundEvidence | undefined,
  { hash, from, input }: SubmissionTransaction,
  at: number,
): void {
  const submission = decodeSubmission(input)
  if (submission === undefined) return
  for (const frame of submission.frames) {
    if (frame.protocol !== FTSO && frame.protocol !== FDC) continue
    const isStray = submission.function === 'submit1' && frame.protocol === FDC
    const current = roundAt(clock, at)
    // A frame that names a distant round was not meant for this one. A stray commit counts whatever round
    // it names.
    const named = Math.abs(frame.round - current) > 2 ? undefined : roundOf(frame.round)
    const evidence = named ?? (isStray ? roundOf(current) : undefined)
    if (evidence === undefined) continue
    const { bySubmit, bySubmitSignatures } = evidence.policy
    const isSignature = submission.function === 'submitSignatures'
    const place = (isSignature ? bySubmitSignatures : bySubmit).get(from.toLowerCase())
    if (place === undefined) continue
    const provider = evidence.providers.get(place) ?? nothingSent()
    evidence.providers.set(place, provider)
    const sent = { payload: frame.payload, tx: hash, at }
    const windows = windowsOf(clock, frame.round)
    if (submission.function === 'submit1') {
      if (isStray) provider.strayCommit = sent
      else sortIn(provider.commit, sent, windows.start, windows.end)
    } else if (submission.function === 'submit2') {
      sortIn(pick(provider, frame), sent, windows.end, windows.revealEnd)
    } else if (at < windows.revealEnd) {
      provider.earlySignature[frame.protocol] = sent
      if (frame.protocol === FDC && at >= windows.end) provider.signaturesWithReveals.push(sent)
    } else if (at < windows.complete) {
      provider.signatures[frame.protocol].push(sent)
    }
  }
}

function pick(provider: ProviderEvidence, frame: Frame): ProtocolFrames {
  return frame.protocol === FTSO ? provider.reveal : provider.bitVote
}

function sortIn(seen: ProtocolFrames, sent: SentFrame, from: number, to: number): void {
  if (sent.at < from) seen.early = sent
  else if (sent.at < to) seen.inTime = sent
  else seen.late = sent
}

function nothingSent(): ProviderEvidence {
  return {
    commit: {},
    reveal: {},
    bitVote: {},
    signatures: { [FTSO]: [], [FDC]: [] },
    earlySignature: {},
    signaturesWithReveals: [],
  }
}
