import { bigint, index, integer, jsonb, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

/** What the bot knows of a chat beyond its links: language, zone, chosen wallet. */
export const chats = pgTable('telegram_chats', {
  id: bigint('id', { mode: 'number' }).primaryKey(),
  kind: text('kind').notNull(),
  title: text('title').notNull(),
  locale: text('locale').notNull(),
  /** The wallet the chat works on, when it is linked to several. */
  wallet: text('wallet'),
  /** The newest message with buttons that lead through the screens; only one has them. */
  livingMessageId: integer('living_message_id'),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull(),
})

/** Updates from Telegram, kept until handled and a little longer, so that none is handled twice. */
export const telegramUpdates = pgTable(
  'telegram_updates',
  {
    updateId: bigint('update_id', { mode: 'number' }).primaryKey(),
    /** Updates of one key are handled one after another. */
    chatKey: text('chat_key').notNull(),
    update: jsonb('update').$type<unknown>(),
    attempts: integer('attempts').notNull(),
    receivedAt: timestamp('received_at', { withTimezone: true }).notNull(),
    leasedUntil: timestamp('leased_until', { withTimezone: true }),
    handledAt: timestamp('handled_at', { withTimezone: true }),
  },
  (table) => [index('telegram_updates_open').on(table.handledAt, table.updateId)],
)
