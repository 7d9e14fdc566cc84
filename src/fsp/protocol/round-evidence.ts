import { type EpochClock, roundAt, windowsOf } from './epochs.ts'
import { decodeSubmission, FDC, type Frame, FTSO } from './framing.ts'
import type { IndexedPolicy } from './policy.ts'
import type { RoundResult } from './signatures.ts'

/**
 * What was seen of one voting round: who sent which frame when, what was asked of the FDC, what the
 * Relay finalised. No opinion yet; `verdicts.ts` forms it once the round is over.
 */

/** A frame with the transaction that brought it. */
export interface Sent {
  readonly payload: Uint8Array
  readonly tx: string
  /** Block time, epoch seconds. */
  readonly at: number
}

/** What one protocol's frame of one function came to: the last one in time, else one out of time. */
export interface Seen {
  inTime?: Sent
  early?: Sent
  late?: Sent
}

/** All that one provider sent for one round. */
export interface ProviderEvidence {
  readonly commit: Seen
  /** Frames of the FDC in submit1, where nothing reads them. */
  strayCommit?: Sent
  readonly reveal: Seen
  readonly bitVote: Seen
  /** Every signature in time, in the order of the chain, by protocol. */
  readonly signatures: Readonly<Record<typeof FTSO | typeof FDC, Sent[]>>
  readonly earlySignature: Partial<Record<typeof FTSO | typeof FDC, Sent>>
  /** FDC signatures between the end of the round and that of its reveals: no duty done, but no offence. */
  readonly signaturesWithReveals: Sent[]
}

/** A result the Relay took. */
export interface Finalised extends RoundResult {
  /** Block time of the first finalisation, epoch seconds. */
  readonly at: number
}

/** All that was seen of one round. */
export interface RoundEvidence {
  readonly round: number
  readonly policy: IndexedPolicy
  /** By place in the policy; absent: sent nothing. */
  readonly providers: Map<number, ProviderEvidence>
  /** Data of the attestation requests in their order, not yet merged. */
  readonly requests: string[]
  readonly finalised: Partial<Record<typeof FTSO | typeof FDC, Finalised>>
}

/** A transaction as far as submissions are concerned. Addresses and data as the node writes them. */
export interface SubmissionTransaction {
  readonly hash: string
  readonly from: string
  readonly input: string
}

/** An empty round. */
export function emptyRound(round: number, policy: IndexedPolicy): RoundEvidence {
  return { round, policy, providers: new Map(), requests: [], finalised: {} }
}

/**
 * Puts a successful transaction to the Submission contract where it belongs. Frames count for the round
 * they name, whenever they come.
 *
 * @param at block time, epoch seconds
 * @param roundOf what is being collected; undefined for rounds that are not
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
    // A frame that names a round far away was not meant for the round it came in. A stray commit is one
    // whatever round it names.
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

function pick(provider: ProviderEvidence, frame: Frame): Seen {
  return frame.protocol === FTSO ? provider.reveal : provider.bitVote
}

function sortIn(seen: Seen, sent: Sent, from: number, to: number): void {
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
