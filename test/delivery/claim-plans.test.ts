import { type SQL, sql } from 'drizzle-orm'
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
import { STORED_TIMES } from '#src/delivery/stored-times.ts'
import { listSettings } from '#src/recipients/settings-store.ts'
import { listCandidates } from '#src/recipients/store.ts'
import { type Outbox, openOutbox } from './outbox.ts'

/**
 * After a quiet time the statistics know of no unfinished delivery. A partial index of the unfinished ones then looks
 * empty to PostgreSQL, and a scan of it cheaper than a look for each id, however many wait when the claim runs.
 */

const FINISHED = 5000
const IDS = 64
const NONE_FULL = { partitions: [], recipients: [] }
const ALL = { after: 0, recipientsMax: 32 }

let outbox: Outbox
/** Like `outbox`, but no delivery was ever retried: the index of retries has never had a row. */
let withoutRetries: Outbox
let ids: readonly string[]

beforeAll(async () => {
  outbox = await openFinished({ wereRetried: true })
  withoutRetries = await openFinished({ wereRetried: false })
  const rows = await outbox.database.sql<{ id: string }[]>`
    select id from deliveries order by id limit ${IDS}`
  ids = rows.map((row) => row.id)
})

afterAll(() => Promise.all([outbox.close(), withoutRetries.close()]))

async function openFinished({ wereRetried }: { readonly wereRetried: boolean }): Promise<Outbox> {
  const outbox = await openOutbox()
  await dropOldDeliveries(outbox.deps)
  const [id = ''] = await outbox.enqueue({ to: await outbox.addRecipient() })
  const run = outbox.database.sql
  await run`update deliveries set status = 'delivered', next_attempt_at = null where id = ${id}`
  await run`
    insert into deliveries select (jsonb_populate_record(d, jsonb_build_object(
      'id', left(d.id::text, 24) || lpad(to_hex(n), 12, '0'), 'order_key', 'k' || n, 'recipient_id', 1 + n % 100))).*
    from deliveries d, generate_series(1, ${FINISHED}) n where d.id = ${id}`
  // The indexes of unfinished deliveries keep their pages.
  await run`update deliveries set status = 'pending', next_attempt_at = now()`
  if (wereRetried)
    await run`
      update deliveries set status = 'retrying', next_attempt_at = now() + interval '1 hour'`
  await run`update deliveries set status = 'delivered', next_attempt_at = null`
  await run`vacuum analyze deliveries`
  return outbox
}

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

/** Indexes through which the plan of a statement finds the deliveries `d`, in partitions that have rows. */
async function indexesOf(
  { db }: Pick<Outbox, 'db'>,
  statement: SQL,
  mode: string,
): Promise<readonly string[]> {
  const rows = await db.transaction(async (tx) => {
    await tx.execute(sql.raw(`set local plan_cache_mode = ${mode}`))
    return tx.execute<{ 'QUERY PLAN': unknown }>(sql`explain (format json) ${statement}`)
  })
  const [{ Plan }] = z.tuple([z.object({ Plan: Node })]).parse(rows[0]?.['QUERY PLAN'])
  const all = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(all)]
  return all(Plan).flatMap(({ 'Index Name': index, Alias }) =>
    index !== undefined && /^(d|deliveries)(_\d+)?$/.test(Alias ?? '') ? [index] : [],
  )
}

/** The first statement that a function of the outbox sends. */
async function statementOf(send: (db: Outbox['db']) => Promise<unknown>): Promise<SQL> {
  let statement: SQL | undefined
  const db = {
    execute: async (sent: SQL) => {
      statement ??= sent
      return []
    },
    transaction: (work: (tx: unknown) => Promise<unknown>) => work(db),
  }
  await send(db as unknown as Outbox['db'])
  if (statement === undefined) throw new Error('nothing was sent')
  return statement
}

const now = () => outbox.clock.now()
/** Sends the repair of an entry of the list. */
const repair = (db: Outbox['db'], entry: number) =>
  db.execute(STORED_TIMES[entry]?.repair(now()) ?? sql``)
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
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    const indexes = await indexesOf(outbox, statement, mode)
    expect(indexes.length).toBeGreaterThan(0)
    expect(indexes.filter((name) => !name.endsWith('_pkey'))).toEqual([])
  }
})

test.each<[string, (db: Outbox['db']) => Promise<unknown>, readonly string[]]>([
  ['wakeRetries', (db) => wakeRetries(db, [1, 2, 3], now()), ['deliveries_due']],
  ['listSilentRecipients', (db) => listSilentRecipients(db, 'webhook', now()), ['deliveries_due']],
  ['the repair of rows', (db) => repair(db, 0), ['deliveries_created']],
  ['the repair of leases', (db) => repair(db, 1), ['deliveries_order']],
  ['takeDueHeads', (db) => takeDueHeads(db, 'webhook', taking()), ['deliveries_due']],
  ['returnHeads', (db) => returnHeads(db, HEADS, now()), ['deliveries_due']],
  ['findLateHeads', (db) => findLateHeads(db, { ...ALL, ...lease() }), ['deliveries_due']],
])('%s reads no unfinished deliveries but its own, with any statistics', async (_, send, own) => {
  const statement = await statementOf(send)
  for (const finished of [outbox, withoutRetries]) {
    const rows = await finished.database.sql<{ part: string; whole: string }[]>`
      select part.relname as part, whole.relname as whole
      from pg_inherits join pg_class part on part.oid = inhrelid join pg_class whole on whole.oid = inhparent
      where part.relkind = 'i'`
    const wholeOf = new Map(rows.map(({ part, whole }) => [part, whole]))
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const indexes = await indexesOf(finished, statement, mode)
      expect(indexes.length).toBeGreaterThan(0)
      const used = new Set(indexes.map((name) => wholeOf.get(name) ?? name))
      used.delete('deliveries_pkey')
      expect(used).toEqual(new Set(own))
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
