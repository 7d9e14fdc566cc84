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
    /** The Telegram account that started it, if one did; each may start one trial. */
    telegramUserId: bigint('telegram_user_id', { mode: 'number' }).unique(),
    startedAt: timestamp('started_at', { withTimezone: true }).notNull(),
    endsAt: timestamp('ends_at', { withTimezone: true }).notNull(),
    /** When its owner is reminded of the end; null afterwards. */
    remindAt: timestamp('remind_at', { withTimezone: true }),
    /** The number of the last pause of billing that its end was moved for. */
    movedForPause: integer('moved_for_pause').notNull().default(0),
  },
  (table) => [index('trials_remind').on(table.remindAt).where(sql`remind_at is not null`)],
)

/** Telegram accounts that had a trial: linked to a wallet that had one, or started one themselves. */
export const trialAccounts = pgTable('trial_accounts', {
  telegramUserId: bigint('telegram_user_id', { mode: 'number' }).primaryKey(),
  /** The wallet of that trial. */
  wallet: text('wallet').notNull(),
})

export const subscriptions = pgTable(
  'subscriptions',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    wallet: text('wallet').notNull(),
    quantity: integer('quantity').notNull(),
    periods: integer('periods').notNull(),
    status: text('status').notNull().$type<SubscriptionStatus>(),
    /** Terms paid: 1, 2, 3 … The ledger reference of each names it. */
    term: integer('term').notNull(),
    startsAt: timestamp('starts_at', { withTimezone: true }).notNull(),
    endsAt: timestamp('ends_at', { withTimezone: true }).notNull(),
    /** What the term cost. */
    totalCredits: bigint('total_credits', { mode: 'number' }).notNull(),
    autoRenew: boolean('auto_renew').notNull(),
    /** Renewals tried in vain since the term ended. */
    failedRenewals: integer('failed_renewals').notNull(),
    lastRenewalError: text('last_renewal_error'),
    /** When something has to be done with it; null once it is over. */
    dueAt: timestamp('due_at', { withTimezone: true }),
    /** When its owner is reminded next of the end of the term; null when that is over. */
    remindAt: timestamp('remind_at', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    /** The number of the last pause of billing that its term was moved for. */
    movedForPause: integer('moved_for_pause').notNull().default(0),
  },
  (table) => [
    index('subscriptions_wallet').on(table.wallet, table.id),
    index('subscriptions_due').on(table.dueAt).where(sql`due_at is not null`),
    index('subscriptions_remind').on(table.remindAt).where(sql`remind_at is not null`),
  ],
)

/** Times in which billing was off: what runs by time stands still in them. */
export const billingPauses = pgTable('billing_pauses', {
  /** 1, 2, 3 … in their order. */
  number: integer('number').primaryKey(),
  /** When billing was first seen off. */
  offAt: timestamp('off_at', { withTimezone: true }).notNull(),
  /** When it was first seen on again; null while it is off. */
  onAt: timestamp('on_at', { withTimezone: true }),
  /** When every term and trial had been moved; null before. */
  settledAt: timestamp('settled_at', { withTimezone: true }),
})

/**
 * Wallets whose capacity changes, and when: written in the transaction that causes it, removed in the
 * one that has fitted their watches to it.
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
