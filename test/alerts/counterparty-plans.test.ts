import { afterAll, beforeAll, expect, test } from 'vitest'
import { areInRecentAlerts } from '#src/alerts/store.ts'
import type { Address } from '#src/kernel/units.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { openExplained, rowsRead } from '../support/plans.ts'

/** However many alerts a wallet has, a transfer reads the newest ones of its watch only. */

const BUSY: Address = '0x00000000000000000000000000000000000000aa'
/** A watch with most of the alerts, and one with few. */
const [LOUD, CALM] = [5001, 5002]
const SEEN = '0x00000000000000000000000000000000000000b1'
const NEW = '0x00000000000000000000000000000000000000b2'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
  await insertAlerts(20_000, `'${BUSY}'`, `${LOUD}`)
  await insertAlerts(20, `'${BUSY}'`, `${CALM}`)
  // Wallets with one watch each.
  await insertAlerts(5000, `'other' || n % 1000`, 'n % 1000')
  await database.sql`analyze alerts`
})
afterAll(() => database.drop())

function insertAlerts(count: number, wallet: string, watchId: string) {
  return database.sql.unsafe(`
    insert into alerts (wallet, watch_id, watch_label, type, event, severity, state, data, position, fired_at,
      is_episode, reminders_sent, created_at, incident_id, opens_incident)
    select ${wallet}, ${watchId}, '', 'wallet-balance', 'wallet-balance.moved', 'info', 'new',
      jsonb_build_object('counterparty', '${SEEN}'), n, '2026-11-20'::timestamptz - n * interval '1 minute',
      false, 0, now(), n, true
    from generate_series(1, ${count}) n`)
}

test.each([
  ['most alerts of the wallet', LOUD],
  ['few of them', CALM],
])('of a watch with %s', async (_, watchId) => {
  const explained = openExplained(database.url)
  try {
    const asked = [NEW, SEEN].map((address) => ({ wallet: BUSY, watchId, address }))
    let found: readonly boolean[] = []
    const ran = await explained.record(async () => {
      found = await areInRecentAlerts(explained.db, asked)
    })
    expect(found).toEqual([false, true])
    const read = ran.reduce((sum, { plan }) => sum + rowsRead(plan), 0)
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan(500)
  } finally {
    await explained.close()
  }
})

test('an alert of another wallet does not count', async () => {
  const asked = [{ wallet: NEW as Address, watchId: CALM, address: SEEN }]
  expect(await areInRecentAlerts(database.db, asked)).toEqual([false])
})
