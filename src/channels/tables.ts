import { sql } from 'drizzle-orm'
import { bigint, index, jsonb, pgTable, primaryKey, timestamp } from 'drizzle-orm/pg-core'

/**
 * Earliest times of a bot's next messages, in total and to each chat. Times are by the clock of the
 * database.
 */
export const telegramPaces = pgTable(
  'telegram_paces',
  {
    botId: bigint('bot_id', { mode: 'number' }).notNull(),
    /** Hash of the chat's id; 0 for the bot as a whole. */
    chatId: bigint('chat_id', { mode: 'number' }).notNull(),
    nextAt: timestamp('next_at', { withTimezone: true }).notNull(),
    /** Times of the last messages, in milliseconds, oldest first; only for groups. */
    sentAt: jsonb('sent_at').notNull().default([]).$type<readonly number[]>(),
    /** Time at which the row was written. */
    at: timestamp('at', { withTimezone: true }).notNull(),
    /** Time of Telegram's last response 429. */
    floodedAt: timestamp('flooded_at', { withTimezone: true }),
  },
  (table) => [
    primaryKey({ columns: [table.botId, table.chatId] }),
    index('telegram_paces_flooded')
      .on(table.botId, table.floodedAt)
      .where(sql`flooded_at is not null`),
  ],
)
