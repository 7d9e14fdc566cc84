import { index, integer, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'

/** Which recipient was given which notice: each once. */
export const notices = pgTable(
  'notices',
  {
    recipientId: integer('recipient_id').notNull(),
    /** What it was about, such as `slots-end 7 1 2026-12-13T12:00:00.000Z`. */
    key: text('key').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.recipientId, table.key] }),
    index('notices_created').on(table.createdAt),
  ],
)
