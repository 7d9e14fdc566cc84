/**
 * Judges the duties of a provider in a voting round. A second implementation on purpose: what checks the service
 * shares no code with it.
 */
import { keccak } from './keccak.ts'
import type { Member } from './protocol.ts'
import { decodeSigned, type Signatures, signaturesOf } from './signatures.ts'
import {
  FDC,
  FTSO,
  nothing,
  type ProtocolId,
  type SettledRound as Round,
  type Seen,
  type Sent,
  type Submissions,
} from './submissions.ts'

/** The figures of a failed duty, null where it was fulfilled, undefined where nothing proves either. */
export type Verdict = Readonly<Record<string, unknown>> | null | undefined

interface Vote {
  readonly count: number
  readonly bits: bigint
}

const VALUE_OFFSET = 2 ** 31

/** Judges every check of the provider at a place of the policy. */
export function judge(
  round: Round,
  place: number,
  chainId: number,
): Readonly<Record<string, Verdict>> {
  const member = round.policy.members[place] as Member
  const sent = round.sent.get(place) ?? nothing()
  const other = round.elsewhere.get(place)
  const ftso = signaturesOf(round, member, sent, FTSO, chainId)
  return {
    commit: commitVerdict(round, sent, other),
    strayCommit: sent.stray
      ? { tx: sent.stray.tx, payloadLength: sent.stray.payload.length }
      : sent.commit.inTime && null,
    reveal: revealVerdict(round, sent, other),
    revealOffence: revealOf(round, member, sent)?.offence,
    signature: signedVerdict(round, sent, FTSO, ftso, other),
    mismatch: mismatchVerdict(round, member, FTSO, ftso),
    grace: graceVerdict(round, FTSO, ftso),
    ...judgeFdc(round, member, sent, chainId, other),
  }
}

function absence(
  { contractOf }: Round,
  name: string,
  { early, late }: Seen,
  elsewhere: Sent | undefined,
): Record<string, unknown> {
  if (late !== undefined) return { reason: 'late', tx: late.tx }
  if (early !== undefined) return { reason: 'early', tx: early.tx }
  const submission = contractOf[name]
  if (elsewhere === undefined || submission === undefined) return { reason: 'missing', tx: null }
  return { reason: 'former-address', tx: elsewhere.tx, sentTo: elsewhere.to, submission }
}

function commitVerdict(
  round: Round,
  { commit }: Submissions,
  other: Submissions | undefined,
): Verdict {
  if (commit.inTime === undefined) return absence(round, 'submit1', commit, other?.commit.inTime)
  const { payload, tx } = commit.inTime
  return payload.length === 32 ? null : { reason: 'bad-length', tx, length: payload.length }
}

function isReveal({ payload }: Sent): boolean {
  return payload.length >= 32 && payload.length % 4 === 0
}

function revealVerdict(
  round: Round,
  { commit, reveal }: Submissions,
  other: Submissions | undefined,
): Verdict {
  const commitPresent = commit.inTime !== undefined
  const about = { commitPresent, penalised: commitPresent }
  if (reveal.inTime === undefined) {
    return { ...absence(round, 'submit2', reveal, other?.reveal.inTime), ...about }
  }
  if (isReveal(reveal.inTime)) return null
  return { reason: 'malformed', tx: reveal.inTime.tx, ...about }
}

/** Whether a reveal matches its commit, and its prices if so; undefined without both. */
export function revealOf(
  { round }: Pick<Round, 'round'>,
  { submit }: Member,
  { commit, reveal }: Submissions,
) {
  const [committed, revealed] = [commit.inTime, reveal.inTime]
  if (committed?.payload.length !== 32 || revealed === undefined || !isReveal(revealed))
    return undefined
  const { payload } = revealed
  const feeds = payload.subarray(32)
  const encoded = Buffer.alloc(160 + Math.ceil(feeds.length / 32) * 32)
  encoded.write(submit.slice(2), 12, 'hex')
  encoded.writeUInt32BE(round, 60)
  encoded.set(payload.subarray(0, 32), 64)
  encoded.writeUInt8(128, 127)
  encoded.writeUInt32BE(feeds.length, 156)
  encoded.set(feeds, 160)
  const computed = `0x${keccak(encoded).toString('hex')}`
  const commitHash = `0x${committed.payload.toString('hex')}`
  if (computed !== commitHash) {
    const txs = { submit1Tx: committed.tx, submit2Tx: revealed.tx }
    return { offence: { commit: commitHash, computed, ...txs }, values: undefined }
  }
  const words = Array.from({ length: feeds.length / 4 }, (_, at) => feeds.readUInt32BE(4 * at))
  return {
    offence: null,
    values: words.map((number) => (number === 0 ? null : number - VALUE_OFFSET)),
  }
}

function signedVerdict(
  round: Round,
  sent: Submissions,
  protocol: ProtocolId,
  { any }: Signatures,
  other: Submissions | undefined,
): Verdict {
  if (any !== undefined) return null
  const malformed = sent.signatures[protocol][0]
  const finalised = round.results[protocol] !== undefined
  if (malformed) return { reason: 'malformed', tx: malformed.tx, finalised }
  const early = sent.early[protocol]
  const elsewhere = other?.signatures[protocol][0]
  return {
    ...absence(round, 'submitSignatures', early === undefined ? {} : { early }, elsewhere),
    finalised,
  }
}

function mismatchVerdict(
  { results }: Round,
  { signingPolicy }: Member,
  protocol: ProtocolId,
  { valid, wrong }: Signatures,
): Verdict {
  const result = results[protocol]
  if (result === undefined) return undefined
  if (wrong === undefined || (valid !== undefined && wrong.reason !== 'different-result')) {
    return valid && null
  }
  return {
    protocol: protocol === FTSO ? 'ftso' : 'fdc',
    reason: wrong.reason,
    recoveredSigner: wrong.recovered,
    expectedSigner: signingPolicy,
    digestTried: ['legacy', 'chain-bound'],
    merkleRoot: result.root,
    tx: wrong.sent.tx,
    doubleSigned: valid !== undefined,
  }
}

function graceVerdict(
  { results, windows }: Round,
  protocol: ProtocolId,
  { any, valid }: Signatures,
): Verdict {
  const result = results[protocol]
  const first = result === undefined ? any : valid?.sent
  if (first === undefined) return undefined
  const deadline = Math.max(windows.graceEnd, result?.at ?? 0)
  if (first.at < windows.graceEnd || (result !== undefined && first.at <= result.at)) return null
  return {
    protocol: protocol === FTSO ? 'ftso' : 'fdc',
    signatureAt: instant(first.at),
    deadlineAt: instant(deadline),
    secondsLate: first.at - deadline,
    tx: first.tx,
  }
}

function instant(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

function decodeVote(payload: Buffer | undefined): Vote | undefined {
  if (payload === undefined || payload.length < 2) return undefined
  const hex = payload.toString('hex', 2)
  return { count: payload.readUInt16BE(0), bits: hex === '' ? 0n : BigInt(`0x${hex}`) }
}

/** The bit vote of the most weight; without a final result the most frequent one. */
function consensusOf(round: Round, chainId: number): Vote | undefined {
  const sums = new Map<string, { readonly vote: Vote; weight: number }>()
  for (const [place, sent] of round.sent) {
    const member = round.policy.members[place] as Member
    const { any, valid } = signaturesOf(round, member, sent, FDC, chainId)
    const isFinal = round.results[FDC] !== undefined
    const last = any && sent.signatures[FDC].at(-1)
    const vote = decodeVote(
      isFinal ? valid?.unsigned : last && decodeSigned(last.payload)?.unsigned,
    )
    if (vote === undefined) continue
    const sum = sums.get(`${vote.count}:${vote.bits}`) ?? { vote, weight: 0 }
    sum.weight += isFinal ? member.weight : 1
    sums.set(`${vote.count}:${vote.bits}`, sum)
  }
  const [first] = [...sums.values()].sort(
    (a, b) => b.weight - a.weight || (String(a.vote.bits) < String(b.vote.bits) ? -1 : 1),
  )
  return first?.vote
}

const consensuses = new WeakMap<Round, { readonly vote: Vote | undefined }>()

function judgeFdc(
  round: Round,
  member: Member,
  sent: Submissions,
  chainId: number,
  other: Submissions | undefined,
): Readonly<Record<string, Verdict>> {
  const requests = [...new Set(round.requests)]
  if (requests.length === 0) return {}
  const known = consensuses.get(round) ?? { vote: consensusOf(round, chainId) }
  consensuses.set(round, known)
  const consensus = known.vote
  const seen = sent.bitVote
  const vote = decodeVote(seen.inTime?.payload)
  const fits =
    vote !== undefined && vote.count === requests.length && vote.bits >> BigInt(vote.count) === 0n
  const length: Verdict = seen.inTime && {
    sentLength: vote?.count ?? null,
    expectedLength: requests.length,
    tx: seen.inTime.tx,
  }
  if (consensus === undefined) return { bitVoteLength: fits ? null : length }
  const signatures = signaturesOf(round, member, sent, FDC, chainId)
  const isDominant = fits && (vote.bits & consensus.bits) === consensus.bits
  const isOffence = isDominant && !signatures.isSigned
  const signature = fdcSignature(round, sent, signatures, { consensus, other })
  const about = {
    bitvotePresent: seen.inTime !== undefined,
    dominated: isDominant,
    penalised: isOffence || signature?.['reason'] === 'other-bit-vote',
  }
  return {
    bitVote: seen.inTime
      ? null
      : {
          ...absence(round, 'submit2', seen, other?.bitVote.inTime),
          requests: requests.length,
        },
    bitVoteLength: fits ? null : length,
    consensus: fits ? (isDominant ? null : lacking(requests, vote, consensus)) : undefined,
    fdcSignature: signature && { ...signature, ...about },
    fdcOffence: isOffence
      ? { tx: seen.inTime?.tx ?? null }
      : signatures.isSigned
        ? null
        : undefined,
    fdcMismatch: mismatchVerdict(round, member, FDC, signatures),
    fdcGrace: graceVerdict(round, FDC, signatures),
  }
}

function fdcSignature(
  round: Round,
  sent: Submissions,
  signatures: Signatures,
  { consensus, other }: { readonly consensus: Vote; readonly other: Submissions | undefined },
): Verdict {
  const verdict = signedVerdict(round, sent, FDC, signatures, other)
  const vote = decodeVote(signatures.valid?.unsigned)
  if (verdict || vote === undefined) return verdict
  if (vote.count === consensus.count && vote.bits === consensus.bits) return verdict
  return { reason: 'other-bit-vote', tx: signatures.valid?.sent.tx ?? null, finalised: true }
}

function lacking(requests: readonly string[], vote: Vote, consensus: Vote): Verdict {
  const missing = requests.flatMap((data, index) => {
    const bit = 1n << BigInt(index)
    if ((consensus.bits & bit) === 0n || (vote.bits & bit) !== 0n) return []
    const bytes = Buffer.from(data.slice(2), 'hex')
    const text = (from: number) =>
      bytes
        .toString('latin1', from, from + 32)
        .replace(/\0+$/, '')
        .replace(/[^\x20-\x7e]/g, '?')
    return [{ index, attestationType: text(0), source: text(32) }]
  })
  const count = (bits: bigint) => bits.toString(2).replaceAll('0', '').length
  return { missing, confirmed: count(vote.bits), consensusCount: count(consensus.bits) }
}
