import type { Address } from '#src/kernel/units.ts'
import type { EpochVotes, VoteKind, VoterSignedAt } from '../reader/signing-protocol.ts'
import type { StoredSignature } from './store.ts'

/** One vote on a reward epoch, as far as it concerns one provider. */
export interface ProviderVote {
  readonly openedAt: Date | null
  /** End of the vote; null while the vote is open, and where the chain does not return the time. */
  readonly concludedAt: Date | null
  readonly isConcluded: boolean
  /**
   * Time at which the provider signed the winning result, or any result while the vote is open; null if it
   * did not sign.
   */
  readonly signedAt: Date | null
  /** Time of its first signature of any result, as far as signatures were read. */
  readonly firstSignedAt: Date | null
  /** Whether it signed another result than the winning one. */
  readonly signedOther: boolean
  /** False if the signatures that were read so far do not show whether the provider signed. */
  readonly isKnown: boolean
  /** Share of the weight that has signed; null where not every signature was read. */
  readonly weightSigned: number | null
}

/** Both votes on an ended reward epoch, as far as they concern one provider. */
export interface EpochVoteFacts extends Readonly<Record<VoteKind, ProviderVote>> {
  readonly rewardEpochId: number
  readonly endedAt: Date
  /** Time at which the epoch's rewards were first seen published. */
  readonly publishedAt: Date | null
}

/** What was read about the votes on an ended reward epoch. */
export interface VoteEvidence {
  readonly votes: EpochVotes
  readonly stored: readonly StoredSignature[]
  /** Weights of the voters of the epoch. */
  readonly shares: ReadonlyMap<Address, number>
  /** Whether every signature of the open votes was read. */
  readonly isComplete: boolean
  /** When voters signed the winning result; null while a vote is open. */
  readonly winners: Readonly<Record<VoteKind, ReadonlyMap<Address, VoterSignedAt> | null>>
}

/** Both votes on a reward epoch, as far as they concern one provider. */
export function epochVoteFacts(
  rewardEpochId: number,
  voter: Address,
  evidence: VoteEvidence,
  publishedAt: Date | null,
): EpochVoteFacts {
  const of = (kind: VoteKind) =>
    providerVote(voter, kind, { ...evidence, winners: evidence.winners[kind] })
  const { endedAt } = evidence.votes
  return { rewardEpochId, endedAt, publishedAt, uptime: of('uptime'), rewards: of('rewards') }
}

/** Time of the first known signature of the rewards; null if none is known. */
export function firstRewardsSignature(
  stored: readonly StoredSignature[],
  winners: ReadonlyMap<Address, VoterSignedAt> | null,
): Date | null {
  const times = [
    ...stored.flatMap(({ kind, signedAt }) => (kind === 'rewards' ? [signedAt] : [])),
    ...(winners?.values() ?? []),
  ].flatMap((at) => at?.getTime() ?? [])
  return times.length === 0 ? null : new Date(Math.min(...times))
}

/** Judges a provider's part in a vote by its state and the signatures that were read. */
function providerVote(
  voter: Address,
  kind: VoteKind,
  evidence: {
    readonly votes: EpochVotes
    readonly stored: readonly StoredSignature[]
    readonly shares: ReadonlyMap<Address, number>
    readonly isComplete: boolean
    readonly winners: ReadonlyMap<Address, VoterSignedAt> | null
  },
): ProviderVote {
  const { openedAt, hash, concludedAt } = evidence.votes[kind]
  const ofKind = evidence.stored.filter((signature) => signature.kind === kind)
  const ofVoter = ofKind.filter((signature) => signature.voter === voter)
  if (hash === null || evidence.winners === null) {
    const total = [...evidence.shares.values()].reduce((sum, weight) => sum + weight, 0)
    const signed = [...evidence.shares].filter(([signer]) =>
      ofKind.some((vote) => vote.voter === signer),
    )
    return {
      openedAt,
      concludedAt: null,
      isConcluded: false,
      signedAt: ofVoter[0]?.signedAt ?? null,
      firstSignedAt: ofVoter[0]?.signedAt ?? null,
      signedOther: false,
      isKnown: evidence.isComplete || ofVoter.length > 0,
      weightSigned:
        evidence.isComplete && total > 0
          ? signed.reduce((sum, [, weight]) => sum + weight, 0) / total
          : null,
    }
  }
  const signing = evidence.winners.get(voter)
  return {
    openedAt,
    concludedAt: concludedAt ?? ofKind.find(({ isLast }) => isLast)?.signedAt ?? null,
    isConcluded: true,
    signedAt: signing ?? null,
    firstSignedAt: ofVoter[0]?.signedAt ?? signing ?? null,
    signedOther: ofVoter.some((signature) => signature.hash !== hash),
    isKnown: signing !== undefined,
    weightSigned: null,
  }
}
