import { encodeFunctionData, type Hex, slice } from 'viem'
import type { Address } from '#src/kernel/units.ts'
import { ROUNDS_ABI } from './abi.ts'
import type { Behaviour } from './behaviours.ts'
import { CONTRACTS } from './contract-addresses.ts'
import {
  commitHash,
  encodeBitVote,
  encodeFeedValues,
  FDC_PROTOCOL,
  type Frame,
  FTSO_PROTOCOL,
  type IndexedSignature,
  messageBytes,
  type ProtocolMessage,
  policyBytes,
  type Reveal,
  relayData,
  requestData,
  revealPayload,
  type Signature,
  type SigningPolicy,
  signaturePayload,
  signBytes,
  signedHashOf,
  submissionData,
} from './encode.ts'
import { type ProviderAccounts, pseudoRandom, seededHash } from './provider.ts'
import { type ProtocolTiming, roundStart } from './timing.ts'
import type { UnsignedTx } from './writer.ts'

/** A member of the signing policy of a round. */
export interface Member {
  readonly accounts: ProviderAccounts
  /** The member's index in the policy. */
  readonly index: number
  readonly weight: number
  readonly behaviours: ReadonlySet<Behaviour>
}

/** Inputs of a round. */
export interface RoundPlan {
  readonly round: number
  readonly timing: ProtocolTiming
  readonly policy: SigningPolicy
  readonly members: readonly Member[]
  /** Price of each feed, as an integer in its decimals. */
  readonly prices: readonly number[]
  /** Number of different attestation requests; the last of them is confirmed by no provider. */
  readonly requests: number
  /** The Relay of the round. */
  readonly relay: { readonly address: Address; readonly chainId: number | undefined }
  /** Account that requests attestations. */
  readonly asker: Address
}

/** Transactions that the simulated providers are to send in one second. */
export interface ScheduledTransactions {
  /** Epoch seconds. */
  readonly atSeconds: number
  readonly transactions: readonly UnsignedTx[]
}

/** Times of the actions, in seconds after the start of the round; those above 90 are in the next round. */
const OFFSETS = {
  requests: 20,
  commit: 75,
  earlyReveal: 80,
  failing: 77,
  lateCommit: 98,
  reveal: 110,
  earlySignature: 125,
  signature: 137,
  lateReveal: 140,
  relay: 142,
  relayAgain: 146,
  graceSignature: 158,
} as const

/** Times with a block even without transactions, so that the chain does not halt. */
const BEATS: ReadonlySet<number> = new Set([OFFSETS.requests, OFFSETS.commit, OFFSETS.signature])
const OUT_OF_GAS = 21_170
const RELAY_GAS_BASE = 200_000
const RELAY_GAS_PER_SIGNATURE = 12_000
/** Largest difference between providers' prices. */
const SPREAD = 0.001
const OUT_OF_BAND = 1.02
/** Number of rounds between two duplicate requests. */
const ROUNDS_PER_REPEAT = 5

/** Plans all actions of a round, up to the end of the next one. */
export function planRound(plan: RoundPlan): readonly ScheduledTransactions[] {
  const { round, timing } = plan
  const begins = roundStart(timing, round)
  const act = (offset: keyof typeof OFFSETS, transactions: readonly UnsignedTx[]) => ({
    atSeconds: begins + OFFSETS[offset],
    transactions,
  })
  const signed = signRound(plan)
  const has = ({ behaviours }: Member, ...any: readonly Behaviour[]) =>
    any.some((behaviour) => behaviours.has(behaviour))
  const active = plan.members.filter((member) => !has(member, 'silent'))
  const committing = active.filter((member) => !has(member, 'no-commit'))
  const revealing = active.filter((member) => !has(member, 'no-reveal'))
  const timed = (members: readonly Member[], behaviour: Behaviour | undefined, of: Behaviour[]) =>
    members.filter((member) =>
      behaviour === undefined ? !has(member, ...of) : has(member, behaviour),
    )
  const commits = (members: readonly Member[]) => members.map((member) => commitTx(plan, member))
  const reveals = (members: readonly Member[]) =>
    members.flatMap((member) => revealTx(plan, member) ?? [])
  const signatures = (members: readonly Member[]) =>
    members.flatMap((member) => signatureTx(plan, signed, member) ?? [])
  return [
    act('requests', requestTxs(plan)),
    act('commit', commits(timed(committing, undefined, ['late-commit']))),
    act('failing', timed(active, 'failing-transactions', []).map(failingTx)),
    act('earlyReveal', reveals(timed(revealing, 'early-reveal', []))),
    act('lateCommit', commits(timed(committing, 'late-commit', []))),
    act('reveal', reveals(timed(revealing, undefined, ['late-reveal', 'early-reveal']))),
    act('earlySignature', signatures(timed(active, 'early-signature', []))),
    act('signature', signatures(timed(active, undefined, ['early-signature', 'grace-signature']))),
    act('lateReveal', reveals(timed(revealing, 'late-reveal', []))),
    act(
      'relay',
      relayTxs(
        plan,
        signed,
        active.find((member) => !has(member, 'grace-signature')),
      ),
    ),
    act(
      'relayAgain',
      timed(active, 'normal-reverts', []).flatMap((member) => relayTxs(plan, signed, member)),
    ),
    act('graceSignature', signatures(timed(active, 'grace-signature', []))),
  ].filter((due) => due.transactions.length > 0 || BEATS.has(due.atSeconds - begins))
}

/** The results of a round. */
function messagesOf({ round, requests }: RoundPlan): {
  readonly ftso: ProtocolMessage
  readonly fdc: ProtocolMessage | undefined
} {
  const common = { round, merkleRoot: seededHash('ftso', round) }
  return {
    ftso: { protocolId: FTSO_PROTOCOL, isSecureRandom: true, ...common },
    fdc:
      requests === 0
        ? undefined
        : {
            protocolId: FDC_PROTOCOL,
            round,
            isSecureRandom: false,
            merkleRoot: seededHash('fdc', round),
          },
  }
}

/** Signatures of a round. */
interface SignedRound {
  readonly ftsoMessage: Hex
  readonly fdcMessage: Hex | undefined
  /** Signatures by the signer's index in the policy. */
  readonly by: ReadonlyMap<number, SignedBy>
}

interface SignedBy {
  readonly ftso: Signature
  readonly fdc: Signature | undefined
  /** Another result than the right one, if the provider signed one. */
  readonly otherMessage: Hex | undefined
  /** Whether the signature counts for finalisation. */
  readonly counts: boolean
}

function signRound(plan: RoundPlan): SignedRound {
  const { ftso, fdc } = messagesOf(plan)
  const ftsoMessage = messageBytes(ftso)
  const fdcMessage = fdc && messageBytes(fdc)
  const other = messageBytes({ ...ftso, merkleRoot: seededHash('other', plan.round) })
  const by = new Map<number, SignedBy>()
  for (const { accounts, index, behaviours } of plan.members) {
    if (behaviours.has('silent') || behaviours.has('no-signature')) continue
    const key = behaviours.has('wrong-key') ? accounts.identity : accounts.signingPolicy
    const chainId = behaviours.has('former-digest') ? undefined : plan.relay.chainId
    const otherMessage = behaviours.has('other-result') ? other : undefined
    const signing = (message: Hex) => signBytes(key.privateKey, signedHashOf(message, chainId))
    by.set(index, {
      ftso: signing(otherMessage ?? ftsoMessage),
      fdc: fdcMessage && signing(fdcMessage),
      otherMessage,
      counts: key === accounts.signingPolicy && chainId === plan.relay.chainId && !otherMessage,
    })
  }
  return { ftsoMessage, fdcMessage, by }
}

function commitTx(plan: RoundPlan, member: Member): UnsignedTx {
  const { accounts, behaviours } = member
  const { round } = plan
  const hash = commitHash(accounts.submit.address, round, revealOf(plan, member))
  const frames: readonly Frame[] = [
    {
      protocolId: FTSO_PROTOCOL,
      round,
      payload: behaviours.has('wrong-length') ? slice(hash, 0, 31) : hash,
    },
    ...(behaviours.has('fdc-in-submit1')
      ? [{ protocolId: FDC_PROTOCOL, round, payload: '0x00' } as const]
      : []),
  ]
  const data = submissionData('submit1', frames)
  return { from: accounts.submit.address, to: submissionOf(member), data }
}

/** The Submission contract that a provider uses. */
function submissionOf({ behaviours }: Member) {
  return behaviours.has('former-submission') ? CONTRACTS.oldSubmission : CONTRACTS.submission
}

/** Prices that a provider reveals. */
function revealOf({ round, prices }: RoundPlan, { accounts, behaviours }: Member): Reveal {
  const factor = behaviours.has('anchors-out-of-band') ? OUT_OF_BAND : 1
  const apart = 1 + SPREAD * (2 * pseudoRandom('price', round, accounts.name) - 1)
  const values = prices.map((price) => Math.round(price * factor * apart))
  const sent = behaviours.has('too-many-values') ? [...values, 1] : values
  return {
    random: BigInt(seededHash('random', round, accounts.name)),
    values: encodeFeedValues(
      behaviours.has('few-values')
        ? sent.map((value, feed) => (feed % 2 === 0 ? value : null))
        : sent,
    ),
  }
}

function revealTx(plan: RoundPlan, member: Member): UnsignedTx | undefined {
  const { accounts, behaviours } = member
  const { round } = plan
  const committed = revealOf(plan, member)
  const revealed = behaviours.has('reveal-mismatch')
    ? { ...committed, random: committed.random ^ 1n }
    : committed
  const payload = revealPayload(revealed)
  const frames: Frame[] = [
    {
      protocolId: FTSO_PROTOCOL,
      round,
      payload: behaviours.has('malformed-reveal') ? slice(payload, 0, 33) : payload,
    },
  ]
  const vote = bitVoteOf(plan, behaviours)
  if (vote !== undefined) frames.push({ protocolId: FDC_PROTOCOL, round, payload: vote })
  const data = submissionData('submit2', frames)
  return { from: accounts.submit.address, to: submissionOf(member), data }
}

/** All requests but the last, unless there is only one. */
function consensusBits(requests: number): bigint {
  return (1n << BigInt(Math.max(1, requests - 1))) - 1n
}

function bitVoteOf({ requests }: RoundPlan, behaviours: ReadonlySet<Behaviour>): Hex | undefined {
  if (requests === 0 || behaviours.has('no-bit-vote')) return undefined
  const all = consensusBits(requests)
  const bits = behaviours.has('bit-vote-against-consensus') ? all & ~1n : all
  return encodeBitVote(behaviours.has('wrong-bit-vote-length') ? requests + 1 : requests, bits)
}

function signatureTx(plan: RoundPlan, { by }: SignedRound, member: Member): UnsignedTx | undefined {
  const signed = by.get(member.index)
  if (signed === undefined) return undefined
  const { round, requests } = plan
  const { ftso, fdc, otherMessage } = signed
  const frames: Frame[] = [
    { protocolId: FTSO_PROTOCOL, round, payload: signaturePayload(ftso, '0x', otherMessage) },
  ]
  if (fdc !== undefined && !member.behaviours.has('no-fdc-signature')) {
    const unsigned = encodeBitVote(requests, consensusBits(requests))
    frames.push({ protocolId: FDC_PROTOCOL, round, payload: signaturePayload(fdc, unsigned) })
  }
  const data = submissionData('submitSignatures', frames)
  return { from: member.accounts.submitSignatures.address, to: submissionOf(member), data }
}

/** A commit that runs out of gas. */
function failingTx({ accounts }: Member): UnsignedTx {
  const data = submissionData('submit1', [])
  return { from: accounts.submit.address, to: CONTRACTS.submission, data, gas: OUT_OF_GAS }
}

function requestTxs({ round, requests, asker }: RoundPlan): readonly UnsignedTx[] {
  const data = Array.from({ length: requests }, (_, i) => {
    const asked = seededHash('asked', round, i)
    return i % 2 === 0
      ? requestData('Payment', 'XRP', asked)
      : requestData('EVMTransaction', 'ETH', asked)
  })
  const repeated = round % ROUNDS_PER_REPEAT === 0 ? data.slice(0, 1) : []
  return [...data, ...repeated].map((body) => ({
    from: asker,
    to: CONTRACTS.fdcHub,
    data: encodeFunctionData({ abi: ROUNDS_ABI, functionName: 'requestAttestation', args: [body] }),
    value: 1n,
  }))
}

/** Finalises both results, if there are enough signatures. */
function relayTxs(
  plan: RoundPlan,
  { ftsoMessage, fdcMessage, by }: SignedRound,
  finaliser: Member | undefined,
): readonly UnsignedTx[] {
  const { policy, relay } = plan
  if (finaliser === undefined) return []
  const sending = plan.members.filter(
    ({ behaviours }) => !behaviours.has('grace-signature') && !behaviours.has('early-signature'),
  )
  const collect = (pick: (signed: SignedBy, member: Member) => Signature | undefined) => {
    const signatures: IndexedSignature[] = []
    let weight = 0
    for (const member of sending.toSorted((a, b) => a.index - b.index)) {
      const signed = by.get(member.index)
      const signature = signed && pick(signed, member)
      if (signature === undefined || weight > policy.threshold) continue
      signatures.push({ ...signature, index: member.index })
      weight += member.weight
    }
    return weight > policy.threshold ? signatures : undefined
  }
  const bytes = policyBytes(policy)
  const random = relay.chainId === undefined ? undefined : BigInt(seededHash('sum', plan.round))
  const tx = (message: Hex, signed: readonly IndexedSignature[], salt?: bigint): UnsignedTx => ({
    from: finaliser.accounts.signingPolicy.address,
    to: relay.address,
    data: relayData(bytes, message, signed, salt),
    gas: RELAY_GAS_BASE + RELAY_GAS_PER_SIGNATURE * (signed.length + policy.voters.length),
  })
  const ftso = collect(({ ftso, counts }) => (counts ? ftso : undefined))
  const fdc =
    fdcMessage &&
    collect(({ fdc, counts }, { behaviours }) =>
      counts && !behaviours.has('no-fdc-signature') ? fdc : undefined,
    )
  return [
    ...(ftso === undefined ? [] : [tx(ftsoMessage, ftso, random)]),
    ...(fdcMessage === undefined || fdc === undefined ? [] : [tx(fdcMessage, fdc)]),
  ]
}
