import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { type Acting, createActing } from './telegram/acting.ts'
import { createBackend } from './telegram/backend.ts'
import type { Fault, FaultFilter } from './telegram/faults.ts'
import type {
  BotAccount,
  Call,
  CallbackAnswer,
  Change,
  ChatMessage,
  InlineAnswer,
  StoredFile,
} from './telegram/model.ts'
import { createPeople, type People } from './telegram/people.ts'
import type { BotCommand, ProfileText } from './telegram/profile.ts'
import { startServer } from './telegram/server.ts'

/** What a local Bot API is started with. */
export interface TelegramApiOptions {
  /** Of the form `<number>:<letters>`; the number is the bot's id. */
  readonly token: string
  /** The bot's username, without `@`. */
  readonly username: string
  readonly firstName?: string
  readonly clock?: Clock
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** Enforces the flood limits with 429. Off unless asked for. */
  readonly rates?: boolean
  /** Pause after the first failed webhook delivery; doubles with each further one. */
  readonly webhookPauseMs?: number
}

/** A strict Telegram Bot API on this machine, and the people on its other side. */
export interface TelegramApi extends People, Acting {
  /** What a client takes as API root. */
  readonly url: string
  readonly bot: BotAccount
  /** What the bot called, oldest first; `getUpdates` only when it was refused. */
  readonly calls: readonly Call[]
  /** What the bot answered to presses, oldest first. */
  readonly answers: readonly CallbackAnswer[]
  /** What the bot answered to inline queries, oldest first. */
  readonly inlineAnswers: readonly InlineAnswer[]
  /** Updates the bot has not confirmed yet. */
  readonly pendingUpdates: number
  /** The messages of a chat as they stand now, oldest first. */
  messages(chatId: number): readonly ChatMessage[]
  /** The newest message of the bot in a chat; service messages do not count. */
  lastMessage(chatId: number): ChatMessage | undefined
  /** The newest call of a method, refused ones included. */
  lastCall(method: string): Call | undefined
  /** A file somebody sent. */
  file(fileId: string): StoredFile | undefined
  /** The `/` menu a person sees in a chat. */
  commandsFor(chatId: number, personId: number): readonly BotCommand[]
  /** Name or description in a person's language. */
  profileText(what: ProfileText, languageCode: string): string
  /** First truthy value of `look`, asked now and after every change; rejects after 5 s unless given. */
  waitFor<T>(look: () => T | undefined | null | false, timeoutMs?: number): Promise<T>
  /** Calls the listener with every change; returns a function that ends it. */
  onChange(listener: (change: Change) => void): () => void
  /** Lets calls fail: the next so many, or those of one method. */
  failNext(filter: FaultFilter, fault: Fault): void
  /** Forgets faults that were ordered and not used. */
  clearFaults(): void
  /** Breaks the calls that hang. */
  release(): void
  /** Connections are refused until `up()`. */
  down(): Promise<void>
  up(): Promise<void>
  close(): Promise<void>
}

const WAIT_TIMEOUT_MS = 5000

/** Starts a Bot API for one bot, at 127.0.0.1. */
export async function startTelegramApi(options: TelegramApiOptions): Promise<TelegramApi> {
  const backend = createBackend({
    token: options.token,
    username: options.username,
    firstName: options.firstName ?? options.username,
    clock: options.clock ?? systemClock,
    rates: options.rates ?? false,
    webhookPauseMs: options.webhookPauseMs ?? 1000,
  })
  const server = await startServer(backend, options.port ?? 0)
  const { bot, calls, changes, chats, faults, messages, profile, queries, updates } = backend
  return {
    ...createPeople(backend),
    ...createActing(backend),
    ...server,
    bot,
    get calls() {
      return calls.all()
    },
    get answers() {
      return queries.answers()
    },
    get inlineAnswers() {
      return queries.inlineAnswers()
    },
    get pendingUpdates() {
      return updates.pending().length
    },
    messages: (chatId) => messages.all(chatId),
    lastMessage: (chatId) =>
      messages.all(chatId).findLast((message) => message.from === bot.id && !message.service),
    lastCall: (method) => calls.all().findLast((call) => call.method === method),
    file: (fileId) => backend.files.find(fileId),
    commandsFor: (chatId, personId) => profile.commandsFor(chats.get(chatId), personId),
    profileText: (what, languageCode) => profile.textFor(what, languageCode),
    waitFor: (look, timeoutMs = WAIT_TIMEOUT_MS) => changes.until(look, timeoutMs),
    onChange: (listener) => changes.on(listener),
    failNext: (filter, fault) => faults.order(filter, fault),
    clearFaults: () => faults.clear(),
  }
}
