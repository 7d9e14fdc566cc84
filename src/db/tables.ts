import { bigint, pgTable, text } from 'drizzle-orm/pg-core'

/** The newest fencing number of each named lock. It only grows, across all holders. */
export const lockFences = pgTable('lock_fences', {
  name: text('name').primaryKey(),
  number: bigint('number', { mode: 'number' }).notNull(),
})
