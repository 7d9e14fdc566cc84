import type { Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { serviceOnly } from '../support/harness.ts'
import { seriesOf } from '../support/metrics.ts'
import { signIn } from '../support/people.ts'

const warnings: unknown[][] = []
const log: Logger = {
  ...silentLogger,
  warn: (fields, text) => void warnings.push([fields['problem'], text]),
}

let replica: FreshDatabase
let service: Awaited<ReturnType<typeof serviceOnly>>

beforeAll(async () => {
  replica = await freshDatabase()
  service = await serviceOnly({ DATABASE_READ_URL: replica.url }, undefined, log)
})
afterAll(async () => {
  await service.close()
  await replica.drop()
})

async function insertAlert(sql: Sql, wallet: string, label: string): Promise<void> {
  const at = service.clock.now()
  const row = {
    ...{ wallet, watch_id: 42, watch_label: label, type: 'credits-balance', position: 1 },
    ...{ signal: 'credits-threshold', group: 'alerts', event: 'credits.low-balance' },
    ...{ severity: 'warning', state: 'firing', is_episode: true, reminders_sent: 0 },
    ...{ incident_id: 1, opens_incident: true },
    ...{ notified_at: at, fired_at: at, created_at: at },
    data: JSON.stringify({ balanceCredits: 1, limitCredits: 2, nextRenewal: null }),
  }
  await sql`insert into alerts ${sql(row)}`
}

test('lists of alerts are not read from a database that does not follow, which one log line says', async () => {
  const alice = await signIn(service, 'alice')
  const list = () => alice.request('GET', '/alerts')
  await insertAlert(service.sql, alice.caller.wallet, 'in the database')
  await insertAlert(replica.sql, alice.caller.wallet, 'in the copy')
  for (let n = 0; n < 3; n += 1) {
    expect((await list()).body.data).toMatchObject([{ watchLabel: 'in the database' }])
    service.clock.advance(10)
  }
  // A refusal of the request is the same from both.
  expect((await alice.request('GET', '/alerts?limit=0')).status).toBe(400)
  expect(warnings).toEqual([
    [
      'it is not a standby',
      'copy of the database cannot be read; lists are read from the database',
    ],
  ])
  const metrics = await service.app.meters.registry.metrics()
  expect(seriesOf(metrics).get('watchdog_list_readings_total{source="primary"}')).toBe(3)
})
