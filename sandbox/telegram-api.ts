import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { createBackend } from './telegram/backend.ts'
import type { Fault, FaultFilter } from './telegram/faults.ts'
import type {
  BotAccount,
  Call,
  CallbackAnswer,
  ChatChange,
  ChatMessage,
  InlineAnswer,
  StoredFile,
} from './telegram/model.ts'
import { createPeople, type People } from './telegram/people.ts'
import type { BotCommand, ProfileText } from './telegram/profile.ts'
import { startBotApiServer } from './telegram/server.ts'
import { createUserActions, type UserActions } from './telegram/user-actions.ts'

/** Options of a local Bot API. */
export interface TelegramApiOptions {
  /** Token of the bot, in the form `<number>:<letters>`; the number is the bot's id. */
  readonly token: string
  /** The bot's username, without `@`. */
  readonly username: string
  readonly firstName?: string
  readonly clock?: Clock
  /** 0, the default, uses a free port. */
  readonly port?: number
  /** Enforces the flood limits with 429. Off by default. */
  readonly rates?: boolean
  /** Pause after the first failed webhook delivery; doubles with each further one. */
  readonly webhookPauseMs?: number
}

/** A strict Telegram Bot API on this machine, with its users. */
export interface TelegramApi extends People, UserActions {
  /** API root for clients. */
  readonly url: string
  readonly bot: BotAccount
  /** Calls of the bot, oldest first; `getUpdates` only if refused. */
  readonly calls: readonly Call[]
  /** The bot's answers to presses, oldest first. */
  readonly answers: readonly CallbackAnswer[]
  /** The bot's answers to inline queries, oldest first. */
  readonly inlineAnswers: readonly InlineAnswer[]
  /** Updates that the bot has not confirmed yet. */
  readonly pendingUpdates: number
  /** The messages of a chat in their present state, oldest first. */
  messages(chatId: number): readonly ChatMessage[]
  /** The bot's newest message in a chat, without service messages. */
  lastMessage(chatId: number): ChatMessage | undefined
  /** The newest call of a method, including refused ones. */
  lastCall(method: string): Call | undefined
  /** A sent file. */
  file(fileId: string): StoredFile | undefined
  /** The `/` menu of a person in a chat. */
  commandsFor(chatId: number, personId: number): readonly BotCommand[]
  /** Name or description in a person's language. */
  profileText(what: ProfileText, languageCode: string): string
  /** First truthy value of `look`, evaluated now and after every change; rejects after 5 s by default. */
  waitFor<T>(look: () => T | undefined | null | false, timeoutMs?: number): Promise<T>
  /** Calls the listener with every change; returns a function that ends it. */
  onChange(listener: (change: ChatChange) => void): () => void
  /** Makes the next calls fail, or the next calls of one method. */
  failNext(filter: FaultFilter, fault: Fault): void
  /** Removes unused faults. */
  clearFaults(): void
  /** Closes the connections of hanging calls. */
  release(): void
  /** Refuses connections until `up()`. */
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
  const server = await startBotApiServer(backend, options.port ?? 0)
  const { bot, calls, changes, chats, faults, messages, profile, queries, updates } = backend
  return {
    ...createPeople(backend),
    ...createUserActions(backend),
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
