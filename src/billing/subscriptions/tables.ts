import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'
import type { SubscriptionStatus } from './model.ts'

export const trials = pgTable(
  'trials',
  {
    wallet: text('wallet').primaryKey(),
    /** The Telegram account that started the trial, if any; each account may start one trial. */
    telegramUserId: bigint('telegram_user_id', { mode: 'number' }).unique(),
    startedAt: timestamp('started_at', { withTimezone: true }).notNull(),
    endsAt: timestamp('ends_at', { withTimezone: true }).notNull(),
    /** Time of the next reminder of the end; null after the last. */
    remindAt: timestamp('remind_at', { withTimezone: true }),
  },
  (table) => [index('trials_remind').on(table.remindAt).where(sql`remind_at is not null`)],
)

/** Telegram accounts that had a trial: linked to a wallet that had one, or started one themselves. */
export const trialAccounts = pgTable('trial_accounts', {
  telegramUserId: bigint('telegram_user_id', { mode: 'number' }).primaryKey(),
  /** The wallet of that trial. */
  wallet: text('wallet').notNull(),
})

/**
 * Wallets and Telegram accounts of deleted accounts that had a trial, so that nobody has a second one. Only a digest of
 * each is kept.
 */
export const spentTrials = pgTable('spent_trials', {
  /** SHA-256 of the kind and the wallet or account, in hex. */
  digest: text('digest').primaryKey(),
})

export const subscriptions = pgTable(
  'subscriptions',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    wallet: text('wallet').notNull(),
    quantity: integer('quantity').notNull(),
    periods: integer('periods').notNull(),
    status: text('status').notNull().$type<SubscriptionStatus>(),
    /** Number of the paid term: 1, 2, 3 … Part of its ledger reference. */
    term: integer('term').notNull(),
    startsAt: timestamp('starts_at', { withTimezone: true }).notNull(),
    endsAt: timestamp('ends_at', { withTimezone: true }).notNull(),
    /** Price of the term. */
    totalCredits: bigint('total_credits', { mode: 'number' }).notNull(),
    autoRenew: boolean('auto_renew').notNull(),
    /** Failed renewals since the term ended. */
    failedRenewals: integer('failed_renewals').notNull(),
    lastRenewalError: text('last_renewal_error'),
    /** Time of the next change; null after the end. */
    dueAt: timestamp('due_at', { withTimezone: true }),
    /** Time of the next reminder of the end of the term; null after the last. */
    remindAt: timestamp('remind_at', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    index('subscriptions_wallet').on(table.wallet, table.id),
    index('subscriptions_due').on(table.dueAt).where(sql`due_at is not null`),
    index('subscriptions_remind').on(table.remindAt).where(sql`remind_at is not null`),
  ],
)

/** Pauses of billing. The transaction that ends one extends terms and trials by it. */
export const billingPauses = pgTable('billing_pauses', {
  /** Number of the pause: 1, 2, 3 … */
  number: integer('number').primaryKey(),
  /** Time at which billing was first seen off. */
  offAt: timestamp('off_at', { withTimezone: true }).notNull(),
  /** Time at which billing was first seen on again; null while billing is off. */
  onAt: timestamp('on_at', { withTimezone: true }),
})

/**
 * Changes of wallets' capacities, now or later, that the watches were not adjusted to yet. The transaction that
 * causes a change writes it; the transaction that adjusts the watches deletes it.
 */
export const capacityChanges = pgTable(
  'capacity_changes',
  {
    wallet: text('wallet').notNull(),
    at: timestamp('at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.at] }),
    index('capacity_changes_at').on(table.at),
  ],
)
