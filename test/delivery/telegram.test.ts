import { sql } from 'drizzle-orm'
import { Api } from 'grammy'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { createChannels } from '#src/channels/index.ts'
import { transact } from '#src/db/connection.ts'
import { reviseMessages } from '#src/delivery/service.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { drain } from '../support/drain.ts'
import { ownPace } from '../support/pace.ts'
import { type ChatDraft, openChat } from './chat.ts'
import { type Outbox, openOutbox } from './outbox.ts'

/** The outbox and the real chat channel, up to the Bot API. */

const WALLET = '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'
const OTHER_WALLET = '0x52c1aD9b1E2f3a4B5c6D7e8F90a1B2c3D4e507AE'
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

function deliver(): Promise<void> {
  const channels = createChannels({
    telegram: { api: new Api(TOKEN, { apiRoot: telegram.url }), pace: ownPace() },
    mailer: undefined,
    from: '',
    publicUrl: outbox.publicUrl,
    allowPrivateUrls: true,
  })
  return drain({ ...outbox.deps, channels })
}

test('several alerts of a watch share one message; each line shows its own recovery, and when all are over a reply says so', async () => {
  const person = telegram.person({ firstName: 'Ann', languageCode: 'en', started: true })
  const chat = await openChat(outbox, { chatId: person.id })
  const notify = async (...drafts: readonly ChatDraft[]) => {
    await chat.notify(...drafts)
    await deliver()
  }
  const messages = () => telegram.messages(person.id).filter(({ from }) => from === telegram.bot.id)

  await notify({ alert: 1, signal: 'a' }, { alert: 2, signal: 'b', severity: 'critical' })
  expect(messages()).toHaveLength(1)
  expect(messages()[0]?.text).toContain(' · 1 more alert\n')
  outbox.clock.advance(1)
  await notify({ alert: 3, signal: 'c' })
  expect(messages()).toHaveLength(1)
  expect(messages()[0]?.text).toMatch(
    / · 2 more alerts\n[\s\S]*🟠 Alert 1[\s\S]*🔴 Alert 2[\s\S]*🟠 Alert 3/,
  )

  const recover = async (alert: number, signal: string) => {
    outbox.clock.advance(60)
    outbox.states.set(alert, { recoveredAt: outbox.clock.now() })
    await transact(outbox.db, (tx) => reviseMessages(tx, [alert]))
    await notify({ alert: alert + 10, signal, recoveryOf: alert })
  }
  await recover(2, 'b')
  expect(messages()).toHaveLength(1)
  expect(messages()[0]?.text).toMatch(/🟠 Alert 1[\s\S]*🟢 Alert 2 · recovered[\s\S]*🟠 Alert 3/)
  await recover(1, 'a')
  await recover(3, 'c')
  expect(messages()).toHaveLength(2)
  expect(messages()[0]?.text).toMatch(
    /🟢 Alert 1 · recovered[\s\S]*🟢 Alert 2 · recovered[\s\S]*🟢 Alert 3 · recovered/,
  )
  // The list is in the message that it replies to.
  expect(messages()[1]?.text.split('\n')).toEqual([
    expect.stringMatching(/^🟢 .*Treasury.* is healthy again/),
    expect.stringMatching(/^Recovered · /),
  ])
  expect(messages()[1]).toMatchObject({ silent: true, replyTo: messages()[0]?.id })
}, 60_000)

test('a Telegram group that became a supergroup is moved for all its wallets by the first message to it', async () => {
  const { id } = telegram.person({ firstName: 'Bob', languageCode: 'en' })
  const group = telegram.group({ title: 'Node crew', members: [id], admins: [id] })
  const [first, second] = await Promise.all(
    [WALLET, OTHER_WALLET].map(async (wallet) => {
      const chat = await openChat(outbox, { chatId: group.id })
      await outbox.db.execute(
        sql`update recipients set wallet = ${wallet}, chat_id = ${group.id} where id = ${chat.id}`,
      )
      return chat
    }),
  )
  if (first === undefined || second === undefined) throw new Error('two wallets share the group')
  const knownIds = async (recipientId: number) => {
    const rows = await outbox.db.execute<{ id: string }>(sql`
      select message_id as id from sent_messages
      where recipient_id = ${recipientId} and message_id is not null`)
    return rows.map((row) => Number(row.id))
  }
  const linkedTo = async (chatId: number) =>
    (await listChatLinks(outbox.deps, chatId)).map(({ recipientId }) => recipientId).sort()
  await first.notify({ alert: 31 })
  await second.notify({ alert: 32 })
  await deliver()
  expect(await knownIds(first.id)).toHaveLength(1)
  expect(await knownIds(second.id)).toHaveLength(1)

  const moved = telegram.migrate(group.id)
  outbox.clock.advance(3600)
  await first.notify({ alert: 33, watch: 43 })
  await deliver()
  expect(await linkedTo(group.id)).toEqual([])
  expect(await linkedTo(moved.id)).toEqual([first.id, second.id].sort())
  expect(await knownIds(first.id)).toEqual([telegram.lastMessage(moved.id)?.id])
  expect(await knownIds(second.id)).toEqual([])
}, 60_000)
