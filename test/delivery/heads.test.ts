import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  markDue,
  returnHeads,
  type TakenHead,
  takeDueHeads,
} from '#src/delivery/claims/head-store.ts'
import { createHeldHeads } from '#src/delivery/claims/held-heads.ts'
import { repairHeads } from '#src/delivery/claims/repair-heads.ts'
import { LEASE_SECONDS } from '#src/delivery/model.ts'
import { enqueue } from '#src/delivery/service.ts'
import { endDeliveries } from '../support/deliveries.ts'
import { runOutsideTransaction } from '../support/transaction-guard.ts'
import { deliveryOf, type Outbox, openOutbox, type Target } from './outbox.ts'

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

const { signal } = new AbortController()
const inSeconds = (seconds: number) => new Date(outbox.clock.now().getTime() + seconds * 1000)
const setOf = (changes: string) =>
  outbox.db.execute(sql.raw(`update delivery_queue set ${changes}`))

/** The due time of the recipient's head. */
async function dueAt(of = target): Promise<Date | null | undefined> {
  const rows = await outbox.db.execute<{ dueAt: Date | null }>(sql`
    select due_at as "dueAt" from delivery_heads where recipient_id = ${of.id}`)
  return rows[0]?.dueAt
}

async function take(headsMax = 10): Promise<readonly TakenHead[]> {
  const { heads } = await takeDueHeads(outbox.db, 'webhook', {
    now: outbox.clock.now(),
    leasedUntil: inSeconds(LEASE_SECONDS),
    full: { partitions: [], recipients: [] },
    headsMax,
    rowsMax: { ofAll: 100, ofHead: 10 },
    rowsOfHeadMin: 1,
  })
  return heads
}

const putBack = (heads: readonly TakenHead[]) =>
  returnHeads(
    outbox.db,
    heads.map((head) => ({ ...head, notBefore: null })),
    outbox.clock.now(),
  )

describe('a head that was taken', () => {
  test('is taken by nobody else, until the lease of a worker that died ends', async () => {
    await outbox.enqueue({ to: target })
    expect(await take()).toHaveLength(1)
    expect(await take()).toEqual([])
    outbox.clock.advance(LEASE_SECONDS)
    expect(await take()).toHaveLength(1)
  })

  test.each([
    ['now if one is due', 'attempts = 0', 0],
    ['when the next one is due', `next_attempt_at = next_attempt_at + interval '300 s'`, 300],
    ['when the lease of one ends', `leased_until = next_attempt_at + interval '60 s'`, 60],
    ['never if none waits', `status = 'delivered', next_attempt_at = null`, null],
    ['never if all wait for others', 'next_attempt_at = null', null],
  ])('is due next: %s', async (_when, changes, seconds) => {
    await outbox.enqueue({ to: target })
    const heads = await take()
    await setOf(changes)
    await putBack(heads)
    expect(await dueAt()).toEqual(seconds === null ? null : inSeconds(seconds))
  })

  test('stays due if a delivery is written before it is given back', async () => {
    await outbox.enqueue({ to: target })
    const heads = await take()
    await endDeliveries(outbox.db)
    await outbox.enqueue({ to: target })
    await putBack(heads)
    expect(await dueAt()).toEqual(outbox.clock.now())
  })

  test('stays due although another delivery is to be sent later', async () => {
    const [first] = await outbox.enqueue({ to: target }, { to: target })
    const heads = await take()
    // A worker that sent the first one before marks the recipient for its retry.
    await outbox.db.transaction(async (tx) => {
      await tx.execute(sql`
        update delivery_queue set status = 'retrying', next_attempt_at = ${inSeconds(300)} where id = ${first}`)
      const { id: recipientId, partitionKey } = target
      const dueAt = inSeconds(300)
      await markDue(tx, [{ recipientId, partitionKey, channel: 'webhook', urgency: 0, dueAt }])
    })
    await putBack(heads)
    expect(await dueAt()).toEqual(outbox.clock.now())
  })

  test('stays due if a delivery is being written while it is given back', async () => {
    await outbox.enqueue({ to: target })
    const heads = await take()
    await endDeliveries(outbox.db)
    let returned: Promise<void> | undefined
    await outbox.db.transaction(async (tx) => {
      await enqueue(tx, [deliveryOf({ to: target }, outbox.clock.now())])
      await tx.execute(sql`select from delivery_heads for update`)
      returned = runOutsideTransaction(() => putBack(heads))
      await wait(50)
    })
    await returned
    expect(await dueAt()).toEqual(outbox.clock.now())
  })

  test('whose row is locked is given back when the lock ends, also by a worker that stops', async () => {
    await outbox.enqueue({ to: target })
    const heads = await take()
    const held = createHeldHeads(outbox.deps)
    await outbox.db.transaction(async (tx) => {
      await tx.execute(sql`select from delivery_heads for update`)
      await runOutsideTransaction(async () => held.putBack(heads, new Map()))
      await wait(50)
      expect(held.isEmpty()).toBe(false)
    })
    await held.finish()
    expect(await dueAt()).toEqual(outbox.clock.now())
  })
})

test('the most urgent and longest due recipients are taken first, however many deliveries others have', async () => {
  const many = Array.from({ length: 500 }, () => ({ to: target }))
  await outbox.enqueue(...many)
  outbox.clock.advance(1)
  const others = [await outbox.addRecipient(), await outbox.addRecipient()] as const
  await outbox.enqueue({ to: others[0] })
  await outbox.enqueue({ to: others[1] })
  await outbox.db.execute(
    sql`update delivery_heads set urgency = 2 where recipient_id = ${others[1].id}`,
  )
  const order: number[] = []
  for (let turn = 0; turn < 3; turn += 1) {
    order.push(...(await take(1)).map(({ recipientId }) => recipientId))
  }
  expect(order).toEqual([others[1].id, target.id, others[0].id])
})

test('of each urgency some recipients are taken, however many others have critical alerts', async () => {
  const critical = await Promise.all(Array.from({ length: 9 }, () => outbox.addRecipient()))
  await outbox.enqueue(...critical.map((to) => ({ to })))
  await outbox.db.execute(sql`update delivery_heads set urgency = 2`)
  outbox.clock.advance(1)
  await outbox.enqueue({ to: target })
  const taken = (await take(8)).map(({ recipientId }) => recipientId)
  expect(taken).toHaveLength(8)
  expect(taken.at(-1)).toBe(target.id)
})

test('transactions that write deliveries of the same recipients in another order do not wait for each other', async () => {
  const targets = [target, await outbox.addRecipient()]
  const began = targets.map(() => Promise.withResolvers<void>())
  const write = (number: number) =>
    outbox.db.transaction(async (tx) => {
      for (const to of number === 0 ? targets : targets.toReversed()) {
        await enqueue(tx, [deliveryOf({ to }, outbox.clock.now())])
        began[number]?.resolve()
        // Both have written one of two deliveries before either writes the second.
        await Promise.all(began.map(({ promise }) => promise))
      }
    })
  await Promise.all([write(0), write(1)])
  await outbox.deliver()
  expect(outbox.receiver.deliveries).toHaveLength(4)
})

describe('the repair', () => {
  const repair = () => repairHeads(outbox.deps, signal)

  test('finds recipients without a head or with a late one, and leaves all others', async () => {
    const others = [await outbox.addRecipient(), await outbox.addRecipient()] as const
    const taken = await outbox.addRecipient()
    await outbox.enqueue(...[target, ...others, taken].map((to) => ({ to })))
    await outbox.db.execute(sql`delete from delivery_heads where recipient_id = ${target.id}`)
    await outbox.db.execute(sql`
      update delivery_heads set due_at = ${inSeconds(3600)} where recipient_id = ${others[0].id}`)
    await outbox.db.execute(sql`
      update delivery_heads set due_at = ${inSeconds(LEASE_SECONDS)} where recipient_id = ${taken.id}`)
    expect(await repair()).toBe(2)
    expect(await repair()).toBe(0)
    await outbox.deliver()
    const done = (await outbox.rows()).filter(({ status }) => status === 'delivered')
    expect(new Set(done.map(({ recipientId }) => recipientId))).toEqual(
      new Set([target, ...others].map(({ id }) => id)),
    )
  })

  test('finds nothing after deliveries of every kind', async () => {
    outbox.receiver.answerNext(500, 200, 'reset')
    const keyed = { to: target, key: 'key' }
    await outbox.enqueue(keyed, { ...keyed, firedAfterSeconds: 1 }, { to: target })
    await outbox.enqueue({ to: await outbox.addRecipient(), status: 'held' })
    for (const seconds of [0, 7, 400]) {
      outbox.clock.advance(seconds)
      await outbox.deliver()
      expect(await repair()).toBe(0)
    }
    expect((await outbox.rows()).map(({ status }) => status).toSorted()).toEqual([
      'delivered',
      'delivered',
      'delivered',
      'held',
    ])
    expect(await dueAt()).not.toBeUndefined()
  })
})
