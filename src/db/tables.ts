import { bigint, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core'

/** Processes that take part in a work, until they stop renewing their membership. */
export const members = pgTable(
  'members',
  {
    /** `jobs`, or the name of a work that is shared in slices. */
    work: text('work').notNull(),
    process: uuid('process').notNull(),
    /** End of the membership, by the clock of the database. */
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.work, table.process] })],
)

/** Which process does which part of a work. */
export const leases = pgTable(
  'leases',
  {
    work: text('work').notNull(),
    /** Name of a job, or number of a slice. */
    item: text('item').notNull(),
    /** The lease is free if this is null, or the owner is no longer a member. */
    owner: uuid('owner'),
    /** Fencing number: grows with every new owner. */
    number: bigint('number', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.work, table.item] })],
)
