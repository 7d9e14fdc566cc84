import { API_TIMEOUT_SECONDS, createApi } from '#bot/api.ts'
import { createBot, updateHandler } from '#bot/bot.ts'
import { drainInbox, type UpdateHandler } from '#bot/inbox.ts'
import { fetchUpdates } from '#bot/poller.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { createTelegramLink } from '#src/operations/recipients.ts'
import { PEOPLE } from '#src/sandbox/devnet/people.ts'
import type { Chat, ChatMessage } from '#src/sandbox/telegram/model.ts'
import { startTelegramApi, type TelegramApi } from '#src/sandbox/telegram-api.ts'
import type { Caller, Scope } from '#src/kernel/caller.ts'
import { BOT_NAME, BOT_TOKEN, serviceOnly } from './harness.ts'

/** Takes what Telegram has for the bot into the inbox. */
export async function fetchAll(app: App, telegram: TelegramApi): Promise<void> {
  const api = createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, API_TIMEOUT_SECONDS)
  const { signal } = new AbortController()
  const offset = await fetchUpdates(app, api, { offset: 0, waitSeconds: 0 }, signal)
  await fetchUpdates(app, api, { offset, waitSeconds: 0 }, signal)
}

/** The real bot, introduced. */
export async function createHandler(app: App, telegram: TelegramApi): Promise<UpdateHandler> {
  const bot = createBot({ app, token: BOT_TOKEN, apiRoot: telegram.url })
  bot.botInfo = await bot.api.getMe()
  return updateHandler(app, bot)
}

/** Fetches and handles what Telegram has for the bot, to the end. */
export async function handleUpdates(app: App, telegram: TelegramApi): Promise<void> {
  await fetchAll(app, telegram)
  await drainInbox(app, await createHandler(app, telegram))
}
