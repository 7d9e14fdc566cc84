import { type SQL, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { countWaiting } from '#src/delivery/log/count-store.ts'
import { RETAINED_MAX } from '#src/delivery/model.ts'
import { endDeliveries } from '../support/deliveries.ts'
import { type Outbox, openOutbox, type Target } from './outbox.ts'

let outbox: Outbox
let target: Target

beforeAll(async () => {
  outbox = await openOutbox()
})

beforeEach(async () => {
  await outbox.reset()
  target = await outbox.addRecipient()
})

afterAll(() => outbox.close())

const run = (statement: string) => outbox.db.execute(sql.raw(statement))
const now = () => outbox.clock.now()
const waiting = async () => (await countWaiting(outbox.db, [target.id], now())).get(target.id)

test('unsent alerts of every kind are counted once each', async () => {
  const to = await outbox.addRecipient()
  const drafts = Array.from({ length: 10 }, () => ({ to: target }))
  const ids = await outbox.enqueue({ to }, ...drafts)
  const unfinished = [
    `status = 'retrying', next_attempt_at = next_attempt_at + interval '1 hour'`,
    `status = 'retrying', planned_at = next_attempt_at`,
    'next_attempt_at = null',
    // Not counted: a test, a notice.
    'test = true',
    `kind = 'notice'`,
  ]
  const over = [
    `status = 'held', deferred_until = created_at`,
    `status = 'disabled', retained_until = created_at + interval '7 days'`,
    // Not counted: no longer retained, delivered.
    `status = 'disabled', retained_until = created_at`,
    `status = 'delivered'`,
  ]
  for (const [index, change] of unfinished.entries()) {
    await run(`update delivery_queue set ${change} where id = '${ids[1 + index]}'`)
  }
  for (const [index, result] of over.entries()) {
    const id = ids[1 + unfinished.length + index]
    await endDeliveries(outbox.db, sql`id = ${id}::uuid`, sql.raw(result))
  }
  expect(await waiting()).toBe(6)
})

const Node = z.object({
  'Node Type': z.string(),
  'Actual Rows': z.number(),
  'Actual Loops': z.number(),
  'Rows Removed by Filter': z.number().default(0),
  get Plans() {
    return z.array(Node).default([])
  },
})
type Node = z.output<typeof Node>

/** Number of rows that the scans of an executed plan have read. */
function rowsRead(node: Node): number {
  const own = node['Node Type'].endsWith('Scan')
    ? node['Actual Loops'] * (node['Actual Rows'] + node['Rows Removed by Filter'])
    : 0
  return own + node.Plans.reduce((sum, child) => sum + rowsRead(child), 0)
}

test('the count for a recipient with thousands of deliveries reads fewer rows than three times its maximum', async () => {
  const [id] = await outbox.enqueue({ to: target })
  const copies = (from: number) => `
    insert into delivery_queue select (jsonb_populate_record(d, jsonb_build_object(
      'id', gen_random_uuid(), 'order_key', 'k' || n))).*
    from delivery_queue d, generate_series(${from}, ${from + 2999}) n where d.id = '${id}'`
  await run(copies(1))
  await endDeliveries(outbox.db, sql`id <> ${id}::uuid`)
  await run(copies(3001))
  await run('vacuum analyze delivery_queue, delivery_log')
  expect(await waiting()).toBe(RETAINED_MAX)
  let plan: unknown
  const explaining = {
    execute: async (statement: SQL) => {
      const [row] = await outbox.db.execute(sql`explain (analyze, format json) ${statement}`)
      plan = row?.['QUERY PLAN']
      return []
    },
  }
  await countWaiting(explaining as unknown as Outbox['db'], [target.id], now())
  const [{ Plan }] = z.tuple([z.object({ Plan: Node })]).parse(plan)
  expect(rowsRead(Plan)).toBeLessThan(3 * RETAINED_MAX)
})
