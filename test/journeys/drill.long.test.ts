import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMailServer } from '#sandbox/inbox.ts'
import { closeServer, listenOnLoopback } from '#sandbox/loopback.ts'
import { startReceiver } from '#sandbox/receiver.ts'
import { startTelegramApi } from '#sandbox/telegram-api.ts'
import { createApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { giveCredits } from '../support/credits.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { PROCESS_ENVIRONMENT, testEnvironment } from '../support/environment.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'
import { signIn, withTrial } from '../support/people.ts'
import { ROOT, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** A process with SEND_NOTHING, as one tries a restored backup with the settings of the real service. */

let database: FreshDatabase
let receiver: Awaited<ReturnType<typeof startReceiver>>
let inbox: Awaited<ReturnType<typeof startMailServer>>
let telegram: Awaited<ReturnType<typeof startTelegramApi>>
let chat: number
let wallet: string
let environment: Readonly<Record<string, string>>
const monitored: string[] = []
const monitor = createServer((request, response) => {
  monitored.push(String(request.url))
  response.end()
})

beforeAll(async () => {
  ;[database, receiver, inbox, telegram] = await Promise.all([
    freshDatabase(),
    startReceiver(),
    startMailServer(),
    startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME }),
  ])
  environment = {
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
    SMTP_URL: inbox.url,
    EMAIL_FROM: 'Watchdog <watchdog@example.org>',
    HEARTBEAT_URL: `http://127.0.0.1:${await listenOnLoopback(monitor, 0)}/heart`,
  }
  const parts = { databaseUrl: database.nearUrl, log: silentLogger }
  const before = createApp(loadConfig(testEnvironment(environment)), parts)
  const alice = await withTrial(await signIn(before, 'alice'))
  wallet = alice.caller.wallet
  await giveCredits(before.app, alice.caller.wallet, 700)
  await alice.request('PUT', '/channels/webhook', { url: receiver.url() })
  await alice.request('PUT', '/channels/email', { address: 'ops@example.org' })
  const watch = { type: 'credits-balance', target: {}, settings: { limit: 1000 } }
  expect((await alice.request('POST', '/watches', watch)).status).toBe(201)
  await before.stop()
  chat = telegram.person({ firstName: 'Ann', languageCode: 'en' }).id
  telegram.send(chat, '/help')
})
afterAll(async () => {
  await Promise.all([receiver.close(), inbox.close(), telegram.close(), closeServer(monitor)])
  await database.drop()
})

async function running(
  over: Readonly<Record<string, string>>,
  play: (service: ServiceProcess) => Promise<void>,
): Promise<void> {
  const settings = { DATABASE_URL: database.url, ...environment, ...over }
  const service = await startServiceProcess(settings)
  try {
    await play(service)
  } finally {
    await service.stop()
  }
}

/** Statuses of the deliveries of Alice's alerts to her webhook. */
const statuses = async () =>
  (
    await database.sql`
      select status from deliveries
      where alert_id is not null and channel = 'webhook' and wallet = ${wallet}`
  ).map(({ status }) => status)
const callsOf = () => telegram.calls.map(({ method }) => method)

test('a drill records alerts, says everywhere that it sends nothing, and nothing leaves it', async () => {
  await running({ SEND_NOTHING: 'true' }, async ({ url, internalUrl, lines }) => {
    await expect.poll(statuses, { timeout: 30_000 }).toEqual(['pending'])
    // Longer than the next process needs for all of it.
    await wait(10_000)
    expect(await statuses()).toEqual(['pending'])
    expect(receiver.deliveries).toEqual([])
    expect(inbox.mails).toEqual([])
    expect(callsOf()).toEqual([])
    expect(telegram.pendingUpdates).toBe(1)
    expect(monitored).toEqual([])

    expect(lines.filter((line) => line.includes('nothing is sent to anybody'))).toHaveLength(1)
    const ready = await (await fetch(`${internalUrl}/readyz`)).json()
    expect(ready).toMatchObject({
      status: 'degraded',
      problems: expect.arrayContaining([
        { name: 'sending', problem: 'nothing is sent to anybody (SEND_NOTHING)' },
      ]),
    })
    const page = await (await fetch(`${url}/problems`)).text()
    expect(page).toContain('This is a test copy of Watchdog. It sends no messages.')
  })
})

test('what waited is sent by the first process that may send', async () => {
  await running({}, async ({ url }) => {
    await expect.poll(statuses, { timeout: 30_000 }).toEqual(['delivered'])
    expect(receiver.deliveries).toHaveLength(1)
    await expect.poll(() => inbox.mails, { timeout: 30_000 }).toHaveLength(1)
    const answers = () => telegram.messages(chat).filter(({ from }) => from === telegram.bot.id)
    await telegram.waitFor(() => answers().length === 1, 30_000)
    await expect.poll(() => monitored, { timeout: 30_000 }).toContain('/heart/start')
    const page = await (await fetch(`${url}/problems`)).text()
    expect(page).not.toContain('test copy')
  })
})

test('health and metrics listen where INTERNAL_HOST says, and the probe of containers asks there', async () => {
  const only = { INTERNAL_HOST: '127.0.0.2', HOST: '127.0.0.1', SEND_NOTHING: 'true' }
  await running(only, async ({ internalUrl, url }) => {
    const { port } = new URL(internalUrl)
    const probe = (env: Readonly<Record<string, string>>) =>
      spawnSync(process.execPath, ['src/probe.ts'], {
        cwd: ROOT,
        env: { ...PROCESS_ENVIRONMENT, INTERNAL_PORT: port, ...env },
      }).status
    expect((await fetch(`http://127.0.0.2:${port}/livez`)).status).toBe(200)
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow()
    expect((await fetch(url)).status).toBe(200)
    expect(probe(only)).toBe(0)
    expect(probe({ HOST: '127.0.0.1' })).toBe(1)
  })
})
