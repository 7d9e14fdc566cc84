import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { claimDeliveries } from '#src/delivery/chats/chat-store.ts'
import { claimDueDeliveries } from '#src/delivery/claims/claim-store.ts'
import { dropOldDeliveries } from '#src/delivery/retention.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { waitUntil } from '../bench/wait-until.ts'
import { type Outbox, openOutbox, type Target } from './outbox.ts'

/**
 * PostgreSQL judges a row again that was changed between its selection and its lock. While joins chose partitions
 * as they ran, version 18 crashed there and all versions passed by the second such row, in another partition.
 *
 * @see docs/decisions/0012-joins-by-partition-key.md
 */

/** Advisory lock that the test holds, and at which a claim waits. */
const GATE = 20_261_124
const ROLE = 'claims_at_the_gate'

let outbox: Outbox
let target: Target

beforeAll(async () => {
  outbox = await openOutbox()
  await dropOldDeliveries(outbox.deps)
  const { sql: run } = outbox.database
  // Row security is the one place where a test can hold a statement between selecting a row and locking it.
  await run.unsafe(`
    create role ${ROLE};
    grant select, update on deliveries to ${ROLE};
    create function at_gate() returns boolean volatile language plpgsql as $$
      begin
        perform pg_advisory_xact_lock_shared(${GATE});
        return true;
      end $$;
    create policy at_gate on deliveries using (at_gate());
    alter table deliveries enable row level security`)
})

beforeEach(async () => {
  await outbox.reset()
  target = await outbox.addRecipient()
})

afterAll(async () => {
  await outbox.database.sql.unsafe(`drop owned by ${ROLE}; drop role ${ROLE}`)
  await outbox.close()
})

/** Deliveries in the default partition, that of this week and that of the next. */
async function enqueueInThreePartitions(): Promise<readonly string[]> {
  const { clock } = outbox
  const now = clock.now()
  const ids: string[] = []
  for (const days of [-60, 0, 7]) {
    clock.set(new Date(now.getTime() + days * DAY_MS))
    ids.push(...(await outbox.enqueue({ to: target })))
  }
  clock.set(now)
  await outbox.db.execute(sql`update deliveries set next_attempt_at = ${now}, created_at = ${now}`)
  const parts = await outbox.db.execute(sql`select distinct tableoid from deliveries`)
  expect(parts).toHaveLength(3)
  return ids
}

const claims = {
  claimDueDeliveries: async (...args: Parameters<typeof claimDueDeliveries>) =>
    (await claimDueDeliveries(...args)).claimed,
  claimDeliveries,
}

test.each(
  Object.entries(claims),
)('%s claims every delivery that another session changed during the claim', async (_name, claim) => {
  const ids = await enqueueInThreePartitions()
  const now = outbox.clock.now()
  const leasedUntil = new Date(now.getTime() + 60_000)
  const { sql: run } = outbox.database
  const session = await run.reserve()
  await session`select pg_advisory_lock(${GATE})`
  const claimed = outbox.db.transaction(async (tx) => {
    await tx.execute(sql.raw(`set local role ${ROLE}`))
    return await claim(tx, ids, { now, leasedUntil })
  })
  await waitUntil('the claim waits at the gate', async () => {
    const waiting = await run`
        select from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted`
    return waiting.length > 0
  })
  await outbox.db.execute(sql`update deliveries set last_error = 'changed'`)
  await session`select pg_advisory_unlock(${GATE})`
  session.release()
  expect((await claimed).map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  const rows = await outbox.rows()
  expect(rows).toMatchObject(ids.map(() => ({ attempts: 1, leasedUntil, lastError: 'changed' })))
})
