import { sql } from 'drizzle-orm'
import {
  boolean,
  date,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'
import type { Address, Hash } from '#src/kernel/units.ts'

/** Published data about a reward epoch, as it was last seen; also how the last readings of its addresses ended. */
export const publications = pgTable(
  'publications',
  {
    kind: text('kind').notNull(),
    rewardEpochId: integer('reward_epoch_id').notNull(),
    data: jsonb('data').notNull().$type<unknown>(),
    /** Time of the block at which it was first seen. */
    seenAt: timestamp('seen_at', { withTimezone: true }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.rewardEpochId] })],
)

/** Polls of the P-chain about the validators of watched providers, of the last day. */
export const validatorPolls = pgTable('validator_polls', {
  /** Time by the service's clock. */
  polledAt: timestamp('polled_at', { withTimezone: true }).primaryKey(),
  /** Requested validators by `NodeID-…`: `{ connected, endsAt }`, or null if it is not a validator. */
  validators: jsonb('validators').notNull().$type<unknown>(),
})

/** Signatures of the votes about a reward epoch, from events. */
export const voteSignatures = pgTable(
  'vote_signatures',
  {
    rewardEpochId: integer('reward_epoch_id').notNull(),
    /** `uptime` or `rewards`. */
    kind: text('kind').notNull(),
    voter: text('voter').notNull(),
    hash: text('hash').notNull(),
    signedAt: timestamp('signed_at', { withTimezone: true }).notNull(),
    /** Whether the signature concluded the vote. */
    isLast: boolean('is_last').notNull(),
  },
  (table) => [primaryKey({ columns: [table.rewardEpochId, table.kind, table.voter, table.hash] })],
)

/** Ranges of blocks whose events have been read and stored. Blocks between ranges must still be read. */
export const readRanges = pgTable(
  'read_ranges',
  {
    /** Purpose of reading. */
    name: text('name').notNull(),
    fromBlock: integer('from_block').notNull(),
    toBlock: integer('to_block').notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.fromBlock] })],
)

/** Judged voting rounds, with every provider of the signing policy in one row. */
export const fspRounds = pgTable(
  'fsp_rounds',
  {
    round: integer('round').primaryKey(),
    rewardEpoch: integer('reward_epoch').notNull(),
    startsAt: timestamp('starts_at', { withTimezone: true }).notNull(),
    /** The block that completed the round. */
    blockNumber: integer('block_number').notNull(),
    blockHash: text('block_hash').notNull().$type<Hash>(),
    blockAt: timestamp('block_at', { withTimezone: true }).notNull(),
    /** Records of providers by identity address, encoded by `indexer/round-record.ts`. */
    providers: jsonb('providers').notNull().$type<unknown>(),
  },
  (table) => [index('fsp_rounds_block').on(table.blockNumber)],
)

/** Counts of the judged rounds of a provider on a day of a reward epoch. Kept for years, while rounds are not. */
export const fspDaily = pgTable(
  'fsp_daily',
  {
    /** Identity address. */
    voter: text('voter').notNull().$type<Address>(),
    /** Day in UTC on which the rounds began. */
    day: date('day').notNull(),
    rewardEpoch: integer('reward_epoch').notNull(),
    /** Rounds with a known result, and those of them with an unfulfilled duty. */
    rounds: integer('rounds').notNull(),
    badRounds: integer('bad_rounds').notNull(),
    /** By place of the check in `ROUND_CHECKS`: rounds in which it was good or bad, and in which it was bad. */
    known: integer('known').array().notNull(),
    bad: integer('bad').array().notNull(),
    /** Prices close to the median, and prices that were possible. */
    anchorHits: integer('anchor_hits').notNull(),
    anchorPossible: integer('anchor_possible').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.voter, table.day, table.rewardEpoch] }),
    index('fsp_daily_day').on(table.day),
  ],
)

/** A provider's own rewards of a reward epoch, by claim: published amount, and whether claimed. */
export const fspRewards = pgTable(
  'fsp_rewards',
  {
    rewardEpoch: integer('reward_epoch').notNull(),
    beneficiary: text('beneficiary').notNull(),
    claimType: integer('claim_type').notNull(),
    /** Identity address of the provider; null while only the claim is known. */
    voter: text('voter'),
    /** Amount of the reward; null while only the claim is known. */
    amountWei: numeric('amount_wei', { precision: 78, scale: 0 }),
    claimed: boolean('claimed').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.rewardEpoch, table.beneficiary, table.claimType] }),
    index('fsp_rewards_waiting').on(table.voter).where(sql`not claimed`),
  ],
)

/** Progress of reading voting rounds; one row. */
export const fspProgress = pgTable('fsp_progress', {
  id: integer('id').primaryKey(),
  /** Block up to which everything has been counted. */
  blockNumber: integer('block_number').notNull(),
  blockHash: text('block_hash').notNull().$type<Hash>(),
  blockAt: timestamp('block_at', { withTimezone: true }).notNull(),
  /** Block at which reading starts again after a stop: before the first block of the oldest open round. */
  resumeFrom: integer('resume_from').notNull(),
  /** State carried from round to round, encoded by `indexer/carried-state.ts`. */
  state: jsonb('state').notNull().$type<unknown>(),
})
