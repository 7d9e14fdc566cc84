import { z } from 'zod'
import { Address, Hash, Instant, JsonObject } from '#src/kernel/units.ts'
import type { WholeRound } from '../protocol/other-providers.ts'
import { ROUND_CHECKS, type RoundCheck } from '../protocol/verdict.ts'

/**
 * Observation of a provider at the end of a voting round. A part is null without evidence. Instants inside
 * parts are in epoch seconds, amounts in wei as decimal text.
 */

const StoredCheck = z.object({
  verdict: z.enum(['good', 'bad', 'unknown', 'not-applicable']),
  values: JsonObject.exactOptional(),
})
export type StoredCheck = z.output<typeof StoredCheck>

const Seconds = z.int()
const Wei = z.string().regex(/^\d+$/)

/** Addresses of a provider by their role in voting. */
export const VotingAddresses = z.object({
  submit: Address,
  submitSignatures: Address,
  signingPolicy: Address,
})
export type VotingAddresses = z.output<typeof VotingAddresses>

/** The signing policy in force and, once it is fixed, the next one. */
export const PolicyPart = z.object({
  current: z.object({
    epoch: z.int(),
    isMember: z.boolean(),
    voters: z.int(),
    startRound: z.int(),
    /** Start of the policy's first round. */
    startsAt: Seconds,
  }),
  next: z
    .object({
      epoch: z.int(),
      isMember: z.boolean(),
      voters: z.int(),
      startRound: z.int(),
      startsAt: Seconds,
    })
    .nullable(),
})

/** Registration for the next reward epoch, once it has opened. */
export const RegistrationPart = z.object({
  epoch: z.int(),
  openedAt: Seconds,
  /** Earliest time at which registration closes. */
  closesAtEarliest: Seconds,
  /** Whether the signing policy is fixed, which closes the registration. */
  isClosed: z.boolean(),
  isRegistered: z.boolean(),
  /** Whether the provider is registered for the epoch in force. */
  wasRegistered: z.boolean(),
  preRegistered: z.boolean().nullable(),
  preRegistrationFailed: z.boolean(),
  /** Time of the last move of a contract of voting, if that was in the last two reward epochs. */
  contractsMovedAt: Seconds.exactOptional(),
})

/** A fast update for more feeds than there are. */
export const LongUpdate = z.object({
  tx: Hash,
  block: z.int(),
  at: Seconds,
  /** Number of feeds that the update covers. */
  feedsSent: z.int(),
  /** Number of feeds that there are. */
  feedCount: z.int(),
  /** Whether the FastUpdater accepted it. */
  isAccepted: z.boolean(),
})

/** Silence in fast updates since the last update, in blocks that were read. */
export const FastUpdatesPart = z.object({
  /** `exp(-exponent)` is the probability that a working provider is silent for this long. */
  exponent: z.number(),
  blocksSinceUpdate: z.int(),
  lastUpdateBlock: z.int().nullable(),
  /** Time of the last update; null if none was seen. */
  lastUpdateAt: Seconds.nullable(),
  sortitionWeight: z.int(),
  sampleSize: z.number(),
  onePercentBlocks: z.int(),
  /** Normalized weight, as a share of the total weight. */
  weightShare: z.number(),
  /** The longest update since the last round, if it covers more feeds than there are. */
  tooLong: LongUpdate.exactOptional(),
})

/** A transaction to a protocol contract. */
export const TransactionPart = z.object({
  tx: z.string(),
  ok: z.boolean(),
  /** Whether the transaction is a lost race, as every provider has daily. */
  isBenign: z.boolean(),
  from: Address,
  to: Address,
  role: z.enum(['submit', 'submitSignatures', 'signingPolicy', 'identity', 'fastUpdates']),
  contract: z.string(),
  selector: z.string(),
  function: z.string(),
  reason: z.string().nullable(),
  block: z.int(),
  gasUsed: z.int(),
  gasLimit: z.int(),
})
export type TransactionPart = z.output<typeof TransactionPart>

export const BalancePart = z.object({
  role: z.enum(['submit', 'submitSignatures', 'signingPolicy', 'fastUpdates']),
  address: Address,
  balanceWei: Wei,
})

/** A validator of the provider, by the polls since the previous observation. */
export const NodePart = z.object({
  /** `NodeID-…`. */
  nodeId: z.string(),
  polls: z.int(),
  connectedPolls: z.int(),
  /** False if the node is missing in the last two polls. */
  isListed: z.boolean(),
  /** End of the node's stake, as last listed. */
  endsAt: Seconds.nullable(),
  /** Polls of the reward epoch, and its rounds with a poll. */
  epoch: z.object({ polls: z.int(), connectedPolls: z.int(), rounds: z.int() }).exactOptional(),
})

export const RewardsPart = z.object({
  epochs: z.array(z.int()),
  amountWei: Wei,
  /** Expiry of the oldest unclaimed rewards. */
  expiresAt: Seconds.nullable(),
})

/** What the rounds of a reward epoch are worth to a provider. */
export const EarningsPart = z.object({
  /** Number of voting rounds in a reward epoch. */
  roundsPerEpoch: z.int(),
  /** The newest published rewards of the provider itself; null if none of the last reward epochs has any. */
  newest: z
    .object({
      rewardEpoch: z.int(),
      amountWei: Wei,
      /** The provider's share of the weight now, divided by that in this reward epoch; null if it is not known. */
      weightRatio: z.number().nullable(),
    })
    .nullable(),
})
export type EarningsPart = z.output<typeof EarningsPart>

/** Fulfilled and possible cases of a duty, and rounds with evidence. */
const CountedCases = z.object({ done: z.int(), possible: z.int(), rounds: z.int() })

/** Counts of the reward epoch up to the round. */
export const EpochPart = z.object({
  firstRound: z.int(),
  /** Expected first round of the next reward epoch. */
  endRound: z.int(),
  /** Judged rounds of the epoch; fewer than passed if the service was not reading. */
  judged: z.int(),
  /** Prices near the median. */
  anchors: CountedCases,
  /** Rounds of the FDC. */
  fdc: CountedCases,
  /** Accepted fast updates of the provider, and of all. */
  updates: z.int(),
  updatesOfAll: z.int(),
  /** Share of the weight in the signing policy. */
  weightShare: z.number(),
})
export type EpochPart = z.output<typeof EpochPart>

/** State of a provider at the end of one voting round. */
export const ProviderObservation = z.object({
  /** Number of the block that completed the round. */
  position: z.int(),
  at: Instant,
  provider: Address,
  round: z.int(),
  /** Start of the round. */
  startsAt: Seconds,
  rewardEpoch: z.int(),
  /** Addresses of the provider; null if it is not in the signing policy of the round. */
  addresses: VotingAddresses.nullable(),
  checks: z.record(z.enum(ROUND_CHECKS), StoredCheck).nullable(),
  anchors: z.object({ hits: z.int(), possible: z.int() }).nullable(),
  policy: PolicyPart.nullable(),
  registration: RegistrationPart.nullable(),
  fastUpdates: FastUpdatesPart.nullable(),
  transactions: z.array(TransactionPart),
  balances: z.array(BalancePart).nullable(),
  nodes: z.array(NodePart).nullable(),
  rewards: RewardsPart.nullable(),
  earnings: EarningsPart.nullable(),
  /** Absent between two round ends, and for a provider that was not in the signing policy. */
  epoch: EpochPart.exactOptional(),
  /**
   * Whether the round was over before the provider was first watched. Such a round is shown, but not
   * judged.
   */
  isPast: z.literal(true).exactOptional(),
  /** Whether the block lies between two round ends; then only registration and fast updates are judged. */
  isBetween: z.literal(true).exactOptional(),
})
export type ProviderObservation = z.output<typeof ProviderObservation> & {
  /**
   * Of a round in which the provider failed: the stored rounds up to it with all providers, newest first. Not stored with
   * the observation; absent if they were not read.
   */
  readonly compared?: readonly WholeRound[]
}

/** Verdict of a check of the round; `unknown` without evidence. */
export function checkOf(
  { checks }: Pick<ProviderObservation, 'checks'>,
  name: RoundCheck,
): StoredCheck {
  return checks?.[name] ?? { verdict: 'unknown' }
}
