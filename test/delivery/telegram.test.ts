import { Api } from 'grammy'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { createChannels } from '#src/channels/index.ts'
import { transact } from '#src/db/connection.ts'
import { deliverDue, reviseMessages } from '#src/delivery/service.ts'
import { type ChatDraft, openChat } from './chat.ts'
import { type Outbox, openOutbox } from './outbox.ts'

/** The outbox and the real chat channel, up to the Bot API. */

const TOKEN = '4711:AAtest-token-of-the-local-bot-api-0000'

let outbox: Outbox
let telegram: TelegramApi

beforeAll(async () => {
  outbox = await openOutbox()
  telegram = await startTelegramApi({ token: TOKEN, username: 'watchdog_test_bot' })
})
afterAll(async () => {
  await telegram.close()
  await outbox.close()
})

test('a group is one message that grows, turns green line by line, and is answered once', async () => {
  const person = telegram.person({ firstName: 'Ann', languageCode: 'en', started: true })
  const chat = await openChat(outbox, { chatId: person.id })
  const channels = createChannels({
    telegram: new Api(TOKEN, { apiRoot: telegram.url }),
    mailer: undefined,
    from: '',
    publicUrl: outbox.publicUrl,
    allowPrivateUrls: true,
  })
  const deliver = () => deliverDue({ ...outbox.deps, channels }, new AbortController().signal)
  const notify = async (...drafts: readonly ChatDraft[]) => {
    await chat.notify(...drafts)
    await deliver()
  }
  const messages = () => telegram.messages(person.id).filter(({ from }) => from === telegram.bot.id)

  await notify({ alert: 1, signal: 'a' }, { alert: 2, signal: 'b', severity: 'critical' })
  expect(messages()).toHaveLength(1)
  expect(messages()[0]?.text).toContain('2 alerts')
  outbox.clock.advance(1)
  await notify({ alert: 3, signal: 'c' })
  expect(messages()).toHaveLength(1)
  expect(messages()[0]?.text).toMatch(/3 alerts[\s\S]*🟠 Alert 1[\s\S]*🔴 Alert 2[\s\S]*🟠 Alert 3/)

  const recover = async (alert: number, signal: string) => {
    outbox.clock.advance(60)
    outbox.states.set(alert, { recoveredAt: outbox.clock.now() })
    await transact(outbox.db, (tx) => reviseMessages(tx, [alert]))
    await notify({ alert: alert + 10, signal, recoveryOf: alert })
  }
  await recover(2, 'b')
  expect(messages()).toHaveLength(1)
  expect(messages()[0]?.text).toMatch(/🟠 Alert 1[\s\S]*🟢 Alert 2[\s\S]*🟠 Alert 3/)
  await recover(1, 'a')
  await recover(3, 'c')
  expect(messages()).toHaveLength(2)
  expect(messages()[0]?.text).toMatch(/🟢 Alert 1[\s\S]*🟢 Alert 2[\s\S]*🟢 Alert 3/)
  expect(messages()[1]?.text).toMatch(/🟢[\s\S]*Alert 12[\s\S]*Alert 11[\s\S]*Alert 13/)
  expect(messages()[1]).toMatchObject({ silent: true, replyTo: messages()[0]?.id })
}, 60_000)
