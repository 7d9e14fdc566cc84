import type { Bot } from 'grammy'
import type { Sql } from '#src/db/connection.ts'
import type { Leases } from '#src/db/leases.ts'
import { endsWithin } from '#src/kernel/ends-within.ts'
import type { App } from '#src/operations/define.ts'
import { API_TIMEOUT_SECONDS, apiSignal, createApi } from '#src/telegram/api.ts'
import { createBot, type PacedAccess, updateHandler } from './bot.ts'
import type { BotContext } from './context.ts'
import { type BotParts, liveKinds } from './feature.ts'
import { type RunningInbox, startInbox } from './inbox.ts'
import { createLiveMessages } from './live-messages.ts'
import { keepPolling, POLL_SECONDS } from './poller.ts'
import { registerProfile } from './registration.ts'
import { createTelegramContact, type TelegramContact } from './telegram-contact.ts'
import { keepWebhook, mountWebhook, type WebhookServer } from './webhook.ts'

/** Maximum time for which a stop waits for calls in progress. */
const STOP_MS = 10_000

/** The bot as a part of the service. */
export interface BotService {
  /** The username without `@`; undefined until Telegram has returned it. */
  username(): string | undefined
  /**
   * Why the bot does not work as far as this process knows, in words without secrets; undefined if it does. A process
   * that does not receive updates knows only whether Telegram knows the bot.
   */
  problem(): string | undefined
  /**
   * Requests the bot's account from Telegram until Telegram returns it. Further calls join the first.
   *
   * @returns false when the bot was stopped first
   */
  introduce(): Promise<boolean>
  /** Adds the route of Telegram's webhook to the server, if a secret is configured. */
  mount(server: WebhookServer): void
  /** Starts fetching and handling updates as soon as Telegram responds. Does not wait until then. */
  start(): Promise<void>
  /** Stops fetching updates and waits at most ten seconds for updates in progress. */
  stop(): Promise<void>
  /** Changes the live messages that are due, see `LiveMessages.run`; does nothing before the bot is introduced. */
  showLive(signal: AbortSignal, handles: ReadonlySet<string>): Promise<void>
}

/** Access to Telegram. With a secret, updates arrive at a webhook, else by long polling. */
export interface BotSettings extends PacedAccess {
  readonly webhookSecret: string | undefined
  readonly parts: BotParts
}

/**
 * Creates the bot. The bot sends no request before it is introduced or started. Long because it lists all that the
 * service asks of the bot.
 */
export function createBotService(
  app: App & { readonly leases: Leases },
  sql: Sql,
  settings: BotSettings,
): BotService {
  const { webhookSecret, parts, token, apiRoot, pace } = settings
  const bot = createBot({ app, parts, token, apiRoot, pace })
  const pollApi = createApi(settings, POLL_SECONDS + API_TIMEOUT_SECONDS)
  const stop = new AbortController()
  const { signal } = stop
  const contact = createTelegramContact(app)
  const live = createLiveMessages(
    () => ({ app, api: bot.api, username: bot.botInfo.username }),
    liveKinds(parts.features),
  )
  let introduction: Promise<boolean> | undefined
  let running: Promise<void> | undefined
  let inbox: RunningInbox | undefined

  function introduced(): Promise<boolean> {
    introduction ??= introduce(app, bot, contact, signal)
    return introduction
  }

  async function run(): Promise<void> {
    if (!(await introduced())) return
    inbox = await startInbox(app, sql, updateHandler(app, bot))
    if (signal.aborted) return await inbox.stop()
    const receiving =
      webhookSecret === undefined
        ? keepPolling(app, app.leases, pollApi, contact, signal)
        : keepWebhook(app, bot.api, contact, { secret: webhookSecret, signal })
    await Promise.all([
      receiving,
      registerProfile(app, bot.api, parts.features, { contact, signal }),
    ])
  }

  return {
    username: () => (bot.isInited() ? bot.botInfo.username : undefined),
    problem: () => problemOf(bot, contact),
    introduce: introduced,
    mount(server) {
      if (webhookSecret !== undefined) mountWebhook(server, app, webhookSecret)
    },
    showLive: async (until, handles) => {
      if (bot.isInited()) await live.run(handles, until)
    },
    start: async () => {
      contact.setAnswered()
      running ??= run()
    },
    stop: async () => {
      stop.abort()
      await endsWithin(Promise.all([introduction, running, inbox?.stop(), live.settled()]), STOP_MS)
    },
  }
}

function problemOf(bot: Bot<BotContext>, contact: TelegramContact): string | undefined {
  return contact.problem() ?? (bot.isInited() ? undefined : 'Telegram has not answered yet')
}

/** @returns false when the signal was aborted first */
async function introduce(
  app: App,
  bot: Bot<BotContext>,
  contact: TelegramContact,
  signal: AbortSignal,
): Promise<boolean> {
  const me = await contact.untilAccepted('telegram is not responding', signal, () =>
    bot.api.getMe(apiSignal(signal)),
  )
  if (me === undefined) return false
  bot.botInfo = me
  app.log.info({ username: me.username }, 'bot introduced')
  return true
}
