import { sql } from 'drizzle-orm'
import { check, index, integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import { hasWalletForm } from '#src/db/wallet-form.ts'

export const challenges = pgTable(
  'challenges',
  {
    nonce: text('nonce').primaryKey(),
    wallet: text('wallet').notNull(),
    scopes: text('scopes').array().notNull(),
    label: text('label'),
    /** The exact text that is to be signed. */
    message: text('message').notNull(),
    issuedAt: timestamp('issued_at', { withTimezone: true }).notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
    usedAt: timestamp('used_at', { withTimezone: true }),
  },
  (table) => [index('challenges_expires').on(table.expiresAt)],
)

export const tokens = pgTable(
  'tokens',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    wallet: text('wallet').notNull(),
    label: text('label'),
    scopes: text('scopes').array().notNull(),
    /** First characters of the token, for display. */
    prefix: text('prefix').notNull(),
    /** SHA-256 of the whole token, in hex. */
    hash: text('hash').notNull().unique(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
    lastUsedAt: timestamp('last_used_at', { withTimezone: true }),
    revokedAt: timestamp('revoked_at', { withTimezone: true }),
  },
  (table) => [
    index('tokens_wallet').on(table.wallet),
    index('tokens_expires').on(table.expiresAt),
    index('tokens_revoked').on(table.revokedAt).where(sql`revoked_at is not null`),
  ],
)

/** Wallets that the operator has banned: they can neither sign in nor be connected to a chat. */
export const bans = pgTable(
  'bans',
  {
    wallet: text('wallet').primaryKey(),
    /** Why, for operators; the banned person does not read it. */
    reason: text('reason').notNull(),
    bannedAt: timestamp('banned_at', { withTimezone: true }).notNull(),
  },
  (table) => [check('bans_wallet_form', hasWalletForm(table.wallet))],
)
