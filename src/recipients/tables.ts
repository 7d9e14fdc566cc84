import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

/** Named recipients and, with `own`, the wallet's own channel set-up: one row per destination. */
export const recipients = pgTable(
  'recipients',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    wallet: text('wallet').notNull(),
    channel: text('channel').notNull(),
    /** True for the wallet's own destination of a channel (`/channels`), which has no name. */
    own: boolean('own').notNull(),
    name: text('name'),
    /** The channel's destination as JSON, sealed with SECRET_KEY. */
    destination: text('destination').notNull(),
    /** The destination as it may be shown. */
    target: text('target').notNull(),
    /** Who serves it, as the channel's `lane` says: bounds concurrency. */
    lane: text('lane').notNull(),
    locale: text('locale').notNull(),
    timezone: text('timezone').notNull(),
    status: text('status').notNull(),
    statusReason: text('status_reason'),
    minSeverity: text('min_severity').notNull(),
    isDefault: boolean('is_default').notNull(),
    /** Telegram only: the chat, to find its wallets, and what the chat may do for this one. */
    chatId: bigint('chat_id', { mode: 'number' }),
    chatScopes: text('chat_scopes').array(),
    /** Telegram only: the account that confirmed the link. */
    linkedBy: bigint('linked_by', { mode: 'number' }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
    verifiedAt: timestamp('verified_at', { withTimezone: true }),
    lastSuccessAt: timestamp('last_success_at', { withTimezone: true }),
    lastFailureAt: timestamp('last_failure_at', { withTimezone: true }),
    /** Since when every attempt failed; null after a success. */
    failingSince: timestamp('failing_since', { withTimezone: true }),
  },
  (table) => [
    index('recipients_wallet').on(table.wallet, table.id),
    uniqueIndex('recipients_own_channel').on(table.wallet, table.channel).where(sql`own`),
    uniqueIndex('recipients_wallet_chat').on(table.wallet, table.chatId),
    index('recipients_chat').on(table.chatId),
  ],
)

export const linkCodes = pgTable('link_codes', {
  /** SHA-256 of the code, hex. */
  hash: text('hash').primaryKey(),
  wallet: text('wallet').notNull(),
  name: text('name'),
  scopes: text('scopes').array().notNull(),
  /** Label of the token it was made with. */
  madeBy: text('made_by'),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  usedAt: timestamp('used_at', { withTimezone: true }),
})

export const notificationSettings = pgTable('notification_settings', {
  wallet: text('wallet').primaryKey(),
  settings: jsonb('settings').notNull().$type<unknown>(),
  version: integer('version').notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
})
