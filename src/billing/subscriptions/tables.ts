import { bigint, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

export const trials = pgTable('trials', {
  wallet: text('wallet').primaryKey(),
  /** The Telegram account that started it, if one did; each may start one trial. */
  telegramUserId: bigint('telegram_user_id', { mode: 'number' }).unique(),
  startedAt: timestamp('started_at', { withTimezone: true }).notNull(),
  endsAt: timestamp('ends_at', { withTimezone: true }).notNull(),
})
