import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dropOldAlerts } from '#src/alerts/retention.ts'
import { recordAlerts } from '#src/alerts/service.ts'
import { connect } from '#src/db/connection.ts'
import { newDeliveryId } from '#src/delivery/delivery-id.ts'
import { dropOldDeliveries } from '#src/delivery/retention.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { endDeliveries } from '../support/deliveries.ts'
import { CALLER, type Outbox, openOutbox, type Target } from './outbox.ts'

let outbox: Outbox
let target: Target

beforeAll(async () => {
  outbox = await openOutbox()
})
beforeEach(async () => {
  for (const table of ['alerts', 'delivery_log', 'sent_messages']) {
    for (const part of await partsOf(table)) {
      await outbox.database.sql`drop table ${outbox.database.sql(part)}`
    }
  }
  await outbox.db.execute(sql`truncate alerts`)
  await outbox.reset()
  target = await outbox.addRecipient()
})
afterAll(() => outbox.close())

/** Names of partitions, without the default one. */
async function partsOf(table: string): Promise<string[]> {
  const rows = await outbox.database.sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = ${table}::regclass order by 1`
  return rows.map(({ name }) => name).filter((name) => name !== `${table}_default`)
}

/** Number of rows of each non-empty partition. */
async function rowsIn(table: string): Promise<Record<string, number>> {
  const { sql: plain } = outbox.database
  const rows = await plain<{ name: string; count: number }[]>`
    select tableoid::regclass::text as name, count(*)::int as count from ${plain(table)}
    group by 1 order by 1`
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

/** An alert of a watch of credits, in the observer's form. */
function raisedAt(firedAt: Date, position: number): AlertCandidate {
  const { wallet } = CALLER
  const watch = { id: 7, wallet, label: 'W', recipientIds: null, mutedUntil: null } as const
  return {
    watch: { ...watch, minSeverity: 'info' },
    type: 'wallet-balance',
    signal: 'balance-change',
    group: 'alerts',
    event: 'wallet-balance.moved',
    severity: 'info',
    data: {},
    isRecovery: false,
    isNotified: true,
    position,
    firedAt,
  }
}

function record(...candidates: AlertCandidate[]): Promise<void> {
  return outbox.db.transaction((tx) => recordAlerts(outbox.deps, tx, candidates))
}

/** Puts deliveries into the outbox, and ends them. */
async function logged(count = 1): Promise<void> {
  await outbox.enqueue(...Array.from({ length: count }, () => ({ to: target })))
  await endDeliveries(outbox.db)
}

describe('deliveries that are over', () => {
  test('have partitions for this week and the next, and are stored in the partition of their time', async () => {
    await dropOldDeliveries(outbox.deps)
    const parts = ['delivery_log_20261119_20261126', 'delivery_log_20261126_20261203']
    expect(await partsOf('delivery_log')).toEqual(parts)
    await outbox.enqueue({ to: target })
    outbox.clock.advance(7 * DAY_SECONDS)
    await outbox.enqueue({ to: target })
    await outbox.deliver()
    expect(await rowsIn('delivery_log')).toEqual({ [`${parts[0]}`]: 1, [`${parts[1]}`]: 1 })
    expect((await outbox.rows()).map(({ status }) => status)).toEqual(['delivered', 'delivered'])
  })

  test('of weeks without a partition are stored in the default partition, and moved later', async () => {
    await dropOldDeliveries(outbox.deps)
    outbox.clock.advance(24 * DAY_SECONDS)
    await logged()
    outbox.clock.advance(3 * DAY_SECONDS)
    await logged()
    expect(await rowsIn('delivery_log')).toEqual({ delivery_log_default: 2 })

    await dropOldDeliveries(outbox.deps)
    expect(await partsOf('delivery_log')).toEqual([
      'delivery_log_20261119_20261126',
      'delivery_log_20261126_20261203',
      'delivery_log_20261203_20261210',
      'delivery_log_20261210_20261217',
      'delivery_log_20261217_20261224',
      'delivery_log_20261224_20261231',
    ])
    expect(await rowsIn('delivery_log')).toEqual({
      delivery_log_20261210_20261217: 1,
      delivery_log_20261217_20261224: 1,
    })
  })

  test('are deleted after 30 days, and no partition is created for older times', async () => {
    await dropOldDeliveries(outbox.deps)
    await logged()
    outbox.clock.set(new Date('2026-12-25T23:59:59.999Z'))
    await dropOldDeliveries(outbox.deps)
    expect(await rowsIn('delivery_log')).toEqual({ delivery_log_20261119_20261126: 1 })
    outbox.clock.set(new Date('2026-12-26T00:00:00.000Z'))
    await dropOldDeliveries(outbox.deps)
    expect(await rowsIn('delivery_log')).toEqual({})

    outbox.clock.set(new Date('2027-06-01T12:00:00.000Z'))
    await dropOldDeliveries(outbox.deps)
    expect(await partsOf('delivery_log')).toEqual([
      'delivery_log_20270429_20270506',
      'delivery_log_20270506_20270513',
      'delivery_log_20270513_20270520',
      'delivery_log_20270520_20270527',
      'delivery_log_20270527_20270603',
      'delivery_log_20270603_20270610',
    ])
    expect(await partsOf('sent_messages')).toHaveLength(6)
  })

  test('are deleted, and those of the same age that are unfinished stay and are sent', async () => {
    await dropOldDeliveries(outbox.deps)
    await logged()
    const [unfinished] = await outbox.enqueue({ to: target })
    outbox.clock.advance(90 * DAY_SECONDS)
    await dropOldDeliveries(outbox.deps)
    expect(await outbox.rows()).toMatchObject([{ id: unfinished, status: 'pending' }])
    await outbox.deliver()
    expect(await outbox.rows()).toMatchObject([{ id: unfinished, status: 'delivered' }])
    await dropOldDeliveries(outbox.deps)
    expect(await outbox.rows()).toEqual([])
  })

  test('in the default partition are deleted at the same age', async () => {
    await logged(2100)
    outbox.clock.advance(DAY_SECONDS)
    await logged()
    outbox.clock.advance(30 * DAY_SECONDS)
    await dropOldDeliveries(outbox.deps)
    expect(await outbox.rows()).toHaveLength(1)
  })

  test('do not wait for a partition that a long transaction has locked', async () => {
    await logged()
    const other = connect(outbox.database.url)
    const isHeld = Promise.withResolvers<void>()
    const letGo = Promise.withResolvers<void>()
    const long = other.db.transaction(async (tx) => {
      await tx.execute(sql`select from delivery_log for update`)
      isHeld.resolve()
      await letGo.promise
    })
    await isHeld.promise
    const arranging = dropOldDeliveries(outbox.deps)
    for (let sent = 0; sent < 20; sent++) await logged()
    await arranging
    expect(await partsOf('delivery_log')).toEqual([])
    letGo.resolve()
    await long
    await other.close()
    await dropOldDeliveries(outbox.deps)
    expect(await rowsIn('delivery_log')).toEqual({ delivery_log_20261119_20261126: 21 })
  })

  test('have sent messages, which are deleted at the same age', async () => {
    await dropOldDeliveries(outbox.deps)
    await writeMessages(1)
    expect(await rowsIn('sent_messages')).toEqual({ sent_messages_20261119_20261126: 1 })
    outbox.clock.advance(36 * DAY_SECONDS)
    await dropOldDeliveries(outbox.deps)
    expect(await rowsIn('sent_messages')).toEqual({})
  })

  test('are deleted with their sent messages, also in the default partition', async () => {
    await writeMessages(2100)
    outbox.clock.advance(DAY_SECONDS)
    await writeMessages(1)
    outbox.clock.advance(30 * DAY_SECONDS)
    await dropOldDeliveries(outbox.deps)
    expect(await rowsIn('sent_messages')).toEqual({ sent_messages_default: 1 })
  })

  /** Inserts messages of a chat, sent now. */
  async function writeMessages(count: number): Promise<void> {
    const now = outbox.clock.now()
    const ids = Array.from({ length: count }, () => newDeliveryId(now))
    await outbox.db.execute(sql`insert into sent_messages (id, wallet, recipient_id, channel, partition_key,
        kind, recovery, loud, parts, opened_at, sent_at, version, revisions)
      select id, '', 1, 'telegram', '', 'alert', false, false, 1, ${now}, ${now}, 0, 0
      from unnest(${sql.param(ids)}::uuid[]) as t(id)`)
  }
})

describe('alerts', () => {
  test('are stored in the partition of their firing time, and recorded once', async () => {
    await dropOldAlerts(outbox.deps)
    const now = outbox.clock.now()
    const later = new Date(now.getTime() + 50 * DAY_SECONDS * 1000)
    const all = [raisedAt(now, 1), raisedAt(later, 2)]
    await record(...all)
    await record(...all)
    const parts = await partsOf('alerts')
    expect(await rowsIn('alerts')).toEqual(Object.fromEntries(parts.map((name) => [name, 1])))
    expect(parts).toHaveLength(2)
  })

  test('are deleted after 400 days, also if the job did not run for weeks', async () => {
    await dropOldAlerts(outbox.deps)
    await record(raisedAt(outbox.clock.now(), 1))
    outbox.clock.advance(300 * DAY_SECONDS)
    await dropOldAlerts(outbox.deps)
    expect(await partsOf('alerts')).toHaveLength(8)
    await record(raisedAt(outbox.clock.now(), 2))
    outbox.clock.advance(99 * DAY_SECONDS)
    await dropOldAlerts(outbox.deps)
    expect(Object.values(await rowsIn('alerts'))).toEqual([1, 1])
    outbox.clock.advance(51 * DAY_SECONDS)
    await dropOldAlerts(outbox.deps)
    expect(Object.values(await rowsIn('alerts'))).toEqual([1])
  })
})

test('an observation that is replayed uses no id of an alert', async () => {
  const now = outbox.clock.now()
  await record(raisedAt(now, 9001))
  for (let again = 0; again < 5; again++) await record(raisedAt(now, 9001))
  await record(raisedAt(now, 9002))
  const rows = await outbox.database.sql<{ id: number }[]>`
    select id from alerts where position in (9001, 9002) order by position`
  const [first, second] = rows.map(({ id }) => id)
  expect(second).toBe((first ?? 0) + 1)
})
