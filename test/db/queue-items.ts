/** Two queues for tests: `DUE_QUEUE` claims rows by their due time, `KEYED_QUEUE` by the turns of their keys. */
import { integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import type { Queue } from '#src/db/queue.ts'

const dueItems = pgTable('due_items', {
  id: integer('id').primaryKey(),
  dueAt: timestamp('due_at', { withTimezone: true }),
  attempts: integer('attempts').notNull(),
})

export const DUE_QUEUE = {
  table: dueItems,
  id: ['id'],
  dueAt: 'dueAt',
  attempts: 'attempts',
} as const satisfies Queue<typeof dueItems>

const keyedItems = pgTable('keyed_items', {
  id: integer('id').primaryKey(),
  key: text('key').notNull(),
  turn: integer('turn').notNull(),
  leasedUntil: timestamp('leased_until', { withTimezone: true }),
  doneAt: timestamp('done_at', { withTimezone: true }),
})

export const KEYED_QUEUE = {
  table: keyedItems,
  id: ['id'],
  leasedUntil: 'leasedUntil',
  partition: { key: 'key', turn: 'turn', doneAt: 'doneAt' },
} as const satisfies Queue<typeof keyedItems>

/** SQL that creates the tables of both queues. */
export const CREATE_TABLES = `
  create table due_items (id int primary key, due_at timestamptz, attempts int not null default 0);
  create table keyed_items (id int primary key, key text not null, turn int not null,
    leased_until timestamptz, done_at timestamptz);
  create index on keyed_items (turn, id) where done_at is null;
  create index on keyed_items (key, id) where done_at is null`
