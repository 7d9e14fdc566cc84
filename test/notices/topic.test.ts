import { Api } from 'grammy'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { createChannels } from '#src/channels/index.ts'
import { transact } from '#src/db/connection.ts'
import { enqueue, newDeliveryId } from '#src/delivery/service.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Address } from '#src/kernel/units.ts'
import { linkChat } from '#src/recipients/chats.ts'
import { CALLER, type Outbox, openOutbox } from '../delivery/outbox.ts'
import { stranger } from '../recipients/room.ts'
import { drain } from '../support/drain.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { ownPace } from '../support/pace.ts'

/** A chat is notified once, in its language, that the topic of its alerts was closed or deleted. */

const TOKEN = '4711:AAtest-token-of-the-local-bot-api-0000'

let outbox: Outbox
let telegram: TelegramApi
let deps: Outbox['deps']
let forum: number
let threadId: number

beforeAll(async () => {
  outbox = await openOutbox()
  telegram = await startTelegramApi({ token: TOKEN, username: 'watchdog_test_bot' })
  const channels = createChannels({
    telegram: {
      api: new Api(TOKEN, { apiRoot: telegram.url }),
      pace: ownPace({ chatMs: 0 }),
    },
    mailer: undefined,
    from: '',
    publicUrl: outbox.publicUrl,
    allowPrivateUrls: true,
  })
  deps = { ...outbox.deps, channels }
})
beforeEach(async () => {
  await outbox.reset()
  await outbox.database.sql`truncate notices`
  const { id } = telegram.person({ firstName: 'Ann', languageCode: 'en' })
  const group = telegram.group({ title: 'Ops', members: [id], admins: [id], isForum: true })
  forum = group.id
  threadId = telegram.topic(forum, 'Watchdog')
})
afterAll(async () => {
  await telegram.close()
  await outbox.close()
})

/**
 * Links the forum's topic to a wallet.
 *
 * @returns the recipient's id
 */
async function link(wallet: Address, locale: Locale = 'en'): Promise<number> {
  const { recipient } = await transact(deps.db, (tx) =>
    linkChat(
      { ...deps, db: tx },
      {
        wallet,
        scopes: ['read', 'write'],
        name: null,
        chat: { id: forum, title: 'Ops', threadId },
        by: { id: 1 },
        locale,
        at: outbox.clock.now(),
      },
    ),
  )
  return recipient.id
}

/** Enqueues an alert for a recipient, and runs the worker once. */
async function sendAlert(wallet: Address, recipientId: number, title: string): Promise<void> {
  outbox.clock.advance(60)
  const now = outbox.clock.now()
  const id = newDeliveryId(now)
  const envelope = envelopeOf({ deliveryId: id, message: { title, firedAt: now.toISOString() } })
  await transact(deps.db, (tx) =>
    enqueue(tx, [
      {
        id,
        wallet,
        alertId: null,
        recipientId,
        channel: 'telegram',
        partitionKey: `${forum}`,
        orderKey: `${recipientId} ${id}`,
        firedAt: now,
        position: 0,
        envelope,
        createdAt: now,
        status: 'pending',
      },
    ]),
  )
  await drain(deps)
}

/** The bot's messages in the forum. */
const botMessages = () => telegram.messages(forum).filter(({ from }) => from === telegram.bot.id)
const firstLines = () => botMessages().map(({ text }) => text.split('\n')[0])

test('a chat whose topic was deleted is notified where its alerts go now, with a button to choose a topic', async () => {
  const id = await link(CALLER.wallet)
  await sendAlert(CALLER.wallet, id, 'First')
  expect(botMessages()[0]?.threadId).toBe(threadId)
  telegram.deleteTopic(forum, threadId)
  await sendAlert(CALLER.wallet, id, 'Second')
  await sendAlert(CALLER.wallet, id, 'Third')
  expect(firstLines()).toEqual([
    expect.stringContaining('Second'),
    '📪 Alerts now go to the General topic',
    expect.stringContaining('Third'),
  ])
  const [second, notice] = botMessages()
  expect([second?.threadId, notice?.threadId]).toEqual([undefined, undefined])
  expect(notice?.text).toContain('The topic for alerts was closed or deleted.')
  expect(notice?.keyboard).toEqual([
    [{ text: 'Choose a topic', callback_data: '1:group.topic:ask' }],
  ])
})

test('a chat of two wallets is notified once that its topic was closed, in its language', async () => {
  const other = stranger().wallet
  const [own, others] = [await link(CALLER.wallet, 'de'), await link(other, 'de')]
  telegram.closeTopic(forum, threadId)
  await sendAlert(CALLER.wallet, own, 'First')
  await sendAlert(other, others, 'Second')
  const notices = firstLines().filter((line) => line?.startsWith('📪'))
  expect(notices).toEqual(['📪 Alarme gehen jetzt in das Thema „Allgemein“'])
})

test('a chat gets one notice from two concurrent workers', async () => {
  const id = await link(CALLER.wallet)
  telegram.deleteTopic(forum, threadId)
  await Promise.all([sendAlert(CALLER.wallet, id, 'First'), sendAlert(CALLER.wallet, id, 'Second')])
  await sendAlert(CALLER.wallet, id, 'Third')
  expect(firstLines().filter((line) => line?.startsWith('📪'))).toHaveLength(1)
})
