import { API_TIMEOUT_SECONDS, createApi } from '#bot/api.ts'
import { createBot, updateHandler } from '#bot/bot.ts'
import { drainInbox, type UpdateHandler } from '#bot/inbox.ts'
import { fetchUpdates } from '#bot/poller.ts'
import type { Caller, Scope } from '#src/kernel/caller.ts'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { createTelegramLink } from '#src/operations/recipients.ts'
import { PEOPLE } from '#src/sandbox/devnet/people.ts'
import type { ChatMessage } from '#src/sandbox/telegram/model.ts'
import { startTelegramApi, type TelegramApi } from '#src/sandbox/telegram-api.ts'
import { insertWatch, joinTarget } from '#src/watches/store.ts'
import { BOT_NAME, BOT_TOKEN, serviceOnly } from './harness.ts'

/** The real bot, introduced, as the inbox uses it. */
async function createHandler(app: App, telegram: TelegramApi): Promise<UpdateHandler> {
  const bot = createBot({ app, token: BOT_TOKEN, apiRoot: telegram.url })
  bot.botInfo = await bot.api.getMe()
  return updateHandler(app, bot)
}

/** Writes what Telegram has for the bot into the inbox, and tells Telegram so. */
async function fetchAll(app: App, telegram: TelegramApi): Promise<void> {
  const api = createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, API_TIMEOUT_SECONDS)
  const { signal } = new AbortController()
  const offset = await fetchUpdates(app, api, { offset: 0, waitSeconds: 0 }, signal)
  await fetchUpdates(app, api, { offset, waitSeconds: 0 }, signal)
}

/** Where somebody writes to the bot. */
export interface Chatting {
  readonly id: number
  /** Sends a text as its person and lets the bot handle it. */
  say(text: string): Promise<void>
  /** Presses a button of the newest message that has it, by label or data; gives the bot's answer. */
  press(button: string, from?: number): Promise<{ readonly text: string; readonly box: boolean }>
  /** The newest message of the bot. */
  last(): ChatMessage
  /** What the bot has in the chat, oldest first. */
  all(): readonly ChatMessage[]
  /** Labels of the newest message's buttons, by rows. */
  labels(): readonly (readonly string[])[]
}

/** The service over a fresh database and the strict local Bot API, without chain and mail. */
export async function botWorld() {
  const telegram = await startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME })
  const only = await serviceOnly({
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
  })
  const app: App = { ...only.app, botUsername: () => BOT_NAME }
  const handler = await createHandler(app, telegram)
  const settle = async () => {
    await fetchAll(app, telegram)
    await drainInbox(app, handler)
  }

  return {
    ...only,
    app,
    telegram,
    handler,
    /** Lets the bot handle everything that has happened. */
    settle,
    /** A person who has never written. */
    person: (languageCode = 'en', firstName = 'Ann') => {
      const { id } = telegram.person({ firstName, languageCode })
      return chatting(telegram, settle, id)
    },
    /** A chat that exists, as one of its people sees it. */
    chat: (id: number, from?: number) => chatting(telegram, settle, id, from),
    /** A one-time code for a chat. */
    linkCode: (name: keyof typeof PEOPLE, scopes: readonly Scope[] = ['read', 'write']) =>
      linkCode(app, name, scopes),
    /** A watch of one person, past the limit of slots. @returns its id */
    addWatch: (name: keyof typeof PEOPLE, watch: WatchInput) => addWatch(app, name, watch),
    close: async () => {
      await only.close()
      await telegram.close()
    },
  }
}

export type BotWorld = Awaited<ReturnType<typeof botWorld>>

function chatting(
  telegram: TelegramApi,
  settle: () => Promise<void>,
  id: number,
  from?: number,
): Chatting {
  const all = () =>
    telegram.messages(id).filter((one) => one.from === telegram.bot.id && !one.service)
  const last = () => {
    const message = all().at(-1)
    if (message === undefined) throw new Error('the bot has said nothing')
    return message
  }
  return {
    id,
    all,
    last,
    labels: () => last().keyboard.map((row) => row.map(({ text }) => text)),
    say: async (text) => {
      telegram.send(id, text, from === undefined ? {} : { from })
      await settle()
    },
    press: async (wanted, by = from) => {
      const message = all().findLast(({ keyboard }) =>
        keyboard
          .flat()
          .some(({ text, callback_data }) => text === wanted || callback_data === wanted),
      )
      if (message === undefined) throw new Error(`no message has the button ${wanted}`)
      const options = by === undefined ? {} : { from: by }
      const press = telegram.press(id, message.id, wanted, options)
      await settle()
      const { text, showAlert } = await press.answer()
      return { text, box: showAlert }
    },
  }
}

async function linkCode(
  app: App,
  name: keyof typeof PEOPLE,
  scopes: readonly Scope[],
): Promise<string> {
  const caller: Caller = { wallet: walletOf(name), scopes: ['read', 'write', 'spend'], via: 'http' }
  const { output } = await invoke(app, createTelegramLink, caller, { body: { scopes } })
  return new URL(output.url).searchParams.get('start') ?? ''
}

/** The address of one of the three people. */
export function walletOf(name: keyof typeof PEOPLE) {
  return PEOPLE[name].account.address
}

interface WatchInput {
  readonly label: string
  readonly status?: 'active' | 'paused' | 'suspended'
  readonly mutedUntil?: Date
  readonly asset?: string
  readonly direction?: 'any' | 'up' | 'down'
}

async function addWatch(
  { db, clock }: App,
  name: keyof typeof PEOPLE,
  input: WatchInput,
): Promise<number> {
  const target = { address: walletOf('bob'), asset: input.asset ?? 'FLR' }
  const type = 'wallet-balance'
  const now = clock.now()
  const targetId = await joinTarget(db, { type, key: canonicalJson(target), target })
  return insertWatch(db, {
    wallet: walletOf(name),
    type,
    targetId,
    label: input.label,
    settings: { threshold: '100', direction: input.direction ?? 'any' },
    signals: [],
    recipientIds: null,
    minSeverity: 'info',
    cooldownSeconds: 0,
    status: input.status ?? 'active',
    mutedUntil: input.mutedUntil ?? null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  })
}
