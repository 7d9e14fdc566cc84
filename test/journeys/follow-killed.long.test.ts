import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { followProvider } from '#src/alerts/followers/followers.ts'
import { recordAlerts } from '#src/alerts/service.ts'
import { followersWallet } from '#src/kernel/followers.ts'
import { Address } from '#src/kernel/units.ts'
import { candidatesOf } from '../support/alert-candidates.ts'
import { BOT_NAME, BOT_TOKEN, serviceOnly } from '../support/harness.ts'
import { startServiceProcess } from '../support/service-process.ts'

/** A process may die between the alert and its messages: each follower gets each message, and gets it once. */

const FOLLOWERS = 12
const provider = Address.parse(`0x${'12'.repeat(20)}`)

let telegram: TelegramApi
let service: Awaited<ReturnType<typeof serviceOnly>>
let chatIds: readonly number[]

beforeAll(async () => {
  telegram = await startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME })
  service = await serviceOnly({ TELEGRAM_BOT_TOKEN: BOT_TOKEN, TELEGRAM_API_ROOT: telegram.url })
  // The processes use the machine's clock.
  service.clock.set(new Date(Date.now()))
  chatIds = Array.from(
    { length: FOLLOWERS },
    () => telegram.person({ firstName: 'Dora', languageCode: 'en' }).id,
  )
  for (const chatId of chatIds) {
    telegram.send(chatId, '/start')
    const following = { chatId, locale: 'en', provider, name: 'Alpha' } as const
    await followProvider(service.app, following)
  }
})
afterAll(async () => {
  await service.close()
  await telegram.close()
})

const start = () =>
  startServiceProcess({
    DATABASE_URL: service.database.url,
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
    ROLES: 'delivery',
  })

async function fire(event: string, position: number): Promise<void> {
  const { app, clock } = service
  const [watch] = await app.db.execute<{ id: number }>(
    sql`select id from watches where wallet = ${followersWallet(provider)}`,
  )
  clock.set(new Date(Date.now()))
  await app.db.transaction(async (tx) => {
    const severity = event.endsWith('.recovered') ? 'info' : 'critical'
    const all = [{ event, severity, episodeSeverity: 'critical' } as const]
    const at = { position, firedAt: clock.now() }
    await recordAlerts(app, tx, await candidatesOf(tx, watch?.id ?? 0, all, at))
  })
}

const ofBot = (chatId: number) =>
  telegram.messages(chatId).filter(({ from }) => from === telegram.bot.id)

/** Kills a process that has messages in hand, then lets another send them. */
async function killAndSend(messages: number): Promise<void> {
  telegram.failNext({ method: 'sendMessage', times: 1000 }, 'hang')
  const killed = await start()
  const leased = async () =>
    (
      await service.app.db.execute(sql`select 1 from deliveries where leased_until is not null
        and status = 'pending' and wallet = ${followersWallet(provider)}`)
    ).length
  await expect.poll(leased, { timeout: 20_000 }).toBeGreaterThan(0)
  await killed.kill()
  telegram.clearFaults()
  telegram.release()
  // The leases of the dead process end after a minute.
  await service.app.db.execute(sql`update delivery_queue set leased_until = created_at
    where leased_until is not null and wallet = ${followersWallet(provider)}`)
  await service.app.db.execute(sql`
    update delivery_heads set due_at = ${new Date()} where due_at is not null`)
  const next = await start()
  await telegram.waitFor(() => chatIds.every((id) => ofBot(id).length >= messages), 60_000)
  await next.stop()
  expect(chatIds.map((id) => ofBot(id).length)).toEqual(chatIds.map(() => messages))
}

test('a process that dies between an alert and its messages loses and repeats none of them', async () => {
  await fire('fsp.fast-updates', 1)
  await killAndSend(1)
  await fire('fsp.fast-updates.recovered', 2)
  await killAndSend(2)
}, 240_000)
