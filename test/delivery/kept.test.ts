import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DeliveryError } from '#src/channels/define.ts'
import type { Db } from '#src/db/connection.ts'
import { dropRetained, listRetained, sendRetained } from '#src/delivery/service.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { StoppedDestination } from '#src/recipients/destinations.ts'
import { updateRecipient } from '#src/recipients/service.ts'
import { drain } from '../support/drain.ts'
import { BLOCKED, type Chat, openChat } from './chat.ts'
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

const STRANGER = { ...CALLER, wallet: `0x${'ab'.repeat(20)}` } as const
const keptTitles = async () =>
  (await listRetained(outbox.deps, CALLER, target.id)).map(({ message }) => message.title)
const arrivedTitles = () =>
  outbox.receiver.deliveries.map(
    ({ json }) => (json as { rendered: { title: string } }).rendered.title,
  )

async function switchTo(status: 'active' | 'disabled'): Promise<void> {
  await updateRecipient(outbox.deps, CALLER, { id: target.id, changes: { status } })
}

function missed(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    to: target,
    alertId: index + 1,
    firedAfterSeconds: index,
    title: `Missed ${index}`,
    status: 'disabled' as const,
  }))
}

describe('a delivery to a destination that is off', () => {
  test('is retained, and so are those that were pending when the destination was switched off and the failed one', async () => {
    outbox.receiver.answerNext(500, 410)
    await outbox.enqueue({ to: target, title: 'failing' })
    await outbox.deliver()
    await outbox.enqueue({ to: target, firedAfterSeconds: 1, title: 'refused' })
    await outbox.deliver()
    await outbox.enqueue(
      { to: target, firedAfterSeconds: 2, title: 'too late' },
      { to: target, firedAfterSeconds: 3, title: 'while off', status: 'disabled' },
    )
    await outbox.deliver()
    expect((await outbox.rows()).map(({ status }) => status)).toEqual([
      'disabled',
      'failed',
      'disabled',
      'disabled',
    ])
    expect(await keptTitles()).toEqual(['while off', 'too late', 'refused', 'failing'])
    expect(await listRetained(outbox.deps, STRANGER, target.id)).toEqual([])
  })

  test('is listed also when the content of another cannot be read', async () => {
    const ids = await outbox.enqueue(...missed(3))
    await outbox.db.execute(sql`update delivery_log set envelope = '{}' where id = ${ids[1]}`)
    expect(await keptTitles()).toEqual(['Missed 2', 'Missed 0'])
    expect(outbox.deps.quarantine.read()).toEqual([{ kind: 'delivery', rows: 1 }])
  })

  test('is sent once on request when the destination is on again', async () => {
    await outbox.enqueue(...missed(4))
    await switchTo('disabled')
    expect(await refusal(sendRetained(outbox.deps, CALLER, target.id))).toBe('recipient_not_active')
    expect(await refusal(sendRetained(outbox.deps, STRANGER, target.id))).toBe('not_found')
    await switchTo('active')
    expect(await sendRetained(outbox.deps, CALLER, target.id)).toBe(4)
    expect(await sendRetained(outbox.deps, CALLER, target.id)).toBe(0)
    await outbox.deliver()
    expect(arrivedTitles().toSorted()).toEqual(['Missed 0', 'Missed 1', 'Missed 2', 'Missed 3'])
    expect(await keptTitles()).toEqual([])
  })

  test('is retained for a week; at most the newest hundred are', async () => {
    await outbox.enqueue(...missed(105))
    expect(await keptTitles()).toHaveLength(100)
    expect((await keptTitles())[0]).toBe('Missed 104')
    expect(await sendRetained(outbox.deps, CALLER, target.id)).toBe(100)
    expect(await keptTitles()).toEqual([])
    await outbox.enqueue(...missed(1))
    outbox.clock.advance(7 * 86_400 + 1)
    expect(await keptTitles()).toEqual([])
  })

  test('can be discarded', async () => {
    await outbox.enqueue(...missed(3))
    expect(await dropRetained(outbox.db, STRANGER, target.id)).toBe(0)
    expect(await dropRetained(outbox.db, CALLER, target.id)).toBe(3)
    expect(await keptTitles()).toEqual([])
    expect((await outbox.rows()).map(({ status }) => status)).toEqual(Array(3).fill('disabled'))
  })
})

test('a message that a chat refuses harms that message alone', async () => {
  const chat = await openChat(outbox)
  chat.refuse(new DeliveryError('rejected', { statusCode: 400 }))
  await chat.notify({ alert: 1, watch: 1 }, { alert: 2, watch: 2 })
  await chat.deliver()
  expect(chat.shown()).toEqual([[2]])
  const rows = await outbox.db.execute<{ status: string }>(sql`
    select status from recipients where id = ${chat.id}`)
  expect(rows).toMatchObject([{ status: 'active' }])
  expect(await listRetained(chat.deps, CALLER, chat.id)).toEqual([])
})

describe('a chat that blocks the bot', () => {
  let chat: Chat
  const stopped: StoppedDestination[] = []
  const notices = {
    switchedOff: async (_tx: Db, all: readonly StoppedDestination[]) => {
      stopped.push(...all)
    },
    topicGone: async () => undefined,
  }

  beforeEach(async () => {
    chat = await openChat(outbox)
    stopped.length = 0
  })

  test('is reported once, and its alerts are retained, but not its notices', async () => {
    const send = () => drain({ ...chat.deps, notices })
    chat.refuse(BLOCKED)
    await chat.notify({ alert: 1, watch: 1 }, { alert: 2, watch: 2 }, { alert: 3, watch: 3 })
    await send()
    await chat.notify({ alert: 4, watch: 4 }, { alert: 5, kind: 'notice' })
    await send()
    expect(stopped.map(({ id, status }) => ({ id, status }))).toEqual([
      { id: chat.id, status: 'blocked' },
    ])
    expect(chat.messages).toEqual([])
    const kept = await listRetained(chat.deps, CALLER, chat.id)
    expect(kept.map(({ alertId }) => alertId)).toEqual([4, 3, 2, 1])
  })

  test('gets its retained alerts on request, in the order in which they fired', async () => {
    const severities = ['info', 'critical', 'warning'] as const
    await chat.notify(
      ...severities.map((severity, index) => ({
        alert: index + 1,
        watch: index + 1,
        severity,
        status: 'disabled' as const,
      })),
    )
    expect(await sendRetained(chat.deps, CALLER, chat.id)).toBe(3)
    await chat.notify({ alert: 9, watch: 9, severity: 'warning' })
    await chat.deliver()
    expect(chat.shown()).toEqual([[9], [1], [2], [3]])
  })

  test('gets its retained alerts in the order of their ids, even if the last reports an earlier event', async () => {
    const disabled = { status: 'disabled' } as const
    await chat.notify({ alert: 19, watch: 1, ...disabled }, { alert: 20, watch: 2, ...disabled })
    await chat.notify({ alert: 21, watch: 3, firedInMs: -60_000, ...disabled })
    expect(await sendRetained(chat.deps, CALLER, chat.id)).toBe(3)
    await chat.deliver()
    expect(chat.shown()).toEqual([[19], [20], [21]])
  })
})

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => 'nothing was refused',
    (reason: unknown) => reason,
  )
  return error instanceof AppError ? error.code : String(error)
}
