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
     * Free calls used. Calls settled together with the last free one are counted too, so that the count
     * before them follows from the count after.
     */
    calls: integer('calls').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.subject, table.day] }),
    index('free_calls_day').on(table.day),
    check('free_calls_not_negative', sql`${table.calls} >= 0`),
  ],
)
