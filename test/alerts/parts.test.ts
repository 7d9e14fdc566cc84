import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countAlerts, deleteAlerts, exportAlerts, listAlerts } from '#src/alerts/history/history.ts'
import { listAlertLines } from '#src/alerts/history/lines.ts'
import { listAlertPart, PART_ALERTS } from '#src/alerts/history/part-store.ts'
import { countAlertParts } from '#src/alerts/history/parts.ts'
import type { AlertFilter } from '#src/alerts/model.ts'
import { dropOldAlerts } from '#src/alerts/retention.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { ID_MAX } from '#src/kernel/units.ts'
import { PRICE_EXAMPLE } from '#src/watches/types/feed-example.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { openExplained, rowsRead, rowsSorted, tablesScanned } from '../support/plans.ts'
import { runs } from '../support/runs.ts'

/** A history of which few alerts match a filter is read in parts of a bounded size, and completely. */

const NOW = new Date('2026-11-20T12:00:00.000Z')
const ALERTS = 3 * PART_ALERTS + 700
const WATCHES = 700
const DAYS = 120

const caller = (wallet: Caller['wallet']): Caller => ({ wallet, scopes: ['read'], via: 'http' })
const [alice, bob] = [caller(`0x${'a'.repeat(40)}`), caller(`0x${'b'.repeat(40)}`)]

let database: FreshDatabase
let deps: Parameters<typeof listAlertLines>[0]

beforeAll(async () => {
  database = await freshDatabase()
  const clock = { now: () => NOW }
  await dropOldAlerts({ db: database.db, clock, log: silentLogger })
  const box = createSecretBox(Buffer.alloc(32, 7))
  deps = { db: database.db, box, clock, publicUrl: 'https://watchdog.example.org' }
  await insert(1, ALERTS, ALERTS)
  await database.sql`analyze alerts`
})
afterAll(() => database.drop())

/** Alerts number `first` to `last` of `of`, which rise in time; four have the same time. */
async function insert(first: number, last: number, of: number): Promise<void> {
  await database.sql`
    insert into alerts (wallet, watch_id, watch_label, type, signal, "group", event, severity, state, data, position,
      fired_at, is_episode, recovery_of, notified_at, reminders_sent, created_at, incident_id, opens_incident)
    select case when n % 9 = 0 then ${bob.wallet} else ${alice.wallet} end, n % 9 * ${WATCHES} + n % ${WATCHES},
      'Watch', 'feed-move', 'price-move', case when n % 11 = 0 then null else 'alerts' end, 'feed-move.threshold',
      case when n % 4001 = 0 then 'critical' when n % 3 = 0 then 'warning' else 'info' end,
      case when n % 5003 = 0 then 'acknowledged' else 'firing' end, ${JSON.stringify(PRICE_EXAMPLE)}::text::jsonb, n, at, false,
      case when n % 7 = 0 then n end, at, 0, at, n, n % 7 <> 0
    from generate_series(${first}::int, ${last}::int) n,
      lateral (select ${NOW}::timestamptz
        + (n / 4 * 4 - ${of}::int) * (${DAYS}::int * interval '1 day' / ${ALERTS}::int) as raw) r,
      lateral (select date_trunc('milliseconds', raw) as at) t`
}

/** Ids that one statement without a bound finds. */
async function idsOf(filter: AlertFilter, upTo = ID_MAX): Promise<number[]> {
  const {
    watchId = null,
    group = null,
    severity = null,
    state = null,
    from = null,
    to = null,
  } = filter
  const rows = await database.sql<{ id: number }[]>`
    select id from alerts where wallet = ${alice.wallet} and id <= ${upTo}
      and (${watchId}::int is null or watch_id = ${watchId})
      and (${group}::text is null or "group" = ${group})
      and (${severity}::text is null or severity = ${severity})
      and (${state}::text is null or state = ${state})
      and (${from}::timestamptz is null or fired_at >= ${from})
      and (${to}::timestamptz is null or fired_at < ${to})
    order by fired_at desc, id desc`
  return rows.map(({ id }) => id)
}

const filters: fc.Arbitrary<AlertFilter> = fc.record(
  {
    watchId: fc.constantFrom(8 * WATCHES + 8, 1 * WATCHES + 1, 9 * WATCHES),
    group: fc.constant('alerts' as const),
    severity: fc.constantFrom('critical', 'warning', 'info'),
    state: fc.constantFrom('firing', 'acknowledged', 'closed'),
    from: fc.integer({ min: 0, max: DAYS }).map((day) => new Date(NOW.getTime() - day * DAY_MS)),
    to: fc.integer({ min: 0, max: DAYS }).map((day) => new Date(NOW.getTime() - day * DAY_MS)),
  },
  { requiredKeys: [] },
)

test('the parts of any filter are what one statement finds, in order, also while alerts are added', async () => {
  let added = 0
  await fc.assert(
    fc.asyncProperty(filters, fc.constantFrom(250, 1001, 4000, 9000), async (filter, limit) => {
      const [known] = await database.sql<{ id: number }[]>`select max(id) as id from alerts`
      const expected = await idsOf(filter, known?.id)
      const found: number[] = []
      let after: Awaited<ReturnType<typeof listAlertPart>>['next']
      do {
        const part = await listAlertPart(database.db, alice.wallet, filter, after, limit)
        found.push(...part.rows.map(({ id }) => id))
        after = part.next
        added += 1
        await insert(ALERTS + added, ALERTS + added, ALERTS)
      } while (after !== undefined)
      expect(found.filter((id) => id <= (known?.id ?? 0))).toEqual(expected)
    }),
    { numRuns: runs(40) },
  )
})

test.each<[string, Partial<AlertFilter>]>([
  ['critical ones', { severity: 'critical' }],
  ['acknowledged ones', { state: 'acknowledged' }],
  ['none', { type: 'wallet-balance' }],
])('the pages and the file of %s have all, though pages between are not full', async (_, filter) => {
  const expected = filter.type === undefined ? await idsOf(filter) : []
  const sizes: number[] = []
  const found: number[] = []
  let cursor: string | undefined
  do {
    const page = await listAlerts(deps, alice, {
      ...filter,
      ...(cursor !== undefined && { cursor }),
    })
    sizes.push(page.data.length)
    found.push(...page.data.map(({ id }) => id))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  expect(found).toEqual(expected)
  expect(sizes.length).toBeGreaterThan(2)
  let file = ''
  for await (const piece of exportAlerts(deps, alice, filter)) file += piece
  const lines = file.trimEnd().split('\r\n').slice(1)
  expect(lines.map((line) => Number(line.split(',')[0]))).toEqual(expected)
  const { count, isAll } = await countAlerts(deps, alice, filter, 10_000)
  expect({ count, isAll }).toEqual({ count: expected.length, isAll: true })
})

test('the list in a chat reads on through several parts until its page is full', async () => {
  const reader = { locale: 'en', timezone: 'UTC' } as const
  const wanted = { severity: 'critical' } as const
  const page = await listAlertLines(deps, alice, { wanted, limit: 8, reader })
  const all = await database.sql<{ id: number }[]>`
    select id from alerts where wallet = ${alice.wallet} and severity = 'critical' and recovery_of is null
    order by fired_at desc, id desc`
  expect(all.length).toBeGreaterThan(1)
  expect(page.data.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
  expect(page).toMatchObject({ nextCursor: null, searchedTo: null })
})

test('no plan reads more than a part, also the one that is kept for any wallet', async () => {
  const explained = openExplained(database.url)
  try {
    const [oldest] = await database.sql<{ id: number; firedAt: Date }[]>`
      select id, fired_at as "firedAt" from alerts order by fired_at offset 5000 limit 1`
    const ran = await explained.record(() =>
      explained.db.transaction(async (tx) => {
        await tx.execute(sql`set local plan_cache_mode = force_generic_plan`)
        await listAlertPart(tx, alice.wallet, { severity: 'critical' }, undefined, 50)
        await listAlertPart(tx, alice.wallet, { state: 'acknowledged' }, oldest, 50)
        await listAlertPart(tx, alice.wallet, { watchId: WATCHES + 1 }, undefined, 50)
      }),
    )
    const plans = ran.filter(({ text }) => text.includes('row_number')).map(({ plan }) => plan)
    expect(plans).toHaveLength(3)
    for (const plan of plans) {
      expect(tablesScanned(plan)).toEqual([])
      // One more of each partition, to find the newest.
      expect(rowsRead(plan)).toBeLessThanOrEqual(PART_ALERTS + 20)
      expect(rowsSorted(plan)).toBeLessThanOrEqual(100)
    }
  } finally {
    await explained.close()
  }
})

test('a deletion deletes all that match in all parts, and nothing else', async () => {
  const others = async () => {
    const [row] = await database.sql<{ count: number }[]>`
      select count(*)::int as count from alerts
      where not (wallet = ${alice.wallet} and severity = 'critical' and fired_at < ${NOW})`
    return row?.count
  }
  const before = await others()
  const expected = await idsOf({ severity: 'critical', to: NOW })
  expect(expected.length).toBeGreaterThan(1)
  const selection = { severity: 'critical', before: NOW } as const
  expect(await deleteAlerts(deps, alice, selection)).toEqual({ deleted: expected.length })
  expect(await idsOf({ severity: 'critical', to: NOW })).toEqual([])
  expect(await others()).toBe(before)
})

test('a page in a chat and a count stop after many parts, say so, and the next page goes on', async () => {
  const carol = caller(`0x${'c'.repeat(40)}`)
  const alerts = 25 * PART_ALERTS + 10
  await database.sql`
    insert into alerts (wallet, watch_id, watch_label, type, signal, "group", event, severity, state, data, position,
      fired_at, is_episode, notified_at, reminders_sent, created_at, incident_id, opens_incident)
    select ${carol.wallet}, 1, 'Watch', 'feed-move', 'price-move', 'alerts', 'feed-move.threshold',
      case when n = 1 then 'critical' else 'info' end, 'firing', ${JSON.stringify(PRICE_EXAMPLE)}::text::jsonb,
      n, at, false, at, 0, at, n, true
    from generate_series(1, ${alerts}::int) n,
      lateral (select ${NOW}::timestamptz - (${alerts}::int - n) * interval '1 second' as at) t`
  const explained = openExplained(database.url)
  const ran = await explained.record(() =>
    explained.db.transaction(async (tx) => {
      await tx.execute(sql`set local plan_cache_mode = force_custom_plan`)
      await listAlertPart(tx, carol.wallet, { severity: 'critical' }, undefined, 50)
    }),
  )
  await explained.close()
  // Also as long as PostgreSQL does not know that the wallet has become large.
  expect(ran.map(({ plan }) => rowsSorted(plan)).filter((rows) => rows > 100)).toEqual([])
  const list = (cursor?: string) =>
    listAlertLines(deps, carol, {
      wanted: { severity: 'critical' },
      limit: 8,
      reader: { locale: 'en', timezone: 'UTC' },
      ...(cursor !== undefined && { cursor }),
    })
  const first = await list()
  expect(first.data).toEqual([])
  expect(first.searchedTo).toEqual(new Date(NOW.getTime() - 99_999_000))
  const second = await list(first.nextCursor ?? undefined)
  expect(second.data).toHaveLength(1)
  expect(second).toMatchObject({ nextCursor: null, searchedTo: null })
  const counted = (selection: { readonly severity?: 'critical' }) =>
    countAlertParts(deps.db, carol.wallet, { ...selection, incidents: true }, 10_000)
  expect(await counted({ severity: 'critical' })).toEqual({
    ...{ count: 0, isAll: false, newestId: 0 },
  })
  expect(await counted({})).toEqual({
    ...{ count: 10_000, isAll: false },
    newestId: expect.any(Number),
  })
})
