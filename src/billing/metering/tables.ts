import { sql } from 'drizzle-orm'
import { check, date, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'

/** Free calls used, per UTC day and per wallet or client network. */
export const freeCalls = pgTable(
  'free_calls',
  {
    /** A wallet, or the network of a client without a token. */
    subject: text('subject').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    /**
     * Number of free calls used. Calls that were settled together with the last free call are counted, too,
     * so that the count before a batch follows from the count after it.
     */
    calls: integer('calls').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.subject, table.day] }),
    index('free_calls_day').on(table.day),
    check('free_calls_not_negative', sql`${table.calls} >= 0`),
  ],
)
