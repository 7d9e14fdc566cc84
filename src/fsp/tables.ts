import { sql } from 'drizzle-orm'
import {
  boolean,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'

/** What others publish about a reward epoch, as it was seen last. */
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

/** Answers of the P-chain about the validators of watched providers; the newest day. */
export const validatorPolls = pgTable('validator_polls', {
  /** By the service's clock. */
  polledAt: timestamp('polled_at', { withTimezone: true }).primaryKey(),
  /** What was asked for, by `NodeID-…`: `{ connected, endsAt }`, or null where it is no validator. */
  validators: jsonb('validators').notNull().$type<unknown>(),
})

/** Signatures on the votes about a reward epoch, out of events. */
export const voteSignatures = pgTable(
  'vote_signatures',
  {
    rewardEpochId: integer('reward_epoch_id').notNull(),
    /** uptime or rewards. */
    kind: text('kind').notNull(),
    voter: text('voter').notNull(),
    hash: text('hash').notNull(),
    signedAt: timestamp('signed_at', { withTimezone: true }).notNull(),
    /** It was the one that concluded the vote. */
    isLast: boolean('is_last').notNull(),
  },
  (table) => [primaryKey({ columns: [table.rewardEpochId, table.kind, table.voter, table.hash] })],
)

/** Blocks whose events have been read and stored, as ranges; what lies between them is still to be read. */
export const readRanges = pgTable(
  'read_ranges',
  {
    /** What was looked for. */
    name: text('name').notNull(),
    fromBlock: integer('from_block').notNull(),
    toBlock: integer('to_block').notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.fromBlock] })],
)

/** Voting rounds as they were judged, every provider of the signing policy in one row. */
export const fspRounds = pgTable(
  'fsp_rounds',
  {
    round: integer('round').primaryKey(),
    rewardEpoch: integer('reward_epoch').notNull(),
    startsAt: timestamp('starts_at', { withTimezone: true }).notNull(),
    /** The block that completed it. */
    blockNumber: integer('block_number').notNull(),
    blockAt: timestamp('block_at', { withTimezone: true }).notNull(),
    /** By identity address, as `indexer/round-record.ts` writes it. */
    providers: jsonb('providers').notNull().$type<unknown>(),
  },
  (table) => [index('fsp_rounds_block').on(table.blockNumber)],
)

/** A provider's own rewards of a reward epoch, by claim: as published, and whether claimed since. */
export const fspRewards = pgTable(
  'fsp_rewards',
  {
    rewardEpoch: integer('reward_epoch').notNull(),
    beneficiary: text('beneficiary').notNull(),
    claimType: integer('claim_type').notNull(),
    /** Whose it is, by identity; null while only the claim is known. */
    voter: text('voter'),
    /** Null while only the claim is known. */
    amountWei: numeric('amount_wei', { precision: 78, scale: 0 }),
    claimed: boolean('claimed').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.rewardEpoch, table.beneficiary, table.claimType] }),
    index('fsp_rewards_waiting').on(table.voter).where(sql`not claimed`),
  ],
)

/** How far voting rounds have been read; one row. */
export const fspProgress = pgTable('fsp_progress', {
  id: integer('id').primaryKey(),
  /** Up to this block everything has been counted. */
  blockNumber: integer('block_number').notNull(),
  blockAt: timestamp('block_at', { withTimezone: true }).notNull(),
  /** Where reading begins again after a stop: before the first block of the oldest open round. */
  resumeFrom: integer('resume_from').notNull(),
  /** What goes on from round to round, as `indexer/round-keeper.ts` writes it. */
  state: jsonb('state').notNull().$type<unknown>(),
  /** Since when nothing could be read; null while it can. */
  failingSince: timestamp('failing_since', { withTimezone: true }),
})
