import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CALLER, type Outbox, openOutbox } from '../delivery/outbox.ts'
import { chatOf, notices } from './notified.ts'

let outbox: Outbox
const owner = { caller: CALLER }
const notified = () => ({ app: outbox.deps, sql: outbox.database.sql })

beforeAll(async () => {
  outbox = await openOutbox()
})
beforeEach(async () => {
  await outbox.reset()
  await outbox.database.sql`truncate notices`
})
afterAll(() => outbox.close())

test('a webhook that responds with 410 has one notice, with the number of retained alerts', async () => {
  const chat = await chatOf(notified(), owner)
  const hook = await outbox.addRecipient()
  await outbox.database.sql`truncate delivery_queue, delivery_log, notices`
  outbox.receiver.answerAlways({ status: 410 })
  for (const key of ['a', 'b', 'c']) await outbox.enqueue({ to: hook, key: `${hook.id} ${key}` })
  await outbox.deliver()
  await outbox.deliver()
  const all = await notices(notified())
  expect(all).toMatchObject([{ recipientId: chat, kind: 'destination-off' }])
  expect(all[0]?.body).toContain('The endpoint reported that it is gone (HTTP 410).')
  expect(all[0]?.body).toContain('alerts are kept until delivery is switched on again.')
})
