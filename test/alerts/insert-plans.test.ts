import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dropOldAlerts } from '#src/alerts/retention.ts'
import type { HeldCandidate } from '#src/alerts/store.ts'
import { insertAlerts } from '#src/alerts/store.ts'
import type { Db } from '#src/db/connection.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { nodesOf, openExplained, tablesScanned } from '../support/plans.ts'

/**
 * A new partition is empty, and a move of a feed writes a hundred thousand alerts into it with the plan that was made
 * for the first thousand.
 */

const NOW = new Date('2026-11-20T12:00:00.000Z')

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
  await dropOldAlerts({ db: database.db, clock: { now: () => NOW }, log: silentLogger })
})
afterAll(() => database.drop())

function candidates(first: number, count: number): readonly HeldCandidate[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ type: 'feed-move', signal: 'price-move', group: 'alerts', event: 'feed-move.threshold' },
    ...{ severity: 'warning', data: {}, isRecovery: false, isNotified: true, position: 1 },
    ...{ firedAt: NOW, incidentId: first + index, opensIncident: true, during: null },
    watch: {
      ...{ id: first + index, wallet: `0x${'1'.repeat(40)}`, label: 'FLR/USD', recipientIds: null },
      ...{ minSeverity: 'info', mutedUntil: null },
    },
  })) as unknown as HeldCandidate[]
}

async function scansOf(tx: Db): Promise<string | undefined> {
  const [row] = await tx.execute<{ scans: string }>(
    sql`select current_setting('enable_seqscan') as scans`,
  )
  return row?.scans
}

test.each<[string, () => Promise<unknown>]>([
  ['never analyzed', async () => undefined],
  ['analyzed', () => database.sql`analyze alerts`],
])('alerts are looked for by their unique index, also with the plan that was made for an empty partition, %s', async (_, prepare) => {
  await database.sql`truncate alerts`
  await prepare()
  const explained = openExplained(database.url)
  try {
    const plans = await explained.record(async () => {
      await explained.db.transaction(async (tx) => {
        await tx.execute(sql`set local plan_cache_mode = force_generic_plan`)
        for (let batch = 0; batch < 12; batch += 1) {
          expect(await insertAlerts(tx, candidates(1 + batch * 400, 400), NOW)).toHaveLength(400)
        }
        expect(await scansOf(tx)).toBe('on')
      })
    })
    const inserts = plans.filter(({ text }) => /^\s*insert into alerts/.test(text))
    expect(inserts).toHaveLength(12)
    for (const { plan } of inserts) {
      expect(tablesScanned(plan)).toEqual([])
      const indexes = nodesOf(plan).flatMap((node) => node['Index Name'] ?? [])
      expect(
        indexes.filter((name) => !/_watch_id_coalesce_event_|^alerts_once$/.test(name)),
      ).toEqual([])
    }
  } finally {
    await explained.close()
  }
})

test('an alert that is already stored is skipped and uses no id', async () => {
  const numbers = async () => {
    const [row] = await database.db.execute<{ last: string }>(
      sql`select last_value::text as last from alerts_id_seq`,
    )
    return row?.last
  }
  const insert = () => database.db.transaction((tx) => insertAlerts(tx, candidates(50_000, 3), NOW))
  await insert()
  const before = await numbers()
  expect(await insert()).toEqual([])
  expect(await numbers()).toBe(before)
})
