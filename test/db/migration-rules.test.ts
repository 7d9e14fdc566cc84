import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const FOLDER = join(import.meta.dirname, '../../migrations')
/** Migrations before this one created the first release and are not checked. */
const FIRST_CHECKED = '0014'
/** Tables that may have many rows. */
const BIG = 'deliveries|alerts|ledger_entries|sent_messages|accounts|free_calls|watches'

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

/**
 * The update from the first release creates its indexes in one transaction, which blocks writers for about a second
 * per million rows. PostgreSQL cannot create an index of a partitioned table concurrently. Later migrations must
 * keep the rules, because tables may be large.
 */
const EARLY = 'part of the update from the first release, whose tables are small'
/** Migrations that may break a rule, each with its reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  '0014_links-and-limits': 'its unique constraint is on a column that the same migration adds',
  '0015_payments-apart': EARLY,
  '0018_public-figures': EARLY,
  '0019_fair-claims': EARLY,
  '0026_escalation': EARLY,
  '0036_retries': EARLY,
}

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
  .filter((name) => name.endsWith('.sql') && name >= FIRST_CHECKED)
  .map((name) => name.replace('.sql', ''))

describe('a migration does not block writers, and the previous release works with the migrated schema', () => {
  test.each(tags.filter((tag) => ALLOWED[tag] === undefined))('%s', (tag) => {
    expect(brokenRules(readFileSync(join(FOLDER, `${tag}.sql`), 'utf8'))).toEqual([])
  })

  test('each listed exception breaks a rule', () => {
    for (const tag of Object.keys(ALLOWED)) {
      expect(brokenRules(readFileSync(join(FOLDER, `${tag}.sql`), 'utf8')), tag).not.toEqual([])
    }
  })

  test.each([
    ['ALTER TABLE "tokens" ADD COLUMN "a" text NOT NULL;', 1],
    ['ALTER TABLE "tokens" ADD COLUMN "a" boolean DEFAULT false NOT NULL;', 0],
    ['ALTER TABLE "tokens" ALTER COLUMN "a" SET DATA TYPE bigint;', 1],
    ['ALTER TABLE "tokens" DROP COLUMN "a";', 1],
    ['DROP TABLE "tokens";', 1],
    ['ALTER TABLE "tokens" RENAME COLUMN "a" TO "b";', 1],
    ['CREATE INDEX "a" ON "deliveries" USING btree ("b");', 1],
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
