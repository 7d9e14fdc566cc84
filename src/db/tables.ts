import { bigint, pgTable, primaryKey, smallint, text, timestamp, uuid } from 'drizzle-orm/pg-core'

/** The newest fencing number of each named lock. It only grows, across all holders. */
export const lockFences = pgTable('lock_fences', {
  name: text('name').primaryKey(),
  number: bigint('number', { mode: 'number' }).notNull(),
})

/** Processes that share slices, until they stop renewing their membership. */
export const sliceMembers = pgTable(
  'slice_members',
  {
    /** Name of the work that is shared. */
    name: text('name').notNull(),
    member: uuid('member').notNull(),
    /** End of the membership, by the clock of the database. */
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.member] })],
)

/** Owner of each slice of shared work. */
export const sliceLeases = pgTable(
  'slice_leases',
  {
    name: text('name').notNull(),
    slice: smallint('slice').notNull(),
    /** Owner of the slice. The slice is free if this is null, or the owner is no longer a member. */
    owner: uuid('owner'),
    /** Fencing number: grows with every new owner. */
    number: bigint('number', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.name, table.slice] })],
)
