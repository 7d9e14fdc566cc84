import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

const PEOPLE = 40

let database: FreshDatabase
let telegram: TelegramApi
let service: ServiceProcess | undefined

beforeAll(async () => {
  database = await freshDatabase()
  telegram = await startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME })
})
afterAll(async () => {
  await service?.kill()
  await telegram.close()
  await database.drop()
})

const start = () =>
  startServiceProcess({
    DATABASE_URL: database.url,
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
    ROLES: 'bot',
  })

const answers = (chatId: number) =>
  telegram.messages(chatId).filter((message) => message.from === telegram.bot.id).length

test('a service killed with updates in hand answers all of them after its next start, each once', async () => {
  service = await start()
  // Telegram does not answer: some updates stay in progress, the others wait in the inbox.
  telegram.failNext({ method: 'sendMessage', times: 1000 }, 'hang')
  const ids = Array.from(
    { length: PEOPLE },
    () => telegram.person({ firstName: 'Ann', languageCode: 'en' }).id,
  )
  for (const id of ids) telegram.send(id, '/help')
  const written = async () => (await database.sql`select 1 from telegram_updates`).length
  await expect.poll(written, { timeout: 10_000 }).toBe(PEOPLE)
  const inHand = async () =>
    (await database.sql`select 1 from telegram_updates where leased_until is not null`).length
  await expect.poll(inHand, { timeout: 10_000 }).toBe(32)
  await service.kill()
  telegram.clearFaults()
  telegram.release()
  expect(ids.map(answers)).toEqual(ids.map(() => 0))

  // The leases of the dead process end after half a minute.
  await database.sql`update telegram_updates set leased_until = received_at`
  service = await start()
  await telegram.waitFor(() => ids.every((id) => answers(id) > 0), 20_000)
  const open = async () =>
    (await database.sql`select 1 from telegram_updates where handled_at is null`).length
  await expect.poll(open, { timeout: 10_000 }).toBe(0)
  expect(ids.map(answers)).toEqual(ids.map(() => 1))
}, 60_000)
