import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DeliveryError } from '#src/channels/define.ts'
import { transact } from '#src/db/connection.ts'
import { alertsOfMessage, reviseMessages } from '#src/delivery/service.ts'
import { drain } from '../support/drain.ts'
import { type Chat, DOWN, openChat } from './chat.ts'
import { type Outbox, openOutbox } from './outbox.ts'

let outbox: Outbox
let chat: Chat

beforeAll(async () => {
  outbox = await openOutbox()
})

beforeEach(async () => {
  await outbox.reset()
  chat = await openChat(outbox)
})

afterAll(() => outbox.close())

const statuses = async () => (await outbox.rows()).map(({ status }) => status)

function recovered(...alerts: readonly number[]): void {
  for (const alert of alerts) outbox.states.set(alert, { recoveredAt: outbox.clock.now() })
}

function revise(...alerts: readonly number[]): Promise<void> {
  return transact(outbox.db, (tx) => reviseMessages(tx, alerts))
}

describe('alerts of one watch within five seconds', () => {
  test('that wait together are sent in one message', async () => {
    await chat.notify({ alert: 1 }, { alert: 2, severity: 'critical' }, { alert: 3, watch: 7 })
    await chat.deliver()
    expect(chat.shown()).toEqual([[1, 2], [3]])
    expect(chat.messages[0]?.envelope).toMatchObject({
      kind: 'group',
      message: { alertId: 2, severity: 'critical' },
    })
    expect(await statuses()).toEqual(['delivered', 'delivered', 'delivered'])
  })

  test('join the sent message one after another', async () => {
    for (const alert of [1, 2, 3]) {
      await chat.notify({ alert })
      await chat.deliver()
      outbox.clock.advance(2)
    }
    expect(chat.shown()).toEqual([[1, 2, 3]])
    outbox.clock.advance(2)
    await chat.notify({ alert: 4 })
    await chat.deliver()
    expect(chat.shown()).toEqual([[1, 2, 3], [4]])
  })

  test('are heard each: one with sound of a signal that the sent message has is a message of its own', async () => {
    const of = (alert: number, severity: 'info' | 'warning') => ({
      alert,
      severity,
      signal: 'moved',
    })
    for (const draft of [of(1, 'warning'), of(2, 'warning'), of(3, 'info'), { alert: 4 }]) {
      await chat.notify(draft)
      await chat.deliver()
      outbox.clock.advance(1)
    }
    expect(chat.shown()).toEqual([[1], [2, 3, 4]])
    // What waits together is heard together.
    await chat.notify(of(5, 'warning'), of(6, 'warning'))
    await chat.deliver()
    expect(chat.shown()).toEqual([[1], [2, 3, 4], [5, 6]])
    expect(await statuses()).not.toContain('retrying')
  })

  test.each([
    true,
    false,
  ])('are never in one message with a test (can edit: %s)', async (canEdit) => {
    const own = await openChat(outbox, { canEdit, chatId: 4712 })
    await own.notify({ alert: 1, test: true })
    await own.deliver()
    for (const draft of [{ alert: 2 }, { alert: 3, test: true }]) {
      outbox.clock.advance(1)
      await own.notify(draft)
      await own.deliver()
    }
    expect(own.shown()).toEqual([[1], [2], [3]])
  })

  test('of one signal are in order in the message', async () => {
    await chat.notify(...[1, 2, 3].map((alert) => ({ alert, signal: 'balance' })))
    await chat.deliver()
    expect(chat.shown()).toEqual([[1, 2, 3]])
    expect(await statuses()).toEqual(['delivered', 'delivered', 'delivered'])
  })

  test('that fail together are retried together', async () => {
    chat.refuse(DOWN)
    await chat.notify({ alert: 1 }, { alert: 2 })
    await chat.deliver()
    expect(await statuses()).toEqual(['retrying', 'retrying'])
    outbox.clock.advance(6)
    await chat.deliver()
    expect(chat.shown()).toEqual([[1, 2]])
  })

  test('are sent as a new message if the message they would join was deleted or cannot be edited', async () => {
    await chat.notify({ alert: 1 })
    await chat.deliver()
    chat.clear()
    await chat.notify({ alert: 2 })
    await chat.deliver()
    expect(chat.shown()).toEqual([[1], [2]])
    chat.refuse(new DeliveryError('refused', { permanent: true }))
    await chat.notify({ alert: 3 })
    await chat.deliver()
    expect(chat.shown()).toEqual([[1], [2], [3]])
    expect(await statuses()).toEqual(['delivered', 'delivered', 'delivered'])
  })

  test('are not lost if editing the message fails for a while', async () => {
    await chat.notify({ alert: 1 })
    await chat.deliver()
    chat.refuse(DOWN)
    await chat.notify({ alert: 2 })
    await chat.deliver()
    expect(await statuses()).toEqual(['delivered', 'retrying'])
    outbox.clock.advance(6)
    await chat.deliver()
    expect(chat.shown()).toEqual([[1, 2]])
    outbox.clock.advance(60)
    await chat.deliver()
    expect(await statuses()).toEqual(['delivered', 'delivered'])
  })

  test('are sent although one of them cannot be read', async () => {
    const [broken] = await chat.notify({ alert: 1 }, { alert: 2 }, { alert: 3 })
    await outbox.db.execute(sql`update delivery_queue set envelope = '{}' where id = ${broken}`)
    await chat.deliver()
    expect(chat.shown()).toEqual([[2, 3]])
    expect(await statuses()).toEqual(['failed', 'delivered', 'delivered'])
  })

  test('wait for the five seconds on channels that cannot edit messages', async () => {
    const mailbox = await openChat(outbox, { canEdit: false })
    await mailbox.notify({ alert: 1 })
    await mailbox.deliver()
    outbox.clock.advance(1)
    await mailbox.notify({ alert: 2 }, { alert: 3 })
    await mailbox.deliver()
    expect(mailbox.shown()).toEqual([[1]])
    outbox.clock.advance(4)
    await mailbox.deliver()
    expect(mailbox.shown()).toEqual([[1], [2, 3]])
  })

  test('are sent separately on channels that programs read', async () => {
    const target = await outbox.addRecipient()
    await outbox.enqueue(...[1, 2, 3].map((alertId) => ({ to: target, alertId })))
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(3)
  })
})

describe('more than six messages a minute', () => {
  const storm = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({ alert: from + index, watch: from + index }))

  test('become one roll-up that is edited until there are fewer alerts', async () => {
    await chat.notify(...storm(1, 9))
    await chat.deliver()
    expect(chat.shown()).toEqual([[1], [2], [3], [4], [5], [6], [7, 8, 9]])
    expect(chat.messages[6]?.envelope.kind).toBe('rollup')
    await chat.notify(...storm(10, 2))
    await chat.deliver()
    expect(chat.shown()[6]).toEqual([7, 8, 9, 10, 11])
    outbox.clock.advance(61)
    await chat.notify(...storm(12, 2))
    await chat.deliver()
    expect(chat.shown().slice(7)).toEqual([[12], [13]])
    expect(new Set(await statuses())).toEqual(new Set(['delivered']))
  })

  test('are counted across workers, and critical alerts among them are sent in time', async () => {
    await chat.notify(...storm(1, 6))
    await chat.deliver()
    await chat.notify({ alert: 20, watch: 20, severity: 'info' })
    await drain(chat.deps)
    await chat.notify({ alert: 21, watch: 21, severity: 'critical' })
    await drain(chat.deps)
    expect(chat.shown().slice(6)).toEqual([[20], [21]])
    expect(chat.messages[7]?.envelope).toMatchObject({
      kind: 'rollup',
      message: { severity: 'critical' },
    })
  })

  test('are sent after critical alerts of other signals', async () => {
    await chat.notify(
      { alert: 1, watch: 1, severity: 'info' },
      { alert: 2, watch: 2 },
      { alert: 3, watch: 3, severity: 'critical' },
    )
    await chat.deliver()
    expect(chat.shown()).toEqual([[3], [2], [1]])
  })
})

describe('a recovery', () => {
  test('is a reply to the message of its alert', async () => {
    await chat.notify({ alert: 1, signal: 'commit' })
    await chat.deliver()
    outbox.clock.advance(600)
    await chat.notify({ alert: 2, signal: 'commit', recoveryOf: 1 })
    await chat.deliver()
    expect(chat.messages[1]).toMatchObject({ id: '2', answers: '1' })
    const row = await outbox.db.execute(sql`select message_id from deliveries order by fired_at`)
    expect(row).toMatchObject([{ message_id: '1' }, { message_id: '2' }])
  })

  test('changes the line of its alert in a group; the last recovery is one reply for all', async () => {
    await chat.notify({ alert: 1, signal: 'a' }, { alert: 2, signal: 'b' })
    await chat.deliver()
    outbox.clock.advance(60)
    recovered(1)
    await chat.notify({ alert: 3, signal: 'a', recoveryOf: 1 })
    await revise(1)
    await chat.deliver()
    expect(chat.shown()).toEqual([[1, 2]])
    expect(chat.messages[0]?.state.items?.get(1)).toMatchObject({ recoveredAt: expect.any(Date) })
    expect(chat.messages[0]?.state.recoveredAt).toBeUndefined()
    outbox.clock.advance(60)
    recovered(2)
    await chat.notify({ alert: 4, signal: 'b', recoveryOf: 2 })
    await revise(2)
    await chat.deliver()
    expect(chat.shown()).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(chat.messages[1]).toMatchObject({ answers: '1', envelope: { kind: 'group' } })
    expect(chat.messages[0]?.state.recoveredAt).toEqual(outbox.clock.now())
    expect(new Set(await statuses())).toEqual(new Set(['delivered']))
  })
})

describe('a message that was sent', () => {
  test('is edited once in every chat when its alert is acknowledged', async () => {
    await chat.notify({ alert: 1 })
    await chat.deliver()
    const acknowledged = { at: outbox.clock.now(), by: 'Ann' }
    outbox.states.set(1, { acknowledged })
    await revise(1)
    await chat.deliver()
    await chat.deliver()
    expect(chat.messages).toMatchObject([{ state: { acknowledged }, edits: 1 }])
    expect(await alertsOfMessage(outbox.db, [chat.id], '1')).toEqual([1])
  })

  test('is edited again until that succeeds, and then shows the latest state', async () => {
    await chat.notify({ alert: 1 })
    await chat.deliver()
    outbox.states.set(1, { acknowledged: { at: outbox.clock.now(), by: 'Ann' } })
    await revise(1)
    chat.refuse(DOWN)
    await chat.deliver()
    expect(chat.messages[0]?.edits).toBe(0)
    outbox.states.set(1, { muted: { until: 'recovered' } })
    await revise(1)
    outbox.clock.advance(6)
    await chat.deliver()
    expect(chat.messages).toMatchObject([{ edits: 1, state: { muted: { until: 'recovered' } } }])
    expect(chat.messages[0]?.state.acknowledged).toBeUndefined()
  })

  test('is edited if its alert changed while it was being sent', async () => {
    const gate = Promise.withResolvers<void>()
    chat.hold(gate.promise)
    await chat.notify({ alert: 1 })
    const sending = chat.deliver()
    while (chat.calls() === 0) await wait(2)
    recovered(1)
    await revise(1)
    gate.resolve()
    await sending
    await chat.deliver()
    expect(chat.messages).toMatchObject([{ edits: 1, state: { recoveredAt: expect.any(Date) } }])
  })

  test('is edited by another worker when one dies during the edit', async () => {
    await chat.notify({ alert: 1 })
    await chat.deliver()
    outbox.states.set(1, { acknowledged: { at: outbox.clock.now(), by: 'Ann' } })
    await revise(1)
    const leasedUntil = new Date(outbox.clock.now().getTime() + 60_000)
    await outbox.db.execute(sql`update sent_messages set leased_until = ${leasedUntil}`)
    await chat.deliver()
    expect(chat.messages[0]?.edits).toBe(0)
    outbox.clock.advance(61)
    await chat.deliver()
    expect(chat.messages).toMatchObject([{ edits: 1, state: { acknowledged: { by: 'Ann' } } }])
  })

  test('is not edited again after it was deleted', async () => {
    await chat.notify({ alert: 1 })
    await chat.deliver()
    chat.clear()
    await revise(1)
    await chat.deliver()
    const calls = chat.calls()
    await revise(1)
    await chat.deliver()
    expect(chat.calls()).toBe(calls)
    expect(chat.messages).toHaveLength(1)
  })
})

test('many concurrent workers deliver everything once and in order', async () => {
  const alerts = Array.from({ length: 60 }, (_, index) => ({
    alert: index + 1,
    watch: index % 4,
    signal: `signal ${index % 8}`,
  }))
  await chat.notify(...alerts)
  await Promise.all(Array.from({ length: 4 }, () => chat.deliver()))
  await chat.deliver()
  const shown = chat.shown().flat()
  expect(shown.toSorted((a, b) => Number(a) - Number(b))).toEqual(alerts.map(({ alert }) => alert))
  for (let signal = 0; signal < 8; signal += 1) {
    const own = shown.filter((alert) => (Number(alert) - 1) % 8 === signal).map(Number)
    expect(own).toEqual(own.toSorted((a, b) => a - b))
  }
  expect(new Set(await statuses())).toEqual(new Set(['delivered']))
})
