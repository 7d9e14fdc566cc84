import { bigint, boolean, index, jsonb, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

/** Everything that operators did with `npm run admin`, append-only: who, what, why and with what result. */
export const operatorActs = pgTable(
  'operator_acts',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    at: timestamp('at', { withTimezone: true }).notNull(),
    /** Name of the operator: `--by`, or the user of the machine. */
    operator: text('operator').notNull(),
    command: text('command').notNull(),
    input: jsonb('input').notNull().$type<Readonly<Record<string, unknown>>>(),
    /** Whether something was changed; false where the same command had done it before. */
    changed: boolean('changed').notNull(),
    /** What the operator was told. */
    result: jsonb('result').notNull().$type<readonly string[]>(),
  },
  (table) => [index('operator_acts_at').on(table.at)],
)
