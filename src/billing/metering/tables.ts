import { date, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'

/** Free calls made, per UTC day and per wallet or client network. */
export const freeCalls = pgTable(
  'free_calls',
  {
    /** A wallet, or the network of a client without a token. */
    subject: text('subject').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    calls: integer('calls').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subject, table.day] })],
)
