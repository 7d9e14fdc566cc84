import { Address } from '#src/kernel/units.ts'
import type { EpochSettings } from './epochs.ts'
import type { BitVote } from './fdc.ts'
import type { FDC_PROTOCOL, FTSO_PROTOCOL, SubmitFunction } from './framing.ts'
import type { JudgedSignatures } from './judged-signatures.ts'
import type { FramesByTiming, RoundEvidence, SentFrame } from './round-evidence.ts'

/**
 * Verdict of a check of a provider in a round: `bad` is a proven failure, `good` is proven correctness,
 * `unknown` is neither, and `not-applicable` means that the round had no such duty.
 */
export type CheckVerdict = 'good' | 'bad' | 'unknown' | 'not-applicable'

/** Reason why a submission did not count. */
export type NotCountedReason =
  | 'missing'
  | 'early'
  | 'late'
  | 'malformed'
  | 'bad-length'
  | 'other-bit-vote'
  | 'former-address'
  | 'values-missing'
  | 'too-many-values'

/** Verdict of one check of one round. `values` are the evidence for a bad verdict. */
export interface RoundCheckVerdict {
  readonly verdict: CheckVerdict
  readonly values?: Readonly<Record<string, string | number | boolean | null | readonly unknown[]>>
}

/** The checks of a round. Three signals judge two of them each. */
export const ROUND_CHECKS = [
  'commit',
  'reveal',
  'revealOffence',
  'signature',
  'fdcSignature',
  'bitVote',
  'bitVoteLength',
  'consensus',
  'fdcOffence',
  'strayCommit',
  'mismatch',
  'fdcMismatch',
  'grace',
  'fdcGrace',
  'feedValues',
] as const
export type RoundCheck = (typeof ROUND_CHECKS)[number]

/** Verdicts of a provider's round. */
export interface ProviderRound {
  readonly checks: Readonly<Record<RoundCheck, RoundCheckVerdict>>
  /**
   * Number of anchor prices within 0.5 % of the median, and of feeds with a median; absent if not judged.
   */
  readonly anchors?: { readonly hits: number; readonly possible: number }
  /** Seconds that were left of each of `TIMED_DUTIES`; null where nothing that counts was sent. */
  readonly margins: readonly (number | null)[]
}

/** Duties with a deadline, in the order in which rows store their margins. */
export const TIMED_DUTIES = ['commit', 'reveal', 'signature', 'bitVote', 'fdcSignature'] as const

export const GOOD_VERDICT: RoundCheckVerdict = { verdict: 'good' }
export const UNKNOWN_VERDICT: RoundCheckVerdict = { verdict: 'unknown' }
export const NOT_APPLICABLE: RoundCheckVerdict = { verdict: 'not-applicable' }
/** Verdicts of the FDC in a round without requests. */
export const NOTHING_REQUESTED: Readonly<Record<FdcCheck, RoundCheckVerdict>> = {
  bitVote: NOT_APPLICABLE,
  bitVoteLength: NOT_APPLICABLE,
  consensus: NOT_APPLICABLE,
  fdcSignature: NOT_APPLICABLE,
  fdcOffence: NOT_APPLICABLE,
  fdcMismatch: NOT_APPLICABLE,
  fdcGrace: NOT_APPLICABLE,
}
export const ANCHOR_BAND = 0.005

/** Results that all providers of a round share. */
export interface RoundContext {
  readonly clock: EpochSettings
  readonly evidence: RoundEvidence
  readonly requests: readonly string[]
  readonly signed: Readonly<
    Record<typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL, ReadonlyMap<number, JudgedSignatures>>
  >
  readonly consensus: BitVote | undefined
  /** Number of feeds, see `countFeeds`; undefined without a reveal that matches its commit. */
  readonly feedCount: number | undefined
  readonly medians: readonly (number | undefined)[]
  /** Feeds with a median. */
  readonly priced: readonly number[]
  /** Prices by index of the provider, for reveals that match their commit. */
  readonly matched: ReadonlyMap<number, readonly (number | null)[]>
}

export type FdcCheck =
  | 'bitVote'
  | 'bitVoteLength'
  | 'consensus'
  | 'fdcSignature'
  | 'fdcOffence'
  | 'fdcMismatch'
  | 'fdcGrace'

export function badVerdict(values: NonNullable<RoundCheckVerdict['values']>): RoundCheckVerdict {
  return { verdict: 'bad', values }
}

/**
 * Reason and transaction of a submission that was out of time, sent to another contract, or missing.
 *
 * @param elsewhere the same submission in time to another Submission contract
 */
export function whyNotCounted(
  { contractOf }: Pick<RoundEvidence, 'contractOf'>,
  name: SubmitFunction,
  { early, late }: FramesByTiming,
  elsewhere: SentFrame | undefined,
): NonNullable<RoundCheckVerdict['values']> & { readonly reason: NotCountedReason } {
  if (late !== undefined) return { reason: 'late', tx: late.tx }
  if (early !== undefined) return { reason: 'early', tx: early.tx }
  const expected = contractOf[name]
  if (elsewhere === undefined || expected === undefined) return { reason: 'missing', tx: null }
  return {
    reason: 'former-address',
    tx: elsewhere.tx,
    sentTo: Address.parse(elsewhere.to),
    submission: Address.parse(expected),
  }
}
