import { afterAll, beforeAll, expect, test } from 'vitest'
import { isButtonHandled } from '#bot/core/verb-rights.ts'
import { startChatHooks } from '#sandbox/chat-hooks.ts'
import { startMailServer } from '#sandbox/inbox.ts'
import { startReceiver } from '#sandbox/receiver.ts'
import { packed, unpacked } from '#src/actions/codec.ts'
import { migrate } from '#src/db/migrate.ts'
import { updateRecipient } from '#src/operations/recipients.ts'
import { createApi } from '#src/telegram/api.ts'
import pressed from '../fixtures/recorded/buttons.json' with { type: 'json' }
import recorded from '../fixtures/recorded/database.json' with { type: 'json' }
import { type BotWorld, botWorld } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { testClock } from '../support/clock.ts'
import { BOT_TOKEN } from '../support/harness.ts'
import { FIRST_RELEASE, MIGRATIONS, startFrom } from '../support/releases.ts'
import { someOfEachKind } from '../support/runs.ts'

/**
 * Rows of an earlier release in the outbox, and its buttons in a chat, after the upgrade to this one. They were
 * recorded, see `test/fixtures/recorded`.
 */

const { chatId, messages, tables } = recorded
const DAYS = 24 * 3600

/** Buttons that are pressed: whole all of them, else a random one of each verb. */
function chosen<T extends { readonly data: string }>(buttons: readonly T[]): readonly T[] {
  return someOfEachKind(buttons, ({ data }) => unpacked(data)?.verb)
}

let world: BotWorld
let stop: () => Promise<void>
let arrivals: () => Readonly<Record<string, number>>

beforeAll(async () => {
  const [inbox, receiver, hooks] = await Promise.all([
    startMailServer(),
    startReceiver(),
    startChatHooks(),
  ])
  const over = { SMTP_URL: inbox.url, EMAIL_FROM: 'Watchdog <watchdog@example.org>' }
  world = await botWorld(over, { clock: testClock(new Date(recorded.at)) })
  stop = async () => {
    await world.close()
    await Promise.all([inbox.close(), receiver.close(), hooks.close()])
  }
  const { sql } = world.database
  await startFrom(sql, FIRST_RELEASE)
  // What others refer to comes first.
  const { accounts, recipients, targets, watches, ...others } = tables
  const ordered = { accounts, recipients, targets, watches, ...others }
  for (const [table, rows] of Object.entries(ordered)) {
    await sql.unsafe(
      `insert into "${table}" overriding system value
        select * from jsonb_populate_recordset(null::"${table}", $1::text::jsonb)`,
      [JSON.stringify(rows)],
    )
  }
  for (const table of ['alerts', 'recipients', 'subscriptions', 'targets', 'watches']) {
    await sql`
      select setval(pg_get_serial_sequence(${table}, 'id'), (select max(id) from ${sql(table)}))`
  }
  await migrate(sql, MIGRATIONS)
  await fillChat()
  const urls = {
    webhook: receiver.url(),
    discord: hooks.discordUrl(),
    slack: hooks.slackUrl(),
  }
  for (const { id, channel } of tables.recipients) {
    const url = (urls as Readonly<Record<string, string>>)[channel]
    if (url === undefined) continue
    await world.as('alice', updateRecipient, { params: { id: String(id) }, body: { url } })
  }
  const fromHooks = (service: string) =>
    hooks.messages.filter((message) => message.service === service).length
  arrivals = () => ({
    email: inbox.mails.length,
    webhook: receiver.deliveries.length,
    discord: fromHooks('discord'),
    slack: fromHooks('slack'),
  })
})
afterAll(() => stop())

/** Puts the recorded messages with their keyboards into the chat, under the same ids. */
async function fillChat(): Promise<void> {
  world.telegram.person({ firstName: 'Ann', languageCode: 'en', id: chatId, started: true })
  const api = createApi({ token: BOT_TOKEN, apiRoot: world.telegram.url }, 10)
  const ids = messages.map(({ id }) => id)
  for (let id = Math.min(...ids); id <= Math.max(...ids); id += 1) {
    const { text = '–', keyboard = [] } = messages.find((message) => message.id === id) ?? {}
    const rows = keyboard as { text: string; callback_data: string }[][]
    const sent = await api.sendMessage(chatId, text, {
      ...(rows.length > 0 && { reply_markup: { inline_keyboard: rows } }),
    })
    expect(sent.message_id).toBe(id)
  }
}

async function press(data: string, messageId: number): Promise<string> {
  world.clock.advance(5)
  const press = world.telegram.pressRaw(chatId, messageId, data)
  await world.settle()
  return (await press.answer()).text
}

const waiting = async () =>
  await world.database.sql<{ id: string }[]>`
    select id from deliveries where status in ('pending', 'retrying')`

test('recorded rows of the outbox are delivered through every channel', async () => {
  expect(await waiting()).not.toEqual([])
  const { deliver } = alertsIn(world)
  for (let minute = 0; minute < 5; minute += 1) {
    await deliver()
    world.clock.advance(60)
  }
  expect(await waiting()).toEqual([])
  const { sql } = world.database
  const ids = tables.deliveries.flatMap(({ id, status }) => (status === 'pending' ? [id] : []))
  const rows = await sql<{ channel: string; status: string }[]>`
    select distinct channel, status from deliveries where id in ${sql(ids)} order by channel`
  expect(rows.map(({ channel, status }) => `${channel} ${status}`)).toEqual(
    ['discord', 'email', 'slack', 'telegram', 'webhook'].map((channel) => `${channel} delivered`),
  )
  for (const count of Object.values(arrivals())) expect(count).toBeGreaterThan(0)
  expect(world.telegram.messages(chatId).length).toBeGreaterThan(messages.length)
})

test('buttons of messages that are 29 days old are handled', async () => {
  world.clock.advance(29 * DAYS)
  const { sql } = world.database
  const old = messages.flatMap(({ id, keyboard }) =>
    (keyboard as { callback_data?: string }[][])
      .flat()
      .flatMap(({ callback_data: data }) => (data === undefined ? [] : [{ id, data }])),
  )
  const stillOpen = await sql<{ id: number }[]>`
    select id from alerts where recovered_at is null and acknowledged_at is null`
  const acknowledging = old.find(({ data }) => {
    const press = unpacked(data)
    return press?.verb === 'alert.ack' && stillOpen.some(({ id }) => id === press.args['id'])
  })
  if (acknowledging === undefined) throw new Error('no recorded message has an open alert')
  const { args } = unpacked(acknowledging.data) ?? {}
  await press(acknowledging.data, acknowledging.id)
  const [row] = await sql`select acknowledged_at from alerts where id = ${Number(args?.['id'])}`
  expect(row?.['acknowledged_at']).not.toBeNull()
  for (const { data } of old) expect(isButtonHandled(data), data).toBe(true)
  for (const { id, data } of chosen(old)) {
    expect((await press(data, id)).length, data).toBeLessThanOrEqual(200)
  }
})

test.each(
  pressed.buttons,
)('the recorded button %s is handled, decoded and encoded to the same data', (data) => {
  const read = unpacked(data)
  if (read === undefined) throw new Error(`${data} is not read`)
  expect(packed(...([read.verb, read.args] as unknown as Parameters<typeof packed>))).toBe(data)
  expect(isButtonHandled(data)).toBe(true)
})

test.each(
  chosen(pressed.buttons.map((data) => ({ data }))),
)('the recorded button $data is answered', async ({ data }) => {
  const { id = 1 } = world.telegram.lastMessage(chatId) ?? {}
  expect((await press(data, id)).length).toBeLessThanOrEqual(200)
})
