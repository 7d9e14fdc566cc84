import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../migrations')
/** The first release. The migrations after it must keep the rules, because tables may be large. */
const FIRST = '0000_first'
/** Tables that may have many rows. */
const BIG =
  'delivery_queue|delivery_log|alerts|ledger_entries|sent_messages|accounts|free_calls|watches'

const RULES: readonly (readonly [string, RegExp])[] = [
  [
    'adds a column that must not be null, without a default',
    /add column (?![^;]*\bdefault\b)[^;]*\bnot null\b/,
  ],
  ['rewrites a table', /alter column \S+ (set data )?type\b/],
  ['drops a column or table that the previous release uses', /\bdrop (column|table)\b/],
  ['renames what the previous release uses', /\brename\b/],
  [
    'drops a default, function, view, type or sequence that the previous release uses',
    /\bdrop (default|function|view|type|sequence)\b/,
  ],
  ['scans a table under a lock that blocks writes', /\bset not null\b/],
  [
    'adds a constraint that is not NOT VALID: rows of the previous release may violate it, and the table is scanned under a lock',
    /\badd constraint \S+ (?!primary key|.* not valid$)/,
  ],
  [
    'creates an index on a big table without CONCURRENTLY, which blocks writes',
    new RegExp(
      `create (unique )?index (?!concurrently)(if not exists )?\\S+ on (only )?(${BIG})\\b`,
    ),
  ],
]

function brokenRules(text: string): readonly string[] {
  const statements = text
    .replaceAll(/--.*$/gm, '')
    .replaceAll('"', '')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase()
    .split(';')
  return RULES.filter(([, rule]) => statements.some((statement) => rule.test(statement))).map(
    ([description]) => description,
  )
}

const tags = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .map((name) => name.replace('.sql', ''))
  .filter((tag) => tag !== FIRST)

describe('a migration does not block writers, and the previous release works with the migrated schema', () => {
  test('each migration', () => {
    const broken = tags.map((tag) => {
      return [tag, brokenRules(readFileSync(join(FOLDER, `${tag}.sql`), 'utf8'))] as const
    })
    expect(broken.filter(([, rules]) => rules.length > 0)).toEqual([])
  })

  test.each([
    ['ALTER TABLE "tokens" ADD COLUMN "a" text NOT NULL;', 1],
    ['ALTER TABLE "tokens" ADD COLUMN "a" boolean DEFAULT false NOT NULL;', 0],
    ['ALTER TABLE "tokens" ALTER COLUMN "a" SET DATA TYPE bigint;', 1],
    ['ALTER TABLE "tokens" DROP COLUMN "a";', 1],
    ['DROP TABLE "tokens";', 1],
    ['ALTER TABLE "tokens" RENAME COLUMN "a" TO "b";', 1],
    ['CREATE INDEX "a" ON "delivery_log" USING btree ("b");', 1],
    ['CREATE UNIQUE INDEX "a" ON "accounts" USING btree ("b");', 1],
    ['CREATE INDEX "a" ON "alert_budgets" USING btree ("b");', 0],
    ['-- DROP TABLE "tokens";', 0],
    ['ALTER TABLE "tokens" ALTER COLUMN "a" DROP DEFAULT;', 1],
    ['ALTER TABLE "tokens" ALTER COLUMN "a" DROP NOT NULL;', 0],
    ['ALTER TABLE "tokens" ALTER COLUMN "a" SET NOT NULL;', 1],
    ['ALTER TABLE "tokens" ADD CONSTRAINT "a" CHECK ("b" > 0);', 1],
    ['ALTER TABLE "tokens" ADD CONSTRAINT "a" CHECK ("b" > 0) NOT VALID;', 0],
    ['ALTER TABLE "tokens" ADD CONSTRAINT "a" UNIQUE("b");', 1],
    ['ALTER TABLE "tokens" VALIDATE CONSTRAINT "a";', 0],
  ])('in %s the rules find %i problems', (text, count) => {
    expect(brokenRules(text)).toHaveLength(count)
  })
})
