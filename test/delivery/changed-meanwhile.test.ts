import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newDeliveryId } from '#src/delivery/delivery-id.ts'
import { dropOldDeliveries } from '#src/delivery/retention.ts'
import { recordSummarized } from '#src/delivery/unsent/retained-store.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { waitUntil } from '../bench/wait-until.ts'
import { type Outbox, openOutbox, type Target } from './outbox.ts'

/**
 * PostgreSQL judges a row again that was changed between its selection and its lock. While joins chose partitions
 * as they ran, version 18 crashed there and all versions passed by the second such row, in another partition.
 *
 * @see docs/decisions/0012-joins-by-partition-key.md
 */

/** Advisory lock that the test holds, and at which a statement waits. */
const GATE = 20_261_124
const ROLE = 'statements_at_the_gate'

let outbox: Outbox
let target: Target

beforeAll(async () => {
  outbox = await openOutbox()
  await dropOldDeliveries(outbox.deps)
  const { sql: run } = outbox.database
  // Row security is the one place where a test can hold a statement between selecting a row and locking it.
  await run.unsafe(`
    create role ${ROLE};
    grant select, update on delivery_log to ${ROLE};
    create function at_gate() returns boolean volatile language plpgsql as $$
      begin
        perform pg_advisory_xact_lock_shared(${GATE});
        return true;
      end $$;
    create policy at_gate on delivery_log using (at_gate());
    alter table delivery_log enable row level security`)
})

beforeEach(async () => {
  await outbox.reset()
  target = await outbox.addRecipient()
})

afterAll(async () => {
  await outbox.database.sql.unsafe(`drop owned by ${ROLE}; drop role ${ROLE}`)
  await outbox.close()
})

/** Deferred deliveries in the default partition, that of this week and that of the next. */
async function deferInThreePartitions(): Promise<readonly string[]> {
  const { clock } = outbox
  const now = clock.now()
  const ids: string[] = []
  for (const days of [-60, 0, 7]) {
    clock.set(new Date(now.getTime() + days * DAY_MS))
    ids.push(...(await outbox.enqueue({ to: target, status: 'held' })))
  }
  clock.set(now)
  const parts = await outbox.db.execute(sql`select distinct tableoid from delivery_log`)
  expect(parts).toHaveLength(3)
  return ids
}

test('a summary is recorded for every delivery that another session changed during the statement', async () => {
  const ids = await deferInThreePartitions()
  const summaryDeliveryId = newDeliveryId(outbox.clock.now())
  const { sql: run } = outbox.database
  const session = await run.reserve()
  await session`select pg_advisory_lock(${GATE})`
  const recorded = outbox.db.transaction(async (tx) => {
    await tx.execute(sql.raw(`set local role ${ROLE}`))
    await recordSummarized(
      tx,
      ids.map((id) => ({ id, summaryDeliveryId })),
    )
  })
  await waitUntil('the statement waits at the gate', async () => {
    const waiting = await run`
        select from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`
    return waiting.length > 0
  })
  await outbox.db.execute(sql`update delivery_log set last_error = 'changed'`)
  await session`select pg_advisory_unlock(${GATE})`
  session.release()
  await recorded
  const rows = await outbox.db.execute(sql`
    select last_error as "lastError", summary_delivery_id as "summaryDeliveryId" from delivery_log`)
  expect([...rows]).toEqual(ids.map(() => ({ lastError: 'changed', summaryDeliveryId })))
})
