import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readDueQueue } from '#src/delivery/due-queue.ts'
import { listDueDeliveries, OLDEST_READ_MAX, QUEUE_SCAN_MAX } from '#src/delivery/due-store.ts'
import { createSendingState } from '#src/delivery/sending-state.ts'
import { type Outbox, openOutbox, type Target } from './outbox.ts'

let outbox: Outbox
beforeAll(async () => {
  outbox = await openOutbox()
})
beforeEach(() => outbox.reset())
afterAll(() => outbox.close())

/** Puts many deliveries of one recipient into the outbox, one millisecond after another. */
async function fill(to: Target, count: number, { urgency = 0, fromMs = 0 } = {}): Promise<void> {
  const [id = ''] = await outbox.enqueue({ to })
  await outbox.database.sql`
    insert into deliveries (id, wallet, recipient_id, channel, partition_key, order_key, fired_at, position, envelope, kind,
      recovery, test, urgency, status, attempts, next_attempt_at, created_at)
    select gen_random_uuid(), wallet, recipient_id, channel, partition_key, ${to.id} || ' ' || ${fromMs} || ' ' || n, fired_at,
      position, envelope, kind, recovery, test, ${urgency}::int, status, attempts,
      created_at - interval '1 hour' + (${fromMs}::int + n) * interval '1 ms', created_at
    from deliveries, generate_series(1, ${count}::int) n where id = ${id}`
  await outbox.database.sql`delete from deliveries where id = ${id}`
}

const newState = () => createSendingState(outbox.deps.channels).of('webhook')
const now = () => outbox.clock.now()
const to = (...partitions: string[]) => ({ full: { partitions, recipients: [] }, now: now() })
const read = (sending: ReturnType<typeof newState>, of: ReturnType<typeof to>) =>
  readDueQueue(outbox.db, 'webhook', sending, of)

/** Number of entries of the index of due deliveries that one claim reads. */
async function entriesRead(
  sending: ReturnType<typeof newState>,
  of: ReturnType<typeof to>,
): Promise<number> {
  return await outbox.db.transaction(async (tx) => {
    const count = async () => {
      const [row] = await tx.execute<{ read: number }>(sql`
        select sum(pg_stat_get_xact_tuples_returned(indexrelid))::int as read from pg_stat_user_indexes
        where indexrelname like 'deliveries%_channel_urgency_next_attempt%'`)
      return row?.read ?? 0
    }
    const before = await count()
    await readDueQueue(tx, 'webhook', sending, of)
    return (await count()) - before
  })
}

describe('a claim beside a full host with a long queue', () => {
  test('looks at a limited number of deliveries, however many wait', async () => {
    const host = await outbox.addRecipient('http://busy.example.org/')
    await fill(host, 6 * QUEUE_SCAN_MAX)
    const sending = newState()
    for (let turn = 0; turn < 8; turn += 1) {
      const looked = await entriesRead(sending, to(host.partitionKey))
      expect(looked).toBeGreaterThanOrEqual(QUEUE_SCAN_MAX)
      expect(looked).toBeLessThanOrEqual(3 * QUEUE_SCAN_MAX)
    }
  })
  test('looks at no more than it needs while the host has a free place', async () => {
    const host = await outbox.addRecipient('http://busy.example.org/')
    await fill(host, 4 * QUEUE_SCAN_MAX)
    const looked = await entriesRead(newState(), to())
    expect(looked).toBeGreaterThanOrEqual(OLDEST_READ_MAX)
    // The oldest and, at the first claim, the newest.
    expect(looked).toBeLessThan(2 * OLDEST_READ_MAX)
  })
  test('finds deliveries of other hosts anywhere behind it, and again after the end of the queue', async () => {
    const [busy, free] = [
      await outbox.addRecipient('http://busy.example.org/'),
      await outbox.addRecipient('http://free.example.org/'),
    ]
    await fill(busy, 3 * QUEUE_SCAN_MAX)
    await fill(free, 10, { fromMs: 3 * QUEUE_SCAN_MAX + 1 })
    await fill(busy, 2 * QUEUE_SCAN_MAX, { fromMs: 4 * QUEUE_SCAN_MAX })
    const sending = newState()
    sending.isNotified = false
    for (let pass = 0; pass < 3; pass += 1) {
      const found: number[] = []
      for (let turn = 0; turn < 6; turn += 1) {
        const { front, crowded } = await read(sending, to(busy.partitionKey))
        expect(crowded).toEqual([0])
        expect(front.every(({ recipientId }) => recipientId === free.id)).toBe(true)
        found.push(front.length)
      }
      expect(found.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(10)
    }
  })
  test.each([
    [1, 1],
    [1, 3],
    [3, 1],
  ])('finds them while the host has a free place in %i claims, and none in the next %i', async (open, full) => {
    const [busy, free] = [
      await outbox.addRecipient('http://busy.example.org/'),
      await outbox.addRecipient('http://free.example.org/'),
    ]
    await fill(busy, 4 * QUEUE_SCAN_MAX)
    await fill(free, 10, { fromMs: 4 * QUEUE_SCAN_MAX + 1 })
    await fill(busy, QUEUE_SCAN_MAX, { fromMs: 5 * QUEUE_SCAN_MAX })
    const sending = newState()
    sending.isNotified = false
    const found = new Set<string>()
    for (let turn = 0; turn < 6 * (open + full); turn += 1) {
      const isOpen = turn % (open + full) < open
      const { front } = await read(sending, isOpen ? to() : to(busy.partitionKey))
      for (const row of front) if (row.recipientId === free.id) found.add(row.id)
    }
    expect(found.size).toBe(10)
  })
  test('finds a new delivery of another host at once, after its notification', async () => {
    const [busy, free] = [
      await outbox.addRecipient('http://busy.example.org/'),
      await outbox.addRecipient('http://free.example.org/'),
    ]
    await fill(busy, 5 * QUEUE_SCAN_MAX)
    const sending = newState()
    await read(sending, to(busy.partitionKey))
    const [id] = await outbox.enqueue({ to: free })
    sending.isNotified = true
    const { newest } = await read(sending, to(busy.partitionKey))
    expect(newest.map((row) => row.id)).toEqual([id])
  })
  test('reads the front alone as soon as nothing is full, and forgets its place when it has read all', async () => {
    const busy = await outbox.addRecipient('http://busy.example.org/')
    await fill(busy, 3 * QUEUE_SCAN_MAX)
    const sending = newState()
    await read(sending, to(busy.partitionKey))
    expect(sending.queueCursors.size).toBe(1)
    const { front } = await read(sending, to())
    expect(front).toHaveLength(OLDEST_READ_MAX)
    const oldest = await outbox.database.sql<{ id: string }[]>`
      select id from deliveries order by next_attempt_at limit ${OLDEST_READ_MAX}`
    const ids = new Set(front.map(({ id }) => id))
    expect(oldest.filter(({ id }) => !ids.has(id))).toEqual([])
    expect(sending.queueCursors.size).toBe(1)
    await outbox.db.execute(sql`delete from deliveries where next_attempt_at > (
      select next_attempt_at from deliveries order by next_attempt_at offset 99 limit 1)`)
    expect((await read(sending, to())).front).toHaveLength(100)
    expect(sending.queueCursors.size).toBe(0)
  })
  test('reads each urgency from its own place', async () => {
    const [busy, free] = [
      await outbox.addRecipient('http://busy.example.org/'),
      await outbox.addRecipient('http://free.example.org/'),
    ]
    await fill(busy, 2 * QUEUE_SCAN_MAX + 5, { urgency: 2 })
    await fill(busy, QUEUE_SCAN_MAX + 5, { urgency: 1 })
    await fill(free, 3, { urgency: 2, fromMs: 3 * QUEUE_SCAN_MAX })
    await fill(free, 3, { urgency: 1, fromMs: 3 * QUEUE_SCAN_MAX })
    await fill(free, 3, { urgency: 0 })
    const sending = newState()
    sending.isNotified = false
    const found = new Map<number, number>()
    for (let turn = 0; turn < 3; turn += 1) {
      const { front } = await read(sending, to(busy.partitionKey))
      for (const { urgency } of front) found.set(urgency, (found.get(urgency) ?? 0) + 1)
    }
    expect([...found.keys()].toSorted()).toEqual([0, 1, 2])
  })
})

test('deliveries due at the same microsecond are all reached, page by page', async () => {
  const [busy, free] = [
    await outbox.addRecipient('http://busy.example.org/'),
    await outbox.addRecipient('http://free.example.org/'),
  ]
  await fill(busy, 3 * QUEUE_SCAN_MAX)
  await fill(free, 5)
  await outbox.db.execute(
    sql`update deliveries set next_attempt_at = '2026-11-20T11:00:00.000123Z'`,
  )
  const seen = new Set<string>()
  let after: Parameters<typeof listDueDeliveries>[2]['after']
  for (let page = 0; page < 4; page += 1) {
    const of = { ...to(busy.partitionKey), ...(after && { after }) }
    const { rows, ends } = await listDueDeliveries(outbox.db, 'webhook', of)
    for (const { id } of rows) seen.add(id)
    after = ends
  }
  expect(after?.size).toBe(0)
  expect(seen.size).toBe(5)
})
