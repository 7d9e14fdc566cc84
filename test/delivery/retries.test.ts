import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findRecipient } from '#src/recipients/service.ts'
import { CALLER, type Outbox, openOutbox, serve, type Target } from './outbox.ts'

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

describe('a delivery', () => {
  test('is sent once', async () => {
    const [id] = await outbox.enqueue({ to: target })
    await outbox.deliver()
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(1)
    expect(await outbox.rows()).toMatchObject([
      { id, status: 'delivered', attempts: 1, lastStatusCode: 200, lastError: null },
    ])
    const recipient = await findRecipient(outbox.deps, CALLER, target.id)
    expect(recipient).toMatchObject({ lastSuccessAt: outbox.clock.now(), lastFailureAt: null })
  })

  test('keeps its id over all attempts, and counts them', async () => {
    outbox.receiver.answerNext(500, 'reset')
    const [id] = await outbox.enqueue({ to: target })
    await outbox.deliver()
    outbox.clock.advance(6)
    await outbox.deliver()
    outbox.clock.advance(360)
    await outbox.deliver()
    const headers = outbox.receiver.deliveries.map((delivery) => delivery.headers)
    expect(headers.map((header) => header['x-watchdog-delivery'])).toEqual([id, id, id])
    expect(headers.map((header) => header['webhook-id'])).toEqual([id, id, id])
    expect(headers.map((header) => header['x-watchdog-attempt'])).toEqual(['1', '2', '3'])
    expect(await outbox.rows()).toMatchObject([{ status: 'delivered', attempts: 3 }])
  })

  test('is not attempted again before its time', async () => {
    outbox.receiver.answerNext(503)
    await outbox.enqueue({ to: target })
    await outbox.deliver()
    const [row] = await outbox.rows()
    expect(row).toMatchObject({ status: 'retrying', lastStatusCode: 503, lastError: 'status_503' })
    const wait = ((row?.nextAttemptAt?.getTime() ?? 0) - outbox.clock.now().getTime()) / 1000
    expect(wait).toBeGreaterThanOrEqual(4)
    expect(wait).toBeLessThanOrEqual(6)
    outbox.clock.advance(3.9)
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(1)
    outbox.clock.advance(2.2)
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(2)
  })

  test('waits for the time in Retry-After, at most twice its own retry interval', async () => {
    outbox.receiver.answerNext({ status: 429, headers: { 'Retry-After': '8' } })
    await outbox.enqueue({ to: target })
    await outbox.deliver()
    const due = async () => (await outbox.rows())[0]?.nextAttemptAt?.toISOString()
    expect(await due()).toBe('2026-11-20T12:00:08.000Z')
    outbox.receiver.answerNext({ status: 429, headers: { 'Retry-After': '86400' } })
    outbox.clock.advance(8)
    await outbox.deliver()
    expect(await due()).toBe('2026-11-20T12:10:08.000Z')
  })

  test('fails after eight attempts in about 28 hours', async () => {
    outbox.receiver.answerAlways(500)
    await outbox.enqueue({ to: target })
    let hours = 0
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await outbox.deliver()
      expect(outbox.receiver.deliveries).toHaveLength(attempt)
      const [row] = await outbox.rows()
      if (row?.nextAttemptAt === null || row === undefined) break
      hours = (row.nextAttemptAt.getTime() - Date.UTC(2026, 10, 20, 12)) / 3_600_000
      outbox.clock.set(row.nextAttemptAt)
    }
    expect(hours).toBeGreaterThan(21)
    expect(hours).toBeLessThan(34)
    expect(await outbox.rows()).toMatchObject([
      { status: 'failed', attempts: 8, nextAttemptAt: null, lastStatusCode: 500 },
    ])
    outbox.clock.advance(86_400)
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(8)
  })

  test('that failed is retried as soon as its recipient accepts another delivery', async () => {
    outbox.receiver.answerAlways(500)
    const other = await outbox.addRecipient(outbox.receiver.url('other'))
    const [late] = await outbox.enqueue({ to: target }, { to: other, firedAfterSeconds: 1 })
    await outbox.deliver()
    outbox.clock.advance(7)
    await outbox.deliver()
    outbox.receiver.answerAlways(200)
    outbox.clock.advance(60)
    await outbox.enqueue({ to: target, firedAfterSeconds: 70 })
    await outbox.deliver()
    outbox.clock.advance(1)
    await outbox.deliver()
    expect(await outbox.rows()).toMatchObject([
      { id: late, status: 'delivered', attempts: 3 },
      { status: 'retrying', recipientId: other.id, attempts: 2 },
      { status: 'delivered' },
    ])
  })

  test('that fails again in an early attempt keeps its planned time and its number of attempts', async () => {
    let refused = 0
    const server = await serve(async (_request, response, body) => {
      const isPoison = body.includes('Poison')
      refused += isPoison ? 1 : 0
      response.writeHead(isPoison ? 500 : 200).end()
    })
    const picky = await outbox.addRecipient(server.url())
    await outbox.enqueue({ to: picky, title: 'Poison' })
    await outbox.deliver()
    outbox.clock.advance(7)
    await outbox.deliver()
    const [before] = await outbox.rows()
    for (const seconds of [1, 2, 3]) {
      outbox.clock.advance(20)
      await outbox.enqueue({ to: picky, firedAfterSeconds: seconds })
      await outbox.deliver()
    }
    const [after] = await outbox.rows()
    expect(after).toEqual(before)
    // Two regular attempts, and one early attempt per step.
    expect(refused).toBe(3)
    outbox.clock.advance(300)
    await outbox.deliver()
    expect((await outbox.rows())[0]).toMatchObject({ status: 'retrying', attempts: 3 })
    await server.close()
  })

  test('is not attempted early if the receiver asked to wait', async () => {
    outbox.receiver.answerNext(500, { status: 429, headers: { 'Retry-After': '600' } })
    await outbox.enqueue({ to: target })
    await outbox.deliver()
    outbox.clock.advance(7)
    await outbox.deliver()
    const [before] = await outbox.rows()
    await outbox.enqueue({ to: target, firedAfterSeconds: 1 })
    await outbox.deliver()
    expect((await outbox.rows())[0]).toEqual(before)
  })

  test('that is held or muted is not sent', async () => {
    await outbox.enqueue({ to: target, status: 'held' }, { to: target, status: 'muted' })
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(0)
    expect((await outbox.rows()).map(({ status }) => status).sort()).toEqual(['held', 'muted'])
  })

  test('arrives with exactly the text that was written', async () => {
    const title = 'a \u0000 b \ud800 c \u202e "quoted" \\ {x,y} NULL'
    await outbox.enqueue({ to: target, title })
    await outbox.deliver()
    expect(outbox.receiver.deliveries[0]?.json).toMatchObject({ rendered: { title } })
  })
})

describe('a destination', () => {
  test('that responds with 410 is switched off, and nothing more is sent to it', async () => {
    outbox.receiver.answerNext(410)
    const key = 'one key'
    await outbox.enqueue({ to: target, key }, { to: target, key, firedAfterSeconds: 1 })
    await outbox.enqueue({ to: target })
    await outbox.deliver()
    outbox.clock.advance(10)
    await outbox.enqueue({ to: target })
    await outbox.deliver()
    const statuses = (await outbox.rows()).map(({ status }) => status)
    expect(statuses.filter((status) => status === 'failed')).toHaveLength(1)
    const recipient = await findRecipient(outbox.deps, CALLER, target.id)
    expect(recipient).toMatchObject({ status: 'disabled', statusReason: 'gone' })
    const [, follower] = (await outbox.rows()).filter(({ orderKey }) => orderKey === key)
    expect(follower).toMatchObject({ status: 'disabled', attempts: 0, nextAttemptAt: null })
    const later = outbox.receiver.deliveries.length
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(later)
  })

  test('that fails for 120 hours without a success is switched off', async () => {
    outbox.receiver.answerAlways(500)
    await outbox.enqueue({ to: target })
    await outbox.deliver()
    const statusOf = async () => (await findRecipient(outbox.deps, CALLER, target.id))?.status
    outbox.clock.advance(119 * 3600)
    await outbox.deliver()
    expect(await statusOf()).toBe('active')
    outbox.clock.advance(2 * 3600)
    await outbox.enqueue({ to: target })
    await outbox.deliver()
    expect(await statusOf()).toBe('disabled')
  })

  test('that was deleted gets nothing', async () => {
    await outbox.enqueue({ to: { ...target, id: 999_999 } })
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(0)
    expect(await outbox.rows()).toMatchObject([{ status: 'disabled' }])
  })
})
