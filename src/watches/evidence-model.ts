/**
 * Claims of provider alerts that anybody can check on the chain, in the format of the evidence document.
 */
import { z } from 'zod'
import { ROUND_CHECKS } from '#src/fsp/protocol/verdict.ts'
import { Address, Hash, Instant, JsonObject, Units } from '#src/kernel/units.ts'

/** Number of a block. */
const Block = z.int()
/** Identity address of the data provider that the claim is about. */
const Provider = Address.meta({ description: 'operations:field.providerIdentity' })

/** Duties of a voting round, or of several in a row, that were not fulfilled. */
const RoundClaim = z
  .object({
    kind: z.literal('round'),
    provider: Provider,
    rewardEpoch: z.int(),
    /** The last bad round. */
    round: z.int(),
    /** The first bad round since the last good one. */
    firstRound: z.int(),
    /** Number of bad rounds in a row up to `round`. */
    streak: z.int(),
    /** Number of bad rounds in a row after which the watch alerts. */
    required: z.int(),
    /** At least one of these checks of `round` is bad, with exactly these values. */
    checks: z.array(z.enum(ROUND_CHECKS)),
    values: JsonObject,
  })
  .meta({ id: 'RoundClaim' })

/** A minimal condition of which part of the error budget was used in a reward epoch up to a round. */
const RateClaim = z
  .object({
    kind: z.literal('rate'),
    provider: Provider,
    condition: z.enum(['mc-anchor', 'mc-fdc']),
    rewardEpoch: z.int(),
    round: z.int(),
    /** Number of counted rounds of the reward epoch up to `round`. */
    rounds: z.int(),
    /** Fulfilled and possible cases in these rounds: prices, or rounds of the FDC. */
    done: z.int(),
    possible: z.int(),
    /** Share of the cases that may go wrong in the reward epoch, and did. */
    used: z.number(),
  })
  .meta({ id: 'RateClaim' })

/** A transaction of the provider that was reverted. */
const FailedCallClaim = z
  .object({
    kind: z.literal('failed-call'),
    provider: Provider,
    transaction: Hash,
    block: Block,
    sender: Address,
    receiver: Address,
    selector: z.string(),
    gasUsed: z.int(),
    gasLimit: z.int(),
  })
  .meta({ id: 'FailedCallClaim' })

/** No fast updates in a range of blocks. */
const SilenceClaim = z
  .object({
    kind: z.literal('silence'),
    provider: Provider,
    rewardEpoch: z.int(),
    /** The last block without an update. */
    block: Block,
    lastUpdateBlock: Block.nullable().meta({ description: 'operations:field.lastUpdateBlock' }),
    blocksSinceUpdate: z.int().meta({ description: 'operations:field.blocksSinceUpdate' }),
    sortitionWeight: z.int(),
    sampleSize: z.number(),
    /** Probability that such a silence happens by chance, for example `3.1e-9`. */
    probability: z.string(),
    threshold: z.number(),
    rule: z.enum(['probability', 'one-percent']),
    onePercentBlocks: z.int(),
  })
  .meta({ id: 'SilenceClaim' })

/** A fast update for more feeds than there are. */
const UpdateClaim = z
  .object({
    kind: z.literal('update'),
    provider: Provider,
    rewardEpoch: z.int(),
    transaction: Hash,
    block: Block,
    feedsSent: z.int(),
    feedCount: z.int(),
    /** Whether the FastUpdater accepted it. */
    isAccepted: z.boolean(),
  })
  .meta({ id: 'UpdateClaim' })

/**
 * The provider was not registered for a reward epoch at a block, some minutes after registration opened.
 */
const RegistrationClaim = z
  .object({
    kind: z.literal('registration'),
    provider: Provider,
    rewardEpoch: z.int(),
    block: Block,
    openedAt: Instant,
    minutes: z.int(),
    isClosed: z.boolean(),
  })
  .meta({ id: 'RegistrationClaim' })

/** The provider is not among the voters of a reward epoch. */
const MembershipClaim = z
  .object({
    kind: z.literal('membership'),
    provider: Provider,
    rewardEpoch: z.int(),
    /** Number of voters; null where the alert does not contain it. */
    voters: z.int().nullable(),
    startRound: z.int().nullable(),
  })
  .meta({ id: 'MembershipClaim' })

/** An address held fewer native coins than the limit at the end of a block. */
const BalanceClaim = z
  .object({
    kind: z.literal('balance'),
    provider: Provider,
    address: Address,
    role: z.string().meta({ description: 'operations:field.balanceRole' }),
    block: Block,
    balanceWei: Units.meta({ description: 'operations:field.balanceWei' }),
    limitWei: Units,
  })
  .meta({ id: 'BalanceClaim' })

/** A vote about an ended reward epoch that the provider had not signed by a block. */
const VoteClaim = z
  .object({
    kind: z.literal('vote'),
    provider: Provider,
    rewardEpoch: z.int(),
    vote: z.enum(['uptime', 'rewards']),
    block: Block,
    openedAt: Instant.nullable(),
    /** Minutes for which the vote must have been open; null for a concluded vote. */
    minutes: z.int().nullable(),
    /** Whether the vote is over, so that the provider can no longer sign. */
    isConcluded: z.boolean(),
    /** Whether the provider signed another hash than the winning one. */
    signedOtherHash: z.boolean(),
  })
  .meta({ id: 'VoteClaim' })

/**
 * The provider is not eligible for the rewards of a reward epoch, according to the eligibility data that is
 * published off-chain.
 */
const EligibilityClaim = z
  .object({
    kind: z.literal('eligibility'),
    provider: Provider,
    rewardEpoch: z.int(),
    /** Passes that the provider holds; null where the eligibility data does not contain them. */
    passes: z.number().nullable(),
    /** Failed conditions, in the words of the eligibility data. */
    failures: z.array(z.string()),
  })
  .meta({ id: 'EligibilityClaim' })

/** Rewards of the provider that could be claimed, and had not been claimed by the end of a block. */
const RewardsClaim = z
  .object({
    kind: z.literal('rewards'),
    provider: Provider,
    block: Block,
    /** Reward epochs of the rewards, oldest first. */
    epochs: z.array(z.int()),
    amountWei: Units,
    /** Time at which the oldest expire. */
    expiresAt: Instant.nullable(),
  })
  .meta({ id: 'RewardsClaim' })

/** Nodes of the provider that were no validators on the P-chain at the time of a block. */
const ListingClaim = z
  .object({
    kind: z.literal('listing'),
    provider: Provider,
    block: Block,
    nodeIds: z.array(z.string()),
  })
  .meta({ id: 'ListingClaim' })

/** The claim of an alert about the chain, or about data that is published off-chain. */
export const EvidenceClaim = z
  .discriminatedUnion('kind', [
    RoundClaim,
    RateClaim,
    FailedCallClaim,
    SilenceClaim,
    UpdateClaim,
    RegistrationClaim,
    MembershipClaim,
    BalanceClaim,
    VoteClaim,
    EligibilityClaim,
    RewardsClaim,
    ListingClaim,
  ])
  .meta({ id: 'EvidenceClaim' })
export type EvidenceClaim = z.output<typeof EvidenceClaim>

/**
 * Reasons why an alert has no claim. `recovery`: it is a recovery. `p-chain`: it is about connections that a node of the
 * P-chain observed, which are stored nowhere. `other`: it is not about a data provider, or it lacks the values of a claim.
 */
export const UNPROVEN_REASONS = ['recovery', 'p-chain', 'other'] as const
export type UnprovenReason = (typeof UNPROVEN_REASONS)[number]

/** Event of an alert, and number of the block after which the alert was judged. */
export interface AlertAtBlock {
  readonly event: string
  readonly block: number
}

/** Derives the claim from an alert's data; not called for recoveries. */
export type ClaimBuilder = (data: JsonObject, place: AlertAtBlock) => EvidenceClaim | UnprovenReason
