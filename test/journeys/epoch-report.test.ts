import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { normalizedText } from '#sandbox/tour/chat.ts'
import { insertRound } from '#src/fsp/indexer/daily-store.ts'
import { ROUND_CHECKS } from '#src/fsp/protocol/verdict.ts'
import { Address } from '#src/kernel/units.ts'
import { chatOf } from '../notices/notified.ts'
import { BOT_NAME, BOT_TOKEN, serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { startServiceProcess } from '../support/service-process.ts'

/** A reward epoch ends: the running service sends its report, and sends it once, whenever a process is killed. */

const PROVIDER = Address.parse(`0x${'12'.repeat(20)}`)
const ROUND_MS = 90_000
const GOOD = 'g'.repeat(ROUND_CHECKS.length)

let telegram: TelegramApi
let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let chatId: number

beforeAll(async () => {
  telegram = await startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME })
  service = await serviceOnly({ TELEGRAM_BOT_TOKEN: BOT_TOKEN, TELEGRAM_API_ROOT: telegram.url })
  // The processes use the machine's clock.
  service.clock.set(new Date(Date.now()))
  alice = await signIn(service, 'alice')
  chatId = telegram.person({ firstName: 'Ann', languageCode: 'en' }).id
  telegram.send(chatId, '/start')
  await chatOf(service, alice, { id: chatId })
  await watchProvider()
  const { body } = await alice.request('GET', '/settings')
  await alice.request('PUT', '/settings', { ...body, epochReport: true })
})
afterAll(async () => {
  await service.close()
  await telegram.close()
})

async function watchProvider(): Promise<void> {
  const now = service.clock.now()
  const [target] = await service.sql<{ id: number }[]>`
    insert into targets (type, key, target, watch_count, observation, must_judge)
    values ('provider-fsp', ${PROVIDER}, ${service.sql.json({ provider: PROVIDER })}, 1, null, false) returning id`
  await service.sql`
    insert into watches (wallet, type, target_id, label, settings, signals, min_severity, cooldown_seconds, status,
      version, created_at, updated_at)
    values (${alice.caller.wallet}, 'provider-fsp', ${target?.id ?? 0}, 'My node', '{}', '[]', 'info', 0, 'active', 1,
      ${now}, ${now})`
}

async function round(id: number, rewardEpoch: number, letters: string): Promise<void> {
  const startsAt = new Date(service.clock.now().getTime() - (10 - id) * ROUND_MS)
  await insertRound(service.app.db, {
    ...{ round: id, rewardEpoch, startsAt, blockNumber: id, blockAt: startsAt },
    blockHash: `0x${'00'.repeat(32)}`,
    providers: { [PROVIDER]: { c: letters } },
  })
}

const start = () =>
  startServiceProcess({
    DATABASE_URL: service.database.url,
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
    ROLES: 'watcher,delivery',
  })

const reports = () =>
  telegram
    .messages(chatId)
    .filter(({ from, text }) => from === telegram.bot.id && /Reward epoch 7/.test(text))

const recorded = async () =>
  (await service.sql`select 1 from notices where key like 'epoch-report %'`).length

test('an epoch that ends is reported once, though the process is killed while it sends', async () => {
  await round(1, 7, GOOD)
  await round(2, 7, `b${GOOD.slice(1)}`)
  const early = await start()
  await early.stop()
  expect(await recorded()).toBe(0)

  await round(3, 8, GOOD)
  telegram.failNext({ method: 'sendMessage', times: 1000 }, 'hang')
  const killed = await start()
  await expect.poll(recorded, { timeout: 30_000 }).toBe(1)
  await killed.kill()
  telegram.clearFaults()
  telegram.release()
  // The lease of the dead process ends after a minute.
  await service.sql`
    update delivery_queue set leased_until = created_at where leased_until is not null`
  await service.sql`update delivery_heads set due_at = ${new Date()} where due_at is not null`

  const next = await start()
  await telegram.waitFor(() => reports()[0], 60_000)
  await next.stop()
  const last = await start()
  await last.stop()
  expect(reports()).toHaveLength(1)
  expect(await recorded()).toBe(1)
  expect(normalizedText(reports()[0]?.text ?? '')).toContain('Rounds: 1 of 2')
}, 240_000)
