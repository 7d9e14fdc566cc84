import { type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { connect, type Db } from '#src/db/connection.ts'
import { claimDeliveries, postponeDeliveries } from '#src/delivery/chats/chat-store.ts'
import {
  claimDueDeliveries,
  extendLeases,
  parkBlocked,
  releaseAbortedDeliveries,
} from '#src/delivery/claims/claim-store.ts'
import { findLateHeads, returnHeads, takeDueHeads } from '#src/delivery/claims/head-store.ts'
import { listStaleRecipients } from '#src/delivery/messages/message-store.ts'
import { listSilentRecipients, wakeRetries } from '#src/delivery/results/retry-store.ts'
import { dropOldDeliveries } from '#src/delivery/retention.ts'
import { type FinishedDelivery, finishDeliveries } from '#src/delivery/store.ts'
import { listSettings } from '#src/recipients/settings-store.ts'
import { listCandidates } from '#src/recipients/store.ts'
import { endDeliveries } from '../support/deliveries.ts'
import { type Outbox, openOutbox } from './outbox.ts'

/**
 * After a quiet time the queue is empty, and PostgreSQL knows so. A scan of the whole queue, or of one of its partial
 * indexes, then looks cheaper than a look for each id, however many wait when the claim runs.
 */

const FINISHED = 5000
const IDS = 64
const NONE_FULL = { partitions: [], recipients: [] }
const ALL = { after: 0, recipientsMax: 32 }

let outbox: Outbox
/** Like `outbox`, but nothing was ever in the queue. */
let unused: Outbox
let ids: readonly string[]

beforeAll(async () => {
  outbox = await openOutbox()
  unused = await openOutbox()
  for (const { deps, database } of [outbox, unused]) {
    await dropOldDeliveries(deps)
    await database.sql`vacuum analyze delivery_queue`
  }
  const [id = ''] = await outbox.enqueue({ to: await outbox.addRecipient() })
  const run = outbox.database.sql
  await run`
    insert into delivery_queue select (jsonb_populate_record(d, jsonb_build_object(
      'id', left(d.id::text, 24) || lpad(to_hex(n), 12, '0'), 'order_key', 'k' || n, 'recipient_id', 1 + n % 100,
      'status', case when n % 2 = 0 then 'retrying' else 'pending' end))).*
    from delivery_queue d, generate_series(1, ${FINISHED}) n where d.id = ${id}`
  await endDeliveries(outbox.db)
  await run`vacuum analyze delivery_queue`
  const rows = await run<{ id: string }[]>`select id from delivery_log order by id limit ${IDS}`
  ids = rows.map((row) => row.id)
})

afterAll(() => Promise.all([outbox.close(), unused.close()]))

interface Node {
  readonly 'Index Name'?: string | undefined
  readonly Alias?: string | undefined
  readonly Plans?: readonly Node[] | undefined
}
const Node: z.ZodType<Node> = z.lazy(() =>
  z.object({
    'Index Name': z.string().optional(),
    Alias: z.string().optional(),
    Plans: z.array(Node).optional(),
  }),
)

/** Indexes through which the plan of a statement finds the deliveries `d`, as the connections of the claims plan it. */
async function indexesOf(
  { db }: Pick<Outbox, 'db'>,
  statement: SQL,
  mode: string,
): Promise<readonly string[]> {
  const rows = await db.transaction(async (tx) => {
    await tx.execute(sql.raw(`set local plan_cache_mode = ${mode}; set local enable_seqscan = off`))
    return tx.execute<{ 'QUERY PLAN': unknown }>(sql`explain (format json) ${statement}`)
  })
  const [{ Plan }] = z.tuple([z.object({ Plan: Node })]).parse(rows[0]?.['QUERY PLAN'])
  const all = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(all)]
  return all(Plan).flatMap(({ 'Index Name': index, Alias }) =>
    index !== undefined && /^(d|delivery_log)(_\d+)?$/.test(Alias ?? '') ? [index] : [],
  )
}

/** The first statement that a function of the outbox sends. */
async function statementOf(send: (db: Outbox['db']) => Promise<unknown>): Promise<SQL> {
  let statement: SQL | undefined
  const db = {
    execute: async (sent: SQL) => {
      if (!new PgDialect().sqlToQuery(sent).sql.includes('set_config')) statement ??= sent
      return []
    },
    transaction: (work: (tx: unknown) => Promise<unknown>) => work(db),
  }
  await send(db as unknown as Outbox['db'])
  if (statement === undefined) throw new Error('nothing was sent')
  return statement
}

const now = () => outbox.clock.now()
const lease = () => ({ now: now(), leasedUntil: new Date(now().getTime() + 60_000) })
const taking = () => ({
  ...lease(),
  ...{ full: NONE_FULL, headsMax: 256, rowsMax: { ofAll: 1024, ofHead: 256 }, rowsOfHeadMin: 4 },
})
const HEADS = [{ recipientId: 1, version: 0, notBefore: null }]
const ended = () =>
  ids.map((id, index) => ({
    ...{ id, attempt: 1, status: 'delivered', attempts: 1, nextAttemptAt: null, plannedAt: null },
    ...{ statusCode: 200, error: null, deliveredAt: now(), retainedUntil: null, messageId: null },
    ...{ carriedBy: null, isSilent: false },
    ...{ orderKey: `k${index}`, recipientId: 1 },
  }))

test.each<[string, (db: Outbox['db']) => Promise<unknown>]>([
  ['claimDueDeliveries', (db) => claimDueDeliveries(db, ids, lease())],
  ['claimDeliveries', (db) => claimDeliveries(db, ids, lease())],
  ['extendLeases', (db) => extendLeases(db, ids, lease().leasedUntil)],
  ['postponeDeliveries', (db) => postponeDeliveries(db, ids, { until: now(), now: now() })],
  ['parkBlocked', (db) => parkBlocked(db, ids)],
  [
    'release',
    (db) =>
      releaseAbortedDeliveries(
        db,
        ids.map((id) => ({ id, attempt: 1 })),
      ),
  ],
  [
    'finish',
    (db) =>
      finishDeliveries(db, ended() as unknown as Parameters<typeof finishDeliveries>[1], now()),
  ],
])('%s finds deliveries by their primary key with any statistics of the table', async (_, send) => {
  const statement = await statementOf(send)
  for (const emptied of [outbox, unused]) {
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const indexes = await indexesOf(emptied, statement, mode)
      expect(indexes.length).toBeGreaterThan(0)
      expect(indexes.filter((name) => !name.endsWith('_pkey'))).toEqual([])
    }
  }
})

test.each<[string, (db: Outbox['db']) => Promise<unknown>]>([
  ['wakeRetries', (db) => wakeRetries(db, [1, 2, 3], now())],
  ['listSilentRecipients', (db) => listSilentRecipients(db, 'webhook', now())],
  ['takeDueHeads', (db) => takeDueHeads(db, 'webhook', taking())],
  ['returnHeads', (db) => returnHeads(db, HEADS, now())],
  ['findLateHeads', (db) => findLateHeads(db, { ...ALL, ...lease() })],
])('%s reads no unfinished deliveries but its own, with any statistics', async (_, send) => {
  const statement = await statementOf(send)
  for (const emptied of [outbox, unused]) {
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const indexes = await indexesOf(emptied, statement, mode)
      expect(indexes.length).toBeGreaterThan(0)
      const used = new Set(indexes)
      used.delete('delivery_queue_pkey')
      expect(used).toEqual(new Set(['delivery_queue_due']))
    }
  }
})

test.each([
  ['takeDueHeads', (db: Db) => takeDueHeads(db, 'webhook', taking())],
  ['returnHeads', (db: Db) => returnHeads(db, HEADS, now())],
  ['claimDueDeliveries', (db: Db) => claimDueDeliveries(db, ids, lease())],
  ['listStaleRecipients', (db: Db) => listStaleRecipients(db, 'discord', { ...ALL, now: now() })],
])('%s is planned once for a connection of the claims', async (_, claim) => {
  const connection = connect(outbox.database.url, { max: 1, keepsPlans: true })
  try {
    for (let run = 0; run < 10; run += 1) await claim(connection.db)
    expect(await plansOf(connection.db)).toEqual([{ kept: 10, made: 0 }])
  } finally {
    await connection.close()
  }
})

/** How often each prepared statement of the connection ran with its kept plan, and with one made for the run. */
async function plansOf(db: Db) {
  const plans = await db.execute<{ kept: number; made: number }>(sql`
    select generic_plans::int as kept, custom_plans::int as made from pg_prepared_statements`)
  return [...plans]
}

test('statements that record deliveries keep their plans after five runs of a connection', async () => {
  const connection = connect(outbox.database.url, { max: 1 })
  try {
    for (let run = 0; run < 10; run += 1) {
      const rows = ended().slice(0, 1 + run) as unknown as FinishedDelivery[]
      await connection.db.transaction((tx) => finishDeliveries(tx, rows, now()))
    }
    // Recorded, retries made due, next deliveries of their keys made due.
    const kept = { kept: 5, made: 5 }
    expect(await plansOf(connection.db)).toEqual([kept, kept, kept])
  } finally {
    await connection.close()
  }
})

test('statements that find the recipients of a notification keep their plans as well', async () => {
  const connection = connect(outbox.database.url, { max: 1 })
  try {
    for (let run = 0; run < 10; run += 1) {
      const wallets = Array.from({ length: 1 + run }, (_, index) => walletOf(index))
      await listSettings(connection.db, wallets)
      await listCandidates(connection.db, wallets)
    }
    const kept = { kept: 5, made: 5 }
    expect(await plansOf(connection.db)).toEqual([kept, kept])
  } finally {
    await connection.close()
  }
})

function walletOf(number: number): `0x${string}` {
  return `0x${number.toString(16).padStart(40, '0')}`
}
