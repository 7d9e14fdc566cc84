import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendTest } from '#src/alerts/messages/test-send.ts'
import { createAttemptCounter } from '#src/delivery/sending/attempt-counter.ts'
import { countDueByChannel, listForAlerts } from '#src/delivery/service.ts'
import { AppError } from '#src/kernel/errors.ts'
import { toStoredDestination } from '#src/recipients/destination-box.ts'
import { findRecipient, updateRecipient } from '#src/recipients/service.ts'
import * as recipientRows from '#src/recipients/store.ts'
import { drain } from '../support/drain.ts'
import { CALLER, type Outbox, openOutbox, type Target } from './outbox.ts'

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

describe('a test message to a webhook', () => {
  test('is a real message, marked as a test, and its result is returned at once', async () => {
    const result = await sendTest(outbox.deps, CALLER, target.id)
    expect(result).toEqual({
      deliveryId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'delivered',
      statusCode: 200,
      latencyMs: expect.any(Number),
      lastError: null,
    })
    const [delivery] = outbox.receiver.deliveries
    expect(delivery?.json).toMatchObject({
      payloadVersion: 2,
      deliveryId: result.deliveryId,
      alertId: null,
      watchId: null,
      event: 'wallet-balance.moved',
      severity: 'warning',
      type: 'wallet-balance',
      signal: 'balance-change',
      group: 'alerts',
      label: null,
      data: { test: true, asset: 'FLR', threshold: expect.any(String) },
      rendered: {
        locale: 'en',
        title: expect.stringMatching(/^12,500.FLR left the wallet · test$/),
        body: expect.stringMatching(/^The balance went from .*\n\nThis is a test\./s),
      },
      renderedMessage: {
        test: true,
        link: 'https://watchdog.example.org/docs/watches/wallet-balance/balance-change',
      },
    })
    expect(delivery?.headers['x-watchdog-test']).toBe('true')
    expect(await outbox.rows()).toMatchObject([
      { id: result.deliveryId, status: 'delivered', attempts: 1, lastStatusCode: 200 },
    ])
  })

  test('that fails returns the reason, and is not sent again', async () => {
    outbox.receiver.answerNext(500)
    expect(await sendTest(outbox.deps, CALLER, target.id)).toMatchObject({
      status: 'failed',
      statusCode: 500,
      lastError: 'status_500',
    })
    outbox.receiver.answerNext('reset')
    expect(await sendTest(outbox.deps, CALLER, target.id)).toMatchObject({
      status: 'failed',
      statusCode: null,
      lastError: 'reset',
    })
    outbox.clock.advance(86_400)
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(2)
    const recipient = await findRecipient(outbox.deps, CALLER, target.id)
    expect(recipient?.lastFailureAt).not.toBeNull()
  })

  test('that succeeds makes retrying deliveries due, except those for which the receiver asked to wait', async () => {
    outbox.receiver.answerNext(500, { status: 429, headers: { 'Retry-After': '600' } })
    await outbox.enqueue({ to: target })
    await outbox.deliver()
    outbox.clock.advance(7)
    await outbox.deliver()
    const key = 'one key'
    outbox.receiver.answerNext(500, 500)
    await outbox.enqueue({ to: target, key, firedAfterSeconds: 1 })
    await outbox.deliver()
    outbox.clock.advance(7)
    await outbox.deliver()
    await outbox.enqueue({ to: target, key, firedAfterSeconds: 2 })
    await outbox.deliver()
    const [first, head, behind] = await outbox.rows()
    expect(first).toMatchObject({ status: 'retrying', attempts: 2 })
    expect(head).toMatchObject({ status: 'retrying', attempts: 2 })
    expect(behind).toMatchObject({ status: 'pending', attempts: 0, nextAttemptAt: null })
    outbox.clock.advance(20)
    outbox.receiver.answerNext(500)
    await sendTest(outbox.deps, CALLER, target.id)
    expect((await outbox.rows()).slice(0, 3)).toEqual([first, head, behind])
    const rung: string[] = []
    const listening = await outbox.database.sql.listen('deliveries', () => rung.push('rung'))
    await sendTest(outbox.deps, CALLER, target.id)
    await expect.poll(() => rung).toEqual(['rung'])
    await listening.unlisten()
    await outbox.deliver()
    expect((await outbox.rows()).slice(0, 3)).toMatchObject([
      { ...first },
      { status: 'delivered', attempts: 3 },
      { status: 'delivered', attempts: 1 },
    ])
  })

  test('that gets a 410 switches the destination off', async () => {
    outbox.receiver.answerNext(410)
    await sendTest(outbox.deps, CALLER, target.id)
    const recipient = await findRecipient(outbox.deps, CALLER, target.id)
    expect(recipient).toMatchObject({ status: 'disabled', statusReason: 'gone' })
  })

  test('is refused for a destination that is off, belongs to another wallet or does not exist', async () => {
    const changes = { status: 'disabled' } as const
    await updateRecipient(outbox.deps, CALLER, { id: target.id, changes })
    const stranger = { ...CALLER, wallet: `0x${'ab'.repeat(20)}` } as const
    expect(await refusal(sendTest(outbox.deps, CALLER, target.id))).toBe('recipient_not_active')
    expect(await refusal(sendTest(outbox.deps, stranger, target.id))).toBe('not_found')
    expect(await refusal(sendTest(outbox.deps, CALLER, 999_999))).toBe('not_found')
    expect(outbox.receiver.deliveries).toHaveLength(0)
  })
})

describe('a test message to another channel', () => {
  test('is queued, attempted once, and not sent again', async () => {
    let sends = 0
    const telegram = {
      ...outbox.channels.telegram,
      available: () => true,
      send: async () => {
        sends += 1
        throw new Error('the chat channel of this test has nobody behind it')
      },
    }
    const deps = { ...outbox.deps, channels: { ...outbox.channels, telegram } }
    const now = outbox.clock.now()
    const chat = await recipientRows.insertRow(outbox.db, {
      wallet: CALLER.wallet,
      channel: 'telegram',
      own: false,
      name: 'Ann',
      ...toStoredDestination(outbox.box, telegram, { chatId: 4711 }),
      locale: 'en',
      timezone: 'UTC',
      status: 'active',
      minSeverity: 'info',
      isDefault: true,
      createdAt: now,
      updatedAt: now,
    })
    const result = await sendTest(deps, CALLER, chat.id)
    expect(result).toEqual({ deliveryId: expect.any(String), status: 'queued' })
    expect(sends).toBe(0)
    await drain(deps)
    outbox.clock.advance(60)
    await drain(deps)
    expect(sends).toBe(1)
    expect(await outbox.rows()).toMatchObject([{ id: result.deliveryId, status: 'failed' }])
    expect(await refusal(sendTest(outbox.deps, CALLER, chat.id))).toBe('channel_unavailable')
  })
})

describe('the operator', () => {
  test('sees how many deliveries are due, since when, and the results of attempts', async () => {
    const attemptCounter = createAttemptCounter()
    outbox.receiver.answerNext(200, 500, 410)
    await outbox.enqueue({ to: target }, { to: target }, { to: target })
    outbox.clock.advance(30)
    const due = async () => {
      const all = await countDueByChannel(outbox.db, outbox.clock.now())
      return all.find(({ channel }) => channel === 'webhook')
    }
    expect(await due()).toEqual({
      channel: 'webhook',
      due: 3,
      oldestAt: new Date(outbox.clock.now().getTime() - 30_000),
    })
    await drain({ ...outbox.deps, attemptCounter })
    expect(await due()).toMatchObject({ due: 0, oldestAt: outbox.clock.now() })
    const counted = attemptCounter.read().filter(({ attempts }) => attempts > 0)
    expect(counted).toEqual([
      { channel: 'webhook', outcome: 'delivered', attempts: 1 },
      { channel: 'webhook', outcome: 'temporary', attempts: 1 },
      { channel: 'webhook', outcome: 'permanent', attempts: 1 },
    ])
  })
})

describe('the deliveries of alerts', () => {
  test('are listed by alert with their current status', async () => {
    const other = await outbox.addRecipient(outbox.receiver.url('other'))
    outbox.receiver.answerNext(503)
    const [first] = await outbox.enqueue({ to: target, alertId: 1 })
    await outbox.deliver()
    const [second] = await outbox.enqueue({ to: other, alertId: 1 })
    await outbox.enqueue({ to: target, alertId: 2 })
    await outbox.deliver()
    const entries = await listForAlerts(outbox.db, [1, 3])
    expect(entries.get(3)).toEqual([])
    expect(entries.get(2)).toBeUndefined()
    expect(entries.get(1)).toEqual([
      {
        deliveryId: first,
        recipientId: target.id,
        channel: 'webhook',
        status: 'retrying',
        attempts: 1,
        lastStatusCode: 503,
        lastError: 'status_503',
        nextAttemptAt: expect.any(Date),
        deliveredAt: null,
      },
      {
        deliveryId: second,
        recipientId: other.id,
        channel: 'webhook',
        status: 'delivered',
        attempts: 1,
        lastStatusCode: 200,
        lastError: null,
        nextAttemptAt: null,
        deliveredAt: outbox.clock.now(),
      },
    ])
  })

  test('behind another delivery show the next attempt of that delivery', async () => {
    const key = 'one key'
    outbox.receiver.answerNext(503)
    await outbox.enqueue({ to: target, alertId: 1, key })
    await outbox.deliver()
    const ids = await outbox.enqueue({ to: target, alertId: 2, key, firedAfterSeconds: 1 })
    await outbox.deliver()
    const [head, behind] = await outbox.rows()
    expect(behind).toMatchObject({ id: ids[0], status: 'pending', nextAttemptAt: null })
    const entries = await listForAlerts(outbox.db, [1, 2])
    const nextAttemptAt = head?.nextAttemptAt
    expect(nextAttemptAt).toBeInstanceOf(Date)
    expect(entries.get(1)).toMatchObject([{ status: 'retrying', nextAttemptAt }])
    expect(entries.get(2)).toMatchObject([{ status: 'pending', attempts: 0, nextAttemptAt }])
  })
})

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => 'nothing was refused',
    (reason: unknown) => reason,
  )
  return error instanceof AppError ? error.code : String(error)
}
