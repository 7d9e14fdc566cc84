import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { tooManyMessages } from '#sandbox/telegram/faults.ts'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { openChat } from '../delivery/chat.ts'
import { type Outbox, openOutbox } from '../delivery/outbox.ts'
import { runs } from '../support/runs.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** Three processes with one bot token, before a Bot API that enforces its limits. */

const TOKEN = '4711:AAtest-token-of-the-local-bot-api-0000'
const GROUP = { count: 20, ms: 60_000 }
/** Timers may end this many milliseconds early. */
const TIMER_MS = 10

let outbox: Outbox
let telegram: TelegramApi
let processes: ServiceProcess[]
let alerts = 0

beforeAll(async () => {
  outbox = await openOutbox()
  outbox.clock.set(new Date(Date.now()))
  telegram = await startTelegramApi({ token: TOKEN, username: 'watchdog_test_bot', rates: true })
  const env = {
    DATABASE_URL: outbox.database.url,
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
  }
  processes = await Promise.all(
    ['delivery', 'delivery', 'delivery,bot'].map((ROLES) => startServiceProcess({ ...env, ROLES })),
  )
}, 120_000)
afterAll(async () => {
  await Promise.all(processes.map((child) => child.kill()))
  await telegram.close()
  await outbox.close()
})

const newPerson = () => telegram.person({ firstName: 'Ann', languageCode: 'en', started: true }).id

/** Messages that the bot sent or tried to send. */
const sends = () =>
  telegram.calls.filter(({ method }) => method.startsWith('send') && method !== 'sendChatAction')
const arrived = (chatId: number) =>
  telegram.messages(chatId).filter(({ from }) => from === telegram.bot.id)

/** Puts an alert into the outbox for each of the chats; each time for another recipient, so that none is grouped. */
async function notify(chatIds: readonly number[]): Promise<void> {
  for (const chatId of chatIds) {
    const chat = await openChat(outbox, { chatId })
    alerts += 1
    await chat.notify({ alert: alerts, watch: alerts, severity: 'critical' })
  }
}

/** Largest number of calls within a time span. */
function peak(times: readonly number[], ms: number): number {
  return Math.max(
    0,
    ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length),
  )
}

const timesOf = (calls: ReturnType<typeof sends>) => calls.map(({ at }) => at.getTime())

test('deliveries and replies of all processes together stay within the limits of the bot and of a group', async () => {
  const people = Array.from({ length: runs(40, 80) }, newPerson)
  const writer = newPerson()
  const group = telegram.group({ title: 'Ops', members: [writer], admins: [writer] }).id
  await notify([...people, ...Array.from({ length: GROUP.count + 4 }, () => group)])
  const writers = Array.from({ length: runs(10, 20) }, newPerson)
  for (const person of writers) telegram.send(person, '/start')
  await vi.waitFor(
    () => {
      for (const person of people) expect(arrived(person)).toHaveLength(1)
      for (const person of writers) expect(arrived(person).length).toBeGreaterThan(0)
      expect(arrived(group)).toHaveLength(GROUP.count)
    },
    { timeout: 90_000, interval: 200 },
  )
  // The API would refuse what is beyond its limits: it takes 30 at once and then 30 a second. Three processes that keep
  // the limits each for itself send 84 a second.
  expect(sends().filter(({ refused }) => refused !== undefined)).toEqual([])
  const inGroup = sends().filter(({ payload }) => payload['chat_id'] === group)
  expect(peak(timesOf(inGroup), GROUP.ms)).toBeLessThanOrEqual(GROUP.count)
  const senders = processes.filter(({ messages }) => messages.includes('delivery attempted'))
  expect(senders).toHaveLength(1)
}, 120_000)

test('a 429 of the bot delays the messages to every chat, in every process', async () => {
  const waitSeconds = 4
  const [limited, others] = [
    Array.from({ length: 3 }, newPerson),
    Array.from({ length: 5 }, newPerson),
  ]
  for (const chatId of limited) {
    telegram.failNext({ method: 'sendMessage', chatId }, tooManyMessages(waitSeconds))
  }
  const before = sends().length
  await notify(limited)
  const refusals = () =>
    sends()
      .slice(before)
      .filter(({ refused }) => refused?.code === 429)
  await telegram.waitFor(() => refusals().length === limited.length, 30_000)
  const heldUntil = async () => {
    const [row] = await outbox.database.sql<{ until: number }[]>`
      select (extract(epoch from next_at) * 1000)::float8 as until from telegram_paces
      where chat_id = 0 and next_at > clock_timestamp() + interval '1 second'`
    return row?.until
  }
  await vi.waitFor(async () => expect(await heldUntil()).toBeDefined(), 10_000)
  const until = (await heldUntil()) ?? Number.POSITIVE_INFINITY
  await notify(others)
  const writer = newPerson()
  telegram.send(writer, '/start')
  await vi.waitFor(
    () => {
      for (const person of [...limited, ...others]) expect(arrived(person)).toHaveLength(1)
      expect(arrived(writer).length).toBeGreaterThan(0)
    },
    { timeout: 60_000, interval: 200 },
  )
  const later = new Set<unknown>([...others, writer])
  const early = sends().filter(
    ({ payload, at }) => later.has(payload['chat_id']) && at.getTime() < until - TIMER_MS,
  )
  expect(early).toEqual([])
}, 120_000)

test('when the process that sends is killed, another one takes over', async () => {
  const sender = processes.find(({ messages }) => messages.includes('delivery attempted'))
  await sender?.kill()
  const chatId = newPerson()
  await notify([chatId])
  await vi.waitFor(() => expect(arrived(chatId)).toHaveLength(1), { timeout: 30_000, interval: 50 })
}, 60_000)
