import { type EpochSettings, roundWindowsOf } from './epochs.ts'
import {
  type BitVote,
  confirmsConsensus,
  consensusBitVote,
  decodeBitVote,
  distinctRequests,
  fitsRequests,
  requestKind,
} from './fdc.ts'
import { countFeeds, judgeFeedValues, mediansOf, pricedFeedIndices } from './feed-values.ts'
import { FDC_PROTOCOL, FTSO_PROTOCOL } from './framing.ts'
import { commitHash, decodeCommit, decodeFeedValues, decodeReveal } from './ftso.ts'
import {
  type JudgedSignatures,
  judgeSignatures,
  type RecoveredSigners,
} from './judged-signatures.ts'
import type { PolicyProvider } from './policy.ts'
import type { ProviderEvidence, RoundEvidence, SentFrame } from './round-evidence.ts'
import { decodeSignedResult } from './signatures.ts'
import {
  ANCHOR_BAND,
  badVerdict,
  type FdcCheck,
  GOOD_VERDICT,
  NOTHING_REQUESTED,
  type ProviderRound,
  type RoundCheckVerdict,
  type RoundContext,
  UNKNOWN_VERDICT,
  whyNotCounted,
} from './verdict.ts'

/**
 * Judges a complete round for every provider of its policy, in the policy's order.
 *
 * @param signers see `judgeSignatures`
 */
export function judgeRound(
  clock: EpochSettings,
  chainId: number,
  evidence: RoundEvidence,
  signers?: RecoveredSigners,
): readonly ProviderRound[] {
  const { policy, providers } = evidence
  const signed = {
    [FTSO_PROTOCOL]: judgeSignatures(chainId, evidence, FTSO_PROTOCOL, signers),
    [FDC_PROTOCOL]: judgeSignatures(chainId, evidence, FDC_PROTOCOL, signers),
  }
  const reveals = policy.providers.map((provider, index) =>
    judgeReveal(provider, evidence.round, providers.get(index)),
  )
  const matched = new Map(
    reveals.flatMap(({ values }, index) =>
      values === undefined ? [] : [[index, values] as const],
    ),
  )
  const feedCount = countFeeds(matched, policy.providers)
  const medians = mediansOf(policy.providers, matched, feedCount ?? 0)
  const common: RoundContext = {
    clock,
    evidence,
    requests: distinctRequests(evidence.requests),
    signed,
    consensus: findConsensus(evidence, signed[FDC_PROTOCOL]),
    feedCount,
    medians,
    priced: pricedFeedIndices(medians),
    matched,
  }
  return policy.providers.map((provider, index) =>
    judgeProvider(common, provider, index, reveals[index]?.offence ?? UNKNOWN_VERDICT),
  )
}

function judgeProvider(
  common: RoundContext,
  provider: PolicyProvider,
  index: number,
  revealOffence: RoundCheckVerdict,
): ProviderRound {
  const sent = common.evidence.providers.get(index)
  const anchors = anchorsOf(common, index)
  return {
    checks: {
      commit: judgeCommit(common.evidence, index),
      reveal: judgeRevealSent(common.evidence, index),
      revealOffence,
      feedValues: judgeFeedValues(common, index),
      signature: judgeSignatureSent(common, index, FTSO_PROTOCOL),
      mismatch: judgeMismatch(common, provider, index, FTSO_PROTOCOL),
      grace: judgeGrace(common, index, FTSO_PROTOCOL),
      ...judgeFdc(common, provider, index),
      strayCommit:
        sent?.strayCommit === undefined
          ? sent?.commit.inTime === undefined
            ? UNKNOWN_VERDICT
            : GOOD_VERDICT
          : badVerdict({ tx: sent.strayCommit.tx, payloadLength: sent.strayCommit.payload.length }),
    },
    ...(anchors && { anchors }),
    margins: marginsOf(common, index),
  }
}

/** Seconds between what counts of each duty and its deadline; of a signature, the end of its grace. */
function marginsOf(
  { clock, evidence, requests, signed }: RoundContext,
  index: number,
): ProviderRound['margins'] {
  const { end, revealEnd, graceEnd } = roundWindowsOf(clock, evidence.round)
  const sent = evidence.providers.get(index)
  const ofFdc = requests.length > 0
  const signatureOf = (protocol: typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL) => {
    const judged = signed[protocol].get(index)
    return evidence.finalised[protocol] === undefined ? judged?.first : judged?.valid?.sent
  }
  const left = (deadline: number, frame: SentFrame | undefined) =>
    frame === undefined ? null : deadline - frame.at
  return [
    left(end, sent?.commit.inTime),
    left(revealEnd, sent?.reveal.inTime),
    left(graceEnd, signatureOf(FTSO_PROTOCOL)),
    ofFdc ? left(revealEnd, sent?.bitVote.inTime) : null,
    ofFdc ? left(graceEnd, signatureOf(FDC_PROTOCOL)) : null,
  ]
}

function judgeCommit(evidence: RoundEvidence, index: number): RoundCheckVerdict {
  const commit = evidence.providers.get(index)?.commit ?? {}
  const elsewhere = evidence.elsewhere.get(index)?.commit.inTime
  if (commit.inTime === undefined)
    return badVerdict(whyNotCounted(evidence, 'submit1', commit, elsewhere))
  const { payload, tx } = commit.inTime
  if (decodeCommit(payload) !== undefined) return GOOD_VERDICT
  return badVerdict({ reason: 'bad-length', tx, length: payload.length })
}

function judgeRevealSent(evidence: RoundEvidence, index: number): RoundCheckVerdict {
  const sent = evidence.providers.get(index)
  const reveal = sent?.reveal ?? {}
  const elsewhere = evidence.elsewhere.get(index)?.reveal.inTime
  const commitPresent = sent?.commit.inTime !== undefined
  const about = { commitPresent, penalised: commitPresent }
  if (reveal.inTime === undefined)
    return badVerdict({ ...whyNotCounted(evidence, 'submit2', reveal, elsewhere), ...about })
  if (decodeReveal(reveal.inTime.payload) !== undefined) return GOOD_VERDICT
  return badVerdict({ reason: 'malformed', tx: reveal.inTime.tx, ...about })
}

/** Judges whether the reveal matches the commit and, if it does, its prices. */
function judgeReveal(
  { submit }: PolicyProvider,
  round: number,
  sent: ProviderEvidence | undefined,
): { readonly offence: RoundCheckVerdict; readonly values?: readonly (number | null)[] } {
  const committed = sent?.commit.inTime
  const revealed = sent?.reveal.inTime
  const commit = committed && decodeCommit(committed.payload)
  const reveal = revealed && decodeReveal(revealed.payload)
  if (commit === undefined || reveal === undefined) return { offence: UNKNOWN_VERDICT }
  const computed = commitHash(submit, round, reveal)
  if (computed === commit) return { offence: GOOD_VERDICT, values: decodeFeedValues(reveal) }
  const [submit1Tx, submit2Tx] = [committed?.tx ?? null, revealed?.tx ?? null]
  return { offence: badVerdict({ commit, computed, submit1Tx, submit2Tx }) }
}

function judgeSignatureSent(
  { evidence, signed }: RoundContext,
  index: number,
  protocol: typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL,
): RoundCheckVerdict {
  if (signed[protocol].get(index)?.first !== undefined) return GOOD_VERDICT
  const sent = evidence.providers.get(index)
  const malformed = sent?.signatures[protocol][0]
  const early = sent?.earlySignature[protocol]
  const finalised = evidence.finalised[protocol] !== undefined
  if (malformed !== undefined)
    return badVerdict({ reason: 'malformed', tx: malformed.tx, finalised })
  const elsewhere = evidence.elsewhere.get(index)?.signatures[protocol][0]
  const seen = early === undefined ? {} : { early }
  return badVerdict({ ...whyNotCounted(evidence, 'submitSignatures', seen, elsewhere), finalised })
}

/**
 * Judges the signature of the FDC result. The bit vote that comes with a valid signature must be the
 * consensus; otherwise the signature earns nothing and is penalized. A malformed bit vote is not judged.
 */
function judgeFdcSignature(common: RoundContext, index: number): RoundCheckVerdict {
  const { consensus, signed } = common
  const sent = judgeSignatureSent(common, index, FDC_PROTOCOL)
  const valid = signed[FDC_PROTOCOL].get(index)?.valid
  const vote = valid && decodeBitVote(valid.signed.unsigned)
  if (sent.verdict === 'bad' || vote === undefined || consensus === undefined) return sent
  if (vote.count === consensus.count && vote.bits === consensus.bits) return sent
  return badVerdict({ reason: 'other-bit-vote', tx: valid?.sent.tx ?? null, finalised: true })
}

function judgeMismatch(
  { evidence, signed }: RoundContext,
  { signingPolicy }: PolicyProvider,
  index: number,
  protocol: typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL,
): RoundCheckVerdict {
  const result = evidence.finalised[protocol]
  const judged = signed[protocol].get(index)
  if (result === undefined || judged === undefined) return UNKNOWN_VERDICT
  if (judged.wrong !== undefined && (judged.valid === undefined || isOfOtherResult(judged))) {
    const { sent, reason, recovered } = judged.wrong
    return badVerdict({
      protocol: protocol === FTSO_PROTOCOL ? 'ftso' : 'fdc',
      reason,
      recoveredSigner: recovered,
      expectedSigner: signingPolicy,
      digestTried: ['legacy', 'chain-bound'],
      merkleRoot: result.merkleRoot,
      tx: sent.tx,
      doubleSigned: judged.valid !== undefined,
    })
  }
  return judged.valid === undefined ? UNKNOWN_VERDICT : GOOD_VERDICT
}

/** Whether the first signature that is not valid states another result. */
function isOfOtherResult({ wrong }: JudgedSignatures): boolean {
  return wrong?.reason === 'different-result'
}

function judgeGrace(
  { clock, evidence, signed }: RoundContext,
  index: number,
  protocol: typeof FTSO_PROTOCOL | typeof FDC_PROTOCOL,
): RoundCheckVerdict {
  const result = evidence.finalised[protocol]
  const judged = signed[protocol].get(index)
  const first = result === undefined ? judged?.first : judged?.valid?.sent
  if (first === undefined) return UNKNOWN_VERDICT
  const { graceEnd } = roundWindowsOf(clock, evidence.round)
  const deadline = Math.max(graceEnd, result?.at ?? 0)
  const isLate = first.at >= graceEnd && (result === undefined || first.at > result.at)
  if (!isLate) return GOOD_VERDICT
  return badVerdict({
    protocol: protocol === FTSO_PROTOCOL ? 'ftso' : 'fdc',
    signatureAt: instant(first.at),
    deadlineAt: instant(deadline),
    secondsLate: first.at - deadline,
    tx: first.tx,
  })
}

function instant(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** The consensus by weight of valid signatures; without finalisation, the most frequent vote. */
function findConsensus(
  { policy, finalised, providers }: RoundEvidence,
  signed: ReadonlyMap<number, JudgedSignatures>,
): BitVote | undefined {
  const votes = [...signed].flatMap(([index, { first, valid }]) => {
    if (finalised[FDC_PROTOCOL] !== undefined) {
      const vote = valid && decodeBitVote(valid.signed.unsigned)
      return vote ? [{ vote, weight: policy.providers[index]?.weight ?? 0 }] : []
    }
    const last = first && providers.get(index)?.signatures[FDC_PROTOCOL].at(-1)
    const decoded = last && decodeSignedResult(last.payload)
    const vote = decoded && decodeBitVote(decoded.unsigned)
    return vote ? [{ vote, weight: 1 }] : []
  })
  return consensusBitVote(votes)
}

function judgeFdc(
  common: RoundContext,
  provider: PolicyProvider,
  index: number,
): Readonly<Record<FdcCheck, RoundCheckVerdict>> {
  const { evidence, requests, consensus, signed } = common
  if (requests.length === 0) return NOTHING_REQUESTED
  const [own, elsewhere] = [evidence.providers.get(index), evidence.elsewhere.get(index)]
  const seen = own?.bitVote ?? {}
  const vote = seen.inTime && decodeBitVote(seen.inTime.payload)
  const isValid = vote !== undefined && fitsRequests(vote, requests.length)
  const isJudged = consensus !== undefined
  const isDominant = isValid && isJudged && confirmsConsensus(vote, consensus)
  const isSigned = signed[FDC_PROTOCOL].get(index)?.isSigned ?? false
  const signature = judgeFdcSignature(common, index)
  const lengths = { sentLength: vote?.count ?? null, expectedLength: requests.length }
  const about = {
    bitvotePresent: seen.inTime !== undefined,
    dominated: isDominant,
    penalised: (isDominant && !isSigned) || signature.values?.['reason'] === 'other-bit-vote',
  }
  return {
    bitVote: !isJudged
      ? UNKNOWN_VERDICT
      : seen.inTime !== undefined
        ? GOOD_VERDICT
        : badVerdict({
            ...whyNotCounted(evidence, 'submit2', seen, elsewhere?.bitVote.inTime),
            requests: requests.length,
          }),
    bitVoteLength:
      seen.inTime === undefined
        ? UNKNOWN_VERDICT
        : isValid
          ? GOOD_VERDICT
          : badVerdict({ ...lengths, tx: seen.inTime.tx }),
    consensus:
      !isJudged || !isValid
        ? UNKNOWN_VERDICT
        : isDominant
          ? GOOD_VERDICT
          : missingRequests(requests, vote, consensus),
    fdcSignature: !isJudged
      ? UNKNOWN_VERDICT
      : signature.verdict === 'bad'
        ? badVerdict({ ...signature.values, ...about })
        : signature,
    fdcOffence: !isJudged
      ? UNKNOWN_VERDICT
      : isDominant && !isSigned
        ? badVerdict({ tx: seen.inTime?.tx ?? null })
        : isSigned
          ? GOOD_VERDICT
          : UNKNOWN_VERDICT,
    fdcMismatch: isJudged ? judgeMismatch(common, provider, index, FDC_PROTOCOL) : UNKNOWN_VERDICT,
    fdcGrace: isJudged ? judgeGrace(common, index, FDC_PROTOCOL) : UNKNOWN_VERDICT,
  }
}

/** Requests of the consensus that a vote does not confirm. */
function missingRequests(
  requests: readonly string[],
  vote: BitVote,
  consensus: BitVote,
): RoundCheckVerdict {
  const missing = requests.flatMap((data, index) => {
    const bit = 1n << BigInt(index)
    const isMissing = (consensus.bits & bit) !== 0n && (vote.bits & bit) === 0n
    return isMissing ? [{ index, ...requestKind(data) }] : []
  })
  return badVerdict({
    missing,
    confirmed: countBits(vote.bits),
    consensusCount: countBits(consensus.bits),
  })
}

function countBits(bits: bigint): number {
  return bits.toString(2).replaceAll('0', '').length
}

function anchorsOf(
  { medians, priced, matched }: RoundContext,
  index: number,
): ProviderRound['anchors'] {
  if (priced.length === 0) return undefined
  const values = matched.get(index)
  let hits = 0
  for (const feed of priced) {
    const [median, value] = [medians[feed], values?.[feed]]
    if (median === undefined || value === undefined || value === null) continue
    if (Math.abs(value - median) <= Math.abs(median) * ANCHOR_BAND) hits += 1
  }
  return { hits, possible: priced.length }
}
