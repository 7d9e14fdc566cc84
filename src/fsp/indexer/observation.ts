import { z } from 'zod'
import { Address, Instant, JsonObject } from '#src/kernel/units.ts'
import { ROUND_CHECKS, type RoundCheck } from '../protocol/verdict.ts'

/**
 * What is known of a provider when a voting round is complete. Every part may be null: no evidence.
 * Instants inside parts are epoch seconds, amounts wei as decimal text.
 */

const StoredCheck = z.object({
  verdict: z.enum(['good', 'bad', 'unknown', 'not-applicable']),
  values: JsonObject.exactOptional(),
})
export type StoredCheck = z.output<typeof StoredCheck>

const Seconds = z.int()
const Wei = z.string().regex(/^\d+$/)

/** Its addresses in the signing policy of the round. */
export const Addresses = z.object({
  submit: Address,
  submitSignatures: Address,
  signingPolicy: Address,
})

/** The signing policies that matter now: the one in force and, once it is fixed, the next one. */
export const PolicyPart = z.object({
  current: z.object({
    epoch: z.int(),
    isMember: z.boolean(),
    voters: z.int(),
    startRound: z.int(),
    /** Start of its first round; null in rounds that an earlier version kept. */
    startsAt: Seconds.nullable().default(null),
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

/** Registration for the next reward epoch, from its opening on. */
export const RegistrationPart = z.object({
  epoch: z.int(),
  openedAt: Seconds,
  /** Until when registration stays open at least; null in rounds that an earlier version kept. */
  closesAtEarliest: Seconds.nullable().default(null),
  /** The signing policy is fixed: nobody can register any more. */
  isClosed: z.boolean(),
  isRegistered: z.boolean(),
  /** Whether it is registered for the epoch in force. */
  wasRegistered: z.boolean(),
  preRegistered: z.boolean().nullable(),
  preRegistrationFailed: z.boolean(),
})

/** Silence of fast updates since the last one, over the blocks that were read. */
export const FastUpdatesPart = z.object({
  /** `exp(-exponent)` is the chance of the silence for a provider that works. */
  exponent: z.number(),
  blocksSinceUpdate: z.int(),
  lastUpdateBlock: z.int().nullable(),
  /** When that was; null: none was seen, or by a version that did not keep it. */
  lastUpdateAt: Seconds.nullable().default(null),
  sortitionWeight: z.int(),
  sampleSize: z.number(),
  onePercentBlocks: z.int(),
  /** Normalised weight as a share of all. */
  weightShare: z.number(),
})

/** A transaction to a protocol contract. */
export const TransactionPart = z.object({
  tx: z.string(),
  ok: z.boolean(),
  /** A lost race, as providers lose them every day. */
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

/** A validator of the provider over the polls since the observation before. */
export const NodePart = z.object({
  /** `NodeID-…`. */
  nodeId: z.string(),
  polls: z.int(),
  connectedPolls: z.int(),
  /** In none of the last two answers. */
  isListed: z.boolean(),
  /** End of its stake, as it was last listed. */
  endsAt: Seconds.nullable(),
})

export const RewardsPart = z.object({
  epochs: z.array(z.int()),
  amountWei: Wei,
  /** When the oldest expires. */
  expiresAt: Seconds.nullable(),
})

/** A provider at the end of one voting round. */
export const ProviderObservation = z.object({
  /** The block that completed the round. */
  position: z.int(),
  at: Instant,
  provider: Address,
  round: z.int(),
  /** Start of the round. */
  startsAt: Seconds,
  rewardEpoch: z.int(),
  /** Null: not in the signing policy of the round. */
  addresses: Addresses.nullable(),
  checks: z.record(z.enum(ROUND_CHECKS), StoredCheck).nullable(),
  anchors: z.object({ hits: z.int(), possible: z.int() }).nullable(),
  policy: PolicyPart.nullable(),
  registration: RegistrationPart.nullable(),
  fastUpdates: FastUpdatesPart.nullable(),
  transactions: z.array(TransactionPart),
  balances: z.array(BalancePart).nullable(),
  nodes: z.array(NodePart).nullable(),
  rewards: RewardsPart.nullable(),
  /** The round was over when the provider was first looked at: shown, and not judged. */
  isPast: z.literal(true).exactOptional(),
  /** A block between two round ends: registration and fast updates alone are judged by it. */
  isBetween: z.literal(true).exactOptional(),
})
export type ProviderObservation = z.output<typeof ProviderObservation>

/** How a check of the round went; unknown where nothing is known of the round. */
export function checkOf(
  { checks }: Pick<ProviderObservation, 'checks'>,
  name: RoundCheck,
): StoredCheck {
  return checks?.[name] ?? { verdict: 'unknown' }
}
