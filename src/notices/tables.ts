import { index, integer, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'

/** Sent notices by recipient; each recipient gets a notice once. */
export const notices = pgTable(
  'notices',
  {
    recipientId: integer('recipient_id').notNull(),
    /** Subject of the notice, such as `slots-end 7 1 2026-12-13T12:00:00.000Z`. */
    key: text('key').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.recipientId, table.key] }),
    index('notices_created').on(table.createdAt),
  ],
)
