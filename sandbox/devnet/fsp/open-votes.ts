import type { Behaviour } from './behaviours.ts'
import type { KnownPolicy, PolicyMember, SimulatedProviderState } from './policy.ts'
import type { VoteTransactionBuilder } from './votes.ts'
import type { UnsignedTx } from './writer.ts'

/** Kinds of votes in a reward epoch. */
export type EpochVoteKind = 'policy' | 'uptime' | 'rewards'

/** Open votes with the members still to vote. */
export interface OpenVotes {
  /** Opens a vote for the members of a policy. */
  open(kind: EpochVoteKind, policy: KnownPolicy, vote: VoteTransactionBuilder): void
  /** Marks an epoch's uptime as decided, so that the vote on its rewards can open. */
  allowRewards(epoch: number): void
  /** Whether a member would vote now. */
  isWaiting(): boolean
  /** The votes of all members that have not voted yet and do not skip it. */
  cast(): readonly UnsignedTx[]
}

interface Ballot {
  readonly kind: EpochVoteKind
  readonly policy: KnownPolicy
  readonly vote: VoteTransactionBuilder
  readonly voted: Set<SimulatedProviderState>
  /** Weight of the votes for the right value. */
  weight: number
}

const MISSES: Readonly<Record<EpochVoteKind, Behaviour | undefined>> = {
  policy: undefined,
  uptime: 'misses-uptime-vote',
  rewards: 'misses-rewards-vote',
}

/** Creates an empty list of votes. */
export function createOpenVotes(): OpenVotes {
  let ballots: readonly Ballot[] = []
  const allowed = new Set<number>()
  const isOpen = ({ kind, policy }: Ballot) => kind !== 'rewards' || allowed.has(policy.epoch)
  return {
    open: (kind, policy, vote) => {
      ballots = [...ballots, { kind, policy, vote, voted: new Set(), weight: 0 }]
    },
    allowRewards: (epoch) => {
      allowed.add(epoch)
    },
    isWaiting: () => ballots.some((ballot) => isOpen(ballot) && voting(ballot).length > 0),
    cast: () => {
      const votes: UnsignedTx[] = []
      for (const ballot of ballots.filter(isOpen)) {
        for (const member of voting(ballot)) votes.push(castOne(ballot, member))
      }
      // A concluded vote is closed.
      ballots = ballots.filter(({ weight, policy }) => weight <= policy.threshold)
      return votes
    },
  }
}

function voting({ kind, policy, voted }: Ballot): readonly PolicyMember[] {
  const misses = MISSES[kind]
  return policy.members.filter(
    ({ provider }) =>
      !voted.has(provider) && (misses === undefined || !provider.behaviours.has(misses)),
  )
}

function castOne(ballot: Ballot, { provider, accounts, weight }: PolicyMember): UnsignedTx {
  const isOther = ballot.kind !== 'policy' && provider.behaviours.has('other-vote')
  ballot.voted.add(provider)
  if (!isOther) ballot.weight += weight
  return ballot.vote(accounts, isOther)
}
