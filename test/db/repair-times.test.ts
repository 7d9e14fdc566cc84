import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { getTableConfig, type PgColumn, PgTable } from 'drizzle-orm/pg-core'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repairTimes, type StoredTimes } from '#src/db/repair-times.ts'
import { newDeliveryId } from '#src/delivery/delivery-id.ts'
import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { STORED_TIMES } from '#src/stored-times.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'

const ROOT = join(import.meta.dirname, '../../')

/** Times that are not repaired, by the reason. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  'Taken from blocks, and put back with the positions (`put-back-positions.ts`)': [
    'alerts.cooldown_until',
    'alerts.fired_at',
    'alerts.recovered_at',
    'alerts.started_at',
    'delivery_log.fired_at',
    'delivery_queue.fired_at',
    'feed_points.at',
    'fsp_progress.block_at',
    'fsp_rounds.block_at',
    'fsp_rounds.starts_at',
    'observation_cursors.block_at',
    'payment_cursors.since_at',
    'published_blocks.block_at',
    'signal_states.cooldown_until',
    'signal_states.last_evidence_at',
    'signal_states.last_fired_at',
    'signal_states.since',
    'slice_cursors.block_at',
    'targets.observed_at',
    'targets.recheck_at',
    'topup_payments.block_at',
    'vote_signatures.signed_at',
  ],
  'Written and read by the clock of the database': [
    'members.expires_at',
    'telegram_paces.at',
    'telegram_paces.flooded_at',
    'telegram_paces.next_at',
  ],
  'Chosen by a person, signed by a wallet, or paid for and told: it stays as it is': [
    'billing_pauses.off_at',
    'billing_pauses.on_at',
    'capacity_changes.at',
    'challenges.expires_at',
    'challenges.issued_at',
    'challenges.used_at',
    'recipients.muted_until',
    'subscriptions.due_at',
    'subscriptions.ends_at',
    'subscriptions.remind_at',
    'subscriptions.starts_at',
    'tokens.expires_at',
    'topups.expires_at',
    'trials.ends_at',
    'trials.remind_at',
    'trials.started_at',
    'watches.muted_since',
    'watches.muted_until',
  ],
  'The key of counts, of which later ones are deleted when they are summed': ['figure_hours.hour'],
  'A record of what happened, on which nothing waits': [
    'accounts.created_at',
    'accounts.last_entry_at',
    'accounts.terms_accepted_at',
    'bans.banned_at',
    'idempotency_keys.created_at',
    'ledger_entries.created_at',
    'ledger_proofs.proved_at',
    'operator_acts.at',
    'ledger_proofs.totals_until',
    'notices.created_at',
    'notification_settings.updated_at',
    'recipients.created_at',
    'recipients.updated_at',
    'recipients.verified_at',
    'subscriptions.created_at',
    'telegram_chats.created_at',
    'telegram_chats.updated_at',
    'telegram_updates.handled_at',
    'tokens.created_at',
    'tokens.last_used_at',
    'tokens.revoked_at',
    'topup_payments.seen_at',
    'topup_payments.settled_at',
    'topup_purchases.created_at',
    'topup_purchases.done_at',
    'topups.created_at',
    'unmatched_payments.found_at',
    'watches.created_at',
    'watches.updated_at',
  ],
}

const clock = testClock()
const NOW_MS = clock.now().getTime()
let database: FreshDatabase
let tables: readonly PgTable[]
const repaired: unknown[] = []
const log = { ...silentLogger, warn: (fields: unknown) => void repaired.push(fields) }

beforeAll(async () => {
  database = await freshDatabase()
  const files = globSync('{src,bot}/**/tables.ts', { cwd: ROOT })
  const modules = await Promise.all(
    files.map((file) => import(pathToFileURL(join(ROOT, file)).href)),
  )
  tables = modules.flatMap((all) => Object.values(all)).filter((one) => one instanceof PgTable)
  // Rows refer to no others here.
  await database.sql`alter database ${database.sql(await nameOf())} set session_replication_role = replica`
})
afterAll(() => database.drop())

async function nameOf(): Promise<string> {
  const [row] = await database.sql<{ name: string }[]>`select current_database() as name`
  return row?.name ?? ''
}

const repair = () => repairTimes({ db: database.db, clock, log }, STORED_TIMES)
const label = (column: PgColumn) => `${getTableName(column.table)}.${column.name}`
const entries = STORED_TIMES.map(
  (stored, index) =>
    [
      `${index} ${getTableName(stored.table)}: ${stored.columns.map(({ name }) => name)}`,
      stored,
    ] as const,
)

test('each time of each table is repaired, or there is a reason why not', () => {
  const times = tables.flatMap((table) =>
    getTableConfig(table)
      .columns.filter(({ columnType }) => columnType === 'PgTimestamp')
      .map(label),
  )
  const listed = new Set(STORED_TIMES.flatMap(({ columns }) => columns.map(label)))
  const others = Object.values(OTHERS).flat()
  expect(others.filter((name) => listed.has(name))).toEqual([])
  expect([...listed, ...others].toSorted()).toEqual(times.toSorted())
})

/** A row in which only these times are set, and every other column has some value. */
async function insertRow(stored: StoredTimes, times: ReadonlyMap<PgColumn, Date>, writtenAt: Date) {
  const { table } = stored
  const values: Record<string, unknown> = {}
  for (const [key, column] of Object.entries(getTableColumns(table) as Record<string, PgColumn>)) {
    const time = times.get(column)
    if (time !== undefined) values[key] = time
    else if (column.notNull && !column.hasDefault) values[key] = someValue(column, writtenAt)
  }
  await database.db.insert(table).values({ ...values, ...NEEDED[getTableName(table)] } as never)
}

/** What the conditions of the lists and the checks of the tables need. */
const NEEDED: Readonly<Record<string, object>> = {
  alerts: { escalatedTo: [1], remindAt: clock.now() },
}

function someValue({ columnType, dataType }: PgColumn, writtenAt: Date): unknown {
  if (columnType === 'PgUUID') return newDeliveryId(writtenAt)
  if (columnType === 'PgTimestamp') return clock.now()
  if (dataType === 'json') return {}
  return { string: 'x', number: 1, bigint: 1n, boolean: false, array: [] }[dataType as string]
}

async function rowsOf({ table }: StoredTimes): Promise<readonly Record<string, unknown>[]> {
  return await database.db.select().from(table as PgTable)
}

test.each(entries)('%s', async (_, stored) => {
  const { table, columns } = stored
  const keyOf = new Map(
    Object.entries(getTableColumns(table) as Record<string, PgColumn>).map(([key, column]) => [
      column,
      key,
    ]),
  )
  const set = async (offsets: readonly number[], skewMs: number) => {
    await database.sql.unsafe(`delete from ${getTableName(table)}`)
    repaired.length = 0
    const times = new Map(
      columns.map((column, index) => [column, new Date(NOW_MS + skewMs + (offsets[index] ?? 0))]),
    )
    await insertRow(stored, times, new Date(NOW_MS + skewMs))
    return await rowsOf(stored)
  }
  const offsets = fc.array(fc.integer({ min: 0, max: HOUR_MS }), {
    minLength: columns.length,
    maxLength: columns.length,
  })
  // Written a year ahead: nothing is later than it would be had it been written now.
  await fc.assert(
    fc.asyncProperty(
      offsets,
      fc.integer({ min: 2 * DAY_MS, max: 400 * DAY_MS }),
      async (after, skewMs) => {
        await set(
          after.map((ms, index) => (index === 0 ? 0 : ms)),
          skewMs,
        )
        await repair()
        const { length } = repaired
        expect(length).toBeGreaterThan(0)
        for (const row of await rowsOf(stored)) {
          for (const column of columns) {
            const at = row[keyOf.get(column) ?? ''] as Date
            expect(at.getTime() - NOW_MS).toBeGreaterThanOrEqual(0)
            expect(at.getTime() - NOW_MS).toBeLessThanOrEqual(HOUR_MS)
          }
        }
        await repair()
        expect(repaired).toHaveLength(length)
      },
    ),
    { numRuns: runs(3) },
  )
  // Written in the last days: nothing is changed.
  await fc.assert(
    fc.asyncProperty(
      offsets,
      fc.integer({ min: -2 * DAY_MS, max: -HOUR_MS }),
      async (after, skewMs) => {
        const before = await set(after, skewMs)
        await repair()
        expect([await rowsOf(stored), repaired]).toEqual([before, []])
      },
    ),
    { numRuns: runs(3) },
  )
})

test('a lease and a retry keep their longest wait, and lose what is more', async () => {
  const { sql: run } = database
  const insert = (id: number, leasedMs: number, dueMs: number) => run`
    insert into delivery_queue (id, wallet, recipient_id, channel, partition_key, order_key, fired_at, position, envelope, kind,
      recovery, test, urgency, status, attempts, next_attempt_at, leased_until, created_at)
    values (${newDeliveryId(clock.now())}, '', 1, 'webhook', '', '', ${clock.now()}, ${id}, '{}', 'alert',
      false, false, 0, 'retrying', 1, ${new Date(NOW_MS + dueMs)}, ${new Date(NOW_MS + leasedMs)}, ${clock.now()})`
  await run`delete from delivery_queue`
  await insert(1, 60_000, 15 * HOUR_MS)
  await insert(2, 60_000 + 120_001, 15 * HOUR_MS + 120_001)
  await repair()
  const rows = await run<{ due: Date; leased: Date }[]>`
    select next_attempt_at as due, leased_until as leased from delivery_queue order by position`
  expect(
    rows.map(({ due, leased }) => [due.getTime() - NOW_MS, leased.getTime() - NOW_MS]),
  ).toEqual([
    [15 * HOUR_MS, 60_000],
    [0, 0],
  ])
})
