import { startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { startDevnet } from '#sandbox/devnet.ts'
import { startMailServer } from '#sandbox/inbox.ts'
import { startReceiver } from '#sandbox/receiver.ts'
import { startTelegramApi } from '#sandbox/telegram-api.ts'
import * as alerts from '#src/alerts/service.ts'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { everySlice } from '#src/db/slices.ts'
import { startJobs } from '#src/jobs/runner.ts'
import { showLiveMessages } from '#src/jobs/show-live-messages.ts'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { registerPages } from '#src/pages/index.ts'
import { sendDueConfirmations } from '#src/recipients/confirmations.ts'
import { testClock } from './clock.ts'
import { freshDatabase } from './database.ts'
import { deliverAll } from './deliver-all.ts'
import { testEnvironment } from './environment.ts'
import { observeWatches } from './observe.ts'
import { NO_PACE } from './pace.ts'

export const BOT_TOKEN = '4711:AAtest-token-of-the-local-bot-api-0000'
export const BOT_NAME = 'watchdog_test_bot'

/**
 * The service with a fresh database and a fixed clock, without chain, Telegram and mail server, and
 * without pauses between messages.
 */
export async function serviceOnly(
  over: Readonly<Record<string, string>> = {},
  clock = testClock(),
  log: Logger = silentLogger,
  hostClock: Clock = systemClock,
) {
  const database = await freshDatabase()
  const config = loadConfig(testEnvironment(over))
  const serviceParts = {
    databaseUrl: database.nearUrl,
    log,
    clock,
    hostClock,
    slices: everySlice(),
    pace: NO_PACE,
  }
  const service = createApp(config, serviceParts)
  await service.server.register(registerPages, { app: service.app })
  const close = async () => {
    await service.stop()
    await database.drop()
  }
  return { ...service, service, clock, database, close }
}

/** The service with its whole world: chain, Telegram, mail server, webhook receiver. */
export async function harness(
  over: Readonly<Record<string, string>> = {},
  log: Logger = silentLogger,
) {
  const clock = testClock()
  const [devnet, inbox, receiver, telegram] = await Promise.all([
    startDevnet({
      startsAt: clock.now(),
      ...(over['CHAIN_ID'] !== undefined && { chainId: Number(over['CHAIN_ID']) }),
    }),
    startMailServer({ clock }),
    startReceiver({ clock }),
    startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME, clock }),
  ])
  const rpc = await startRpcProxy(devnet.rpcUrl)
  const environment = {
    FLARE_RPC_URLS: rpc.url,
    SMTP_URL: inbox.url,
    EMAIL_FROM: 'Watchdog <watchdog@example.org>',
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
    ...over,
  }
  const only = await serviceOnly(environment, clock, log)
  const { bot } = only.service
  await bot?.start()
  await telegram.waitFor(() => bot?.username())
  const jobs = await startJobs({ ...only.app, ...(bot && { bot }) }, only.service.sql, [
    showLiveMessages,
  ])
  const signal = new AbortController().signal
  /** Observes the chain once. The clock follows that of the chain, whose blocks may not be ahead of it. */
  async function look(): Promise<void> {
    const { timestamp } = await devnet.client.getBlock()
    clock.set(new Date(Math.max(clock.now().getTime(), Number(timestamp) * 1000)))
    await observe(only.service, signal)
  }
  return {
    ...only,
    devnet,
    rpc,
    inbox,
    receiver,
    telegram,
    /** Creates two blocks, so that the newest transaction is deep enough, and observes the chain once. */
    observe: async () => {
      await devnet.mine(2, 1)
      await look()
    },
    /** Observes the chain once in its present state. */
    look,
    /** Sends the confirmation mails that are due. */
    sendConfirmations: () => sendDueConfirmations(only.app, signal),
    /** Sends due deliveries. */
    deliver: () => deliverAll(only.app),
    close: async () => {
      await jobs.stop()
      await only.close()
      await Promise.all([rpc.close(), inbox.close(), receiver.close(), telegram.close()])
      await devnet.close()
    },
  }
}

export type World = Awaited<ReturnType<typeof harness>>

async function observe({ app }: Service, signal: AbortSignal): Promise<void> {
  await observeWatches(
    { ...app, recordAlerts: (tx, candidates) => alerts.recordAlerts(app, tx, candidates) },
    signal,
  )
}
