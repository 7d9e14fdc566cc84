import { afterAll, beforeAll, expect, test } from 'vitest'
import { dropOldAlerts } from '#src/alerts/retention.ts'
import { migrate } from '#src/db/migrate.ts'
import { dropOldDeliveries } from '#src/delivery/retention.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { MIGRATIONS, migrateUpTo, startFrom } from '../support/releases.ts'

const TABLES = ['alerts', 'deliveries', 'sent_messages'] as const

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

async function contents() {
  const { sql } = database
  return await Promise.all(TABLES.map((table) => sql`select * from ${sql(table)} order by id`))
}

/** Inserts two alerts that an earlier version sent to a chat; a third was deleted. */
async function fill(): Promise<void> {
  const { sql } = database
  await sql`insert into alerts (wallet, watch_id, watch_label, type, event, severity, state, data,
      position, fired_at, is_episode, reminders_sent, created_at)
    select '', 1, 'W', 't', 'e', 'info', 'firing', '{}', n, at, false, 0, at
    from (select n, '2026-11-19T12:00:00Z'::timestamptz - n * interval '20 days' as at
      from generate_series(0, 2) n) a`
  await sql`delete from alerts where position = 2`
  await sql`insert into deliveries (id, wallet, alert_id, recipient_id, channel, lane, order_key,
      fired_at, position, envelope, kind, recovery, test, urgency, status, attempts, created_at)
    select gen_random_uuid(), '', id, 1, 'telegram', '', '', fired_at, position, '{ "a":  1 }',
      'alert', false, false, 0, 'delivered', 1, created_at from alerts`
  await sql`insert into sent_messages (id, wallet, recipient_id, channel, lane, kind, recovery, loud,
      parts, opened_at, sent_at, version, revisions)
    select id, '', 1, 'telegram', '', 'alert', false, false, 1, created_at, created_at, 0, 0
    from deliveries`
}

test('the migration to partitions keeps all rows, and new ids continue after the old ones', async () => {
  const { db, sql } = database
  await startFrom(sql, '0008_live-messages')
  await fill()
  const before = await contents()

  await migrateUpTo(sql, '0009_partitions')
  expect(await contents()).toEqual(before)
  await migrate(sql, MIGRATIONS)
  const kept = await contents()
  const deps = { db, clock: testClock(), log: silentLogger }
  await dropOldAlerts(deps)
  expect(await contents()).toEqual(kept)
  const [inserted] =
    await sql`insert into alerts (wallet, watch_id, watch_label, type, event, severity,
      state, data, position, fired_at, is_episode, reminders_sent, created_at)
    select wallet, watch_id, watch_label, type, event, severity, state, data, 9, fired_at, is_episode,
      reminders_sent, created_at from alerts limit 1
    returning id`
  expect(inserted).toEqual({ id: 4 })

  // Rows older than 30 days are deleted, with ids of any form.
  deps.clock.set(new Date('2026-12-15T12:00:00.000Z'))
  await dropOldDeliveries(deps)
  const [, deliveries, messages] = await contents()
  expect(deliveries).toEqual(kept[1]?.filter(({ position }) => Number(position) === 0))
  expect(messages).toHaveLength(1)
})
