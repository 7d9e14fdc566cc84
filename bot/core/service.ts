import type { Bot } from 'grammy'
import type { Sql } from '#src/db/connection.ts'
import { bounded } from '#src/kernel/bounded.ts'
import type { App } from '#src/operations/define.ts'
import { API_TIMEOUT_SECONDS, type ApiAccess, apiSignal, createApi } from '#src/telegram/api.ts'
import { describe } from '#src/telegram/errors.ts'
import { runConnectNews } from '../features/connect/notifications.ts'
import { REGISTRY } from '../features/index.ts'
import { runFollowUps } from '../features/recipients/follow-ups.ts'
import { createBot, updateHandler } from './bot.ts'
import type { BotContext } from './context.ts'
import { type RunningInbox, startInbox } from './inbox.ts'
import { runLiveNews } from './live-messages.ts'
import { patiently } from './patiently.ts'
import { POLL_SECONDS, pollUpdates } from './poller.ts'
import { registerProfile } from './registration.ts'
import { pause } from './waker.ts'
import { mountWebhook, pointWebhook, type WebhookServer } from './webhook.ts'

const RESTART_MS = 5000
/** How long a stop waits for calls in hand. */
const STOP_MS = 10_000

/** The bot as a part of the service. */
export interface BotService {
  /** Without `@`; undefined until Telegram has told it. */
  username(): string | undefined
  /**
   * Asks Telegram who the bot is, until it is told. Twice is once; nobody needs to wait for it.
   *
   * @returns false when Telegram refuses the token, or the bot was stopped first
   */
  introduce(): Promise<boolean>
  /** Puts Telegram's webhook on the server, if there is a secret for it. */
  mount(server: WebhookServer): void
  /** Fetches and handles updates from now on, as soon as Telegram answers. Waits for nobody. */
  start(): Promise<void>
  /** Begins nothing more and waits for what is in hand, ten seconds at most, whatever Telegram does. */
  stop(): Promise<void>
}

/** Where Telegram is, and how updates come: to a webhook if it has a secret, else by long polling. */
export interface BotSettings extends ApiAccess {
  readonly webhookSecret: string | undefined
}

/** Builds the bot; it calls nobody before it is introduced or started. */
export function createBotService(app: App, sql: Sql, settings: BotSettings): BotService {
  const { webhookSecret } = settings
  const bot = createBot({ app, token: settings.token, apiRoot: settings.apiRoot })
  const pollApi = createApi(settings, POLL_SECONDS + API_TIMEOUT_SECONDS)
  const stop = new AbortController()
  const { signal } = stop
  let introduction: Promise<boolean> | undefined
  let running: Promise<void> | undefined
  let inbox: RunningInbox | undefined

  function introduced(): Promise<boolean> {
    introduction ??= introduce(app, bot, signal)
    return introduction
  }

  async function run(): Promise<void> {
    if (!(await introduced())) return
    inbox = await startInbox(app, sql, updateHandler(app, bot))
    if (signal.aborted) return await inbox.stop()
    await Promise.all([
      webhookSecret === undefined ? poll() : pointWebhook(app, bot.api, webhookSecret, signal),
      registerProfile(app, bot.api, REGISTRY, signal),
      runConnectNews({ app, api: bot.api, username: bot.botInfo.username }, sql, signal),
      runLiveNews({ app, api: bot.api, username: bot.botInfo.username }, sql, signal),
      runFollowUps({ app, api: bot.api, username: bot.botInfo.username }, signal),
    ])
  }

  /** A failure that the poller does not know how to wait out is loud, and does not end the bot. */
  async function poll(): Promise<void> {
    while (!signal.aborted) {
      try {
        return await pollUpdates(app, sql, pollApi, signal)
      } catch (error) {
        app.log.error({ error: describe(error) }, 'poller failed')
        await pause(RESTART_MS, signal)
      }
    }
  }

  return {
    username: () => (bot.isInited() ? bot.botInfo.username : undefined),
    introduce: introduced,
    mount(server) {
      if (webhookSecret !== undefined) mountWebhook(server, app, webhookSecret)
    },
    start: async () => {
      running ??= run()
    },
    stop: async () => {
      stop.abort()
      await bounded(Promise.all([introduction, running, inbox?.stop()]), STOP_MS)
    },
  }
}

/** @returns false when Telegram refuses the token, or the signal came first */
async function introduce(app: App, bot: Bot<BotContext>, signal: AbortSignal): Promise<boolean> {
  const me = await patiently(app.log, 'telegram does not answer', signal, () =>
    bot.api.getMe(apiSignal(signal)),
  )
  if (me === undefined) return false
  bot.botInfo = me
  app.log.info({ username: me.username }, 'bot introduced')
  return true
}
