import { sql } from 'drizzle-orm'
import { createBot, updateHandler } from '#bot/core/bot.ts'
import type { Menu } from '#bot/core/feature.ts'
import { drainInbox, type UpdateHandler } from '#bot/core/inbox.ts'
import { fetchUpdates } from '#bot/core/poller.ts'
import { REGISTRY } from '#bot/features/index.ts'
import { BOT_PARTS } from '#bot/parts.ts'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { ChatMessage } from '#sandbox/telegram/model.ts'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import type { Service } from '#src/app.ts'
import { SLOT_PRICE_CREDITS } from '#src/billing/price-list.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Caller, Scope } from '#src/kernel/caller.ts'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { App, OperationWith } from '#src/operations/define.ts'
import { invoke, type RawInput } from '#src/operations/gate/invoke.ts'
import { acceptTerms } from '#src/operations/rest/account.ts'
import { createTelegramLink } from '#src/operations/rest/recipients.ts'
import { createSubscription } from '#src/operations/rest/subscriptions.ts'
import { API_TIMEOUT_SECONDS, createApi } from '#src/telegram/api.ts'
import { insertWatch, joinTarget } from '#src/watches/store.ts'
import type { TestClock } from './clock.ts'
import { giveCredits } from './credits.ts'
import { deliverAll } from './deliver-all.ts'
import { expectFewButtons } from './few-buttons.ts'
import { BOT_NAME, BOT_TOKEN, serviceOnly } from './harness.ts'
import { NO_PACE, ownPace } from './pace.ts'

/**
 * Time after which a press is answered before its handler answers it: long, because tests check the handler's
 * answer, and a busy machine is slow.
 */
const LONG_MS = 60_000

/** The real bot, initialized, as the inbox uses it. */
async function createHandler(
  app: App,
  telegram: TelegramApi,
  patienceMs = LONG_MS,
): Promise<UpdateHandler> {
  const pace = ownPace(NO_PACE)
  const bot = createBot({
    app,
    parts: BOT_PARTS,
    token: BOT_TOKEN,
    apiRoot: telegram.url,
    pace,
    patienceMs,
  })
  bot.botInfo = await bot.api.getMe()
  return updateHandler(app, bot)
}

/** A chat with the bot. */
export interface TestChat {
  readonly id: number
  /** Sends a text as its person and lets the bot handle it. */
  say(text: string): Promise<void>
  /** Presses a button of the newest message that has it, by label or data; returns the bot's answer. */
  press(button: string, from?: number): Promise<{ readonly text: string; readonly box: boolean }>
  /** The newest message of the bot. */
  last(): ChatMessage
  /** The bot's messages in the chat, oldest first. */
  all(): readonly ChatMessage[]
  /** Labels of the newest message's buttons, by rows. */
  labels(): readonly (readonly string[])[]
}

/**
 * The service with a fresh database and the strict local Bot API, without chain and mail.
 *
 * @param options `clock`: of the service and of Telegram; by default the service's clock stands still and Telegram's
 * is the machine's.
 *   `patienceMs`: time after which a press is answered before its handler does it; long by default
 */
export async function botWorld(
  over: Readonly<Record<string, string>> = {},
  options: {
    readonly clock?: TestClock
    readonly firstName?: string
    readonly patienceMs?: number
  } = {},
) {
  const { patienceMs, ...ofTelegram } = options
  const account = { token: BOT_TOKEN, username: BOT_NAME }
  const telegram = await startTelegramApi({ ...account, ...ofTelegram })
  const environment = {
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
    ...over,
  }
  const only = await serviceOnly(environment, options.clock)
  const app: App = { ...only.app, botUsername: () => BOT_NAME }
  let handler = await createHandler(app, telegram, patienceMs)
  const api = createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, API_TIMEOUT_SECONDS)
  const { signal } = new AbortController()
  let offset = 0
  const settle = async () => {
    offset = await fetchUpdates(app, api, { offset, waitSeconds: 0 }, signal)
    await drainInbox(app, handler)
    await changePressedAlerts(only.service)
  }

  return {
    ...only,
    app,
    telegram,
    /** The bot as the inbox uses it. */
    get handler() {
      return handler
    },
    /** Replaces the bot by a new one, which has only stored state. */
    restart: async () => {
      handler = await createHandler(app, telegram, patienceMs)
    },
    /** Lets the bot handle all pending updates. */
    settle,
    /** A person without messages. */
    person: (languageCode = 'en', firstName = 'Ann') => {
      const { id } = telegram.person({ firstName, languageCode })
      return chatting(telegram, settle, id)
    },
    /** An existing chat, as one of its members sees it. */
    chat: (id: number, from?: number) => chatting(telegram, settle, id, from),
    /** A one-time code for a private chat. */
    linkCode: (name: keyof typeof PEOPLE, scopes: readonly Scope[] = ['read', 'write']) =>
      linkCode(app, name, scopes),
    /** A one-time code for a group. */
    groupCode: (name: keyof typeof PEOPLE, scopes: readonly Scope[] = ['read', 'write']) =>
      linkCode(app, name, scopes, 'group'),
    /** A person whose chat is linked to a wallet. */
    linked: async (
      name: keyof typeof PEOPLE,
      scopes: readonly Scope[] = ['read', 'write'],
      languageCode = 'en',
    ) => {
      const chat = chatting(
        telegram,
        settle,
        telegram.person({ firstName: 'Ann', languageCode }).id,
      )
      await chat.say(`/start ${await linkCode(app, name, scopes)}`)
      await chat.press(translator(languageCode as Locale)('bot:button.link'))
      return chat
    },
    /** Buys slots of one person for 30 days. */
    giveSlots: (name: keyof typeof PEOPLE, quantity: number) => giveSlots(app, name, quantity),
    /** Calls an operation as the owner of a wallet. */
    as: async <Output>(
      name: keyof typeof PEOPLE,
      operation: OperationWith<Output>,
      input: RawInput = {},
    ) => (await invoke(app, operation, callerOf(name), input)).output,
    /**
     * Adds a watch of one person, beyond the limit of slots.
     * @returns its id
     */
    addWatch: (name: keyof typeof PEOPLE, watch: WatchInput) => addWatch(app, name, watch),
    close: async () => {
      const { calls } = telegram
      await only.close()
      await telegram.close()
      expectFewButtons(calls)
    },
  }
}

/** Changes the alerts that were pressed, as the workers of deliveries do when they are notified. */
async function changePressedAlerts({ app }: Service): Promise<void> {
  const awaited = await app.db.execute(sql`
    select 1 from sent_messages where revise_at = ${new Date(0)} limit 1`)
  if (awaited.length > 0) await deliverAll({ ...app, botUsername: () => BOT_NAME })
}

export type BotWorld = Awaited<ReturnType<typeof botWorld>>

function chatting(
  telegram: TelegramApi,
  settle: () => Promise<void>,
  id: number,
  from?: number,
): TestChat {
  const all = () =>
    telegram.messages(id).filter((message) => message.from === telegram.bot.id && !message.service)
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

function callerOf(name: keyof typeof PEOPLE): Caller {
  return { wallet: walletOf(name), scopes: ['read', 'write', 'spend'], via: 'http' }
}

async function giveSlots(app: App, name: keyof typeof PEOPLE, quantity: number): Promise<void> {
  await giveCredits(app, walletOf(name), quantity * SLOT_PRICE_CREDITS)
  const { version } = app.billing.terms
  await invoke(app, acceptTerms, callerOf(name), { body: { version } })
  await invoke(app, createSubscription, callerOf(name), { body: { quantity, periods: 1 } })
}

async function linkCode(
  app: App,
  name: keyof typeof PEOPLE,
  scopes: readonly Scope[],
  place: 'private' | 'group' = 'private',
): Promise<string> {
  const { output } = await invoke(app, createTelegramLink, callerOf(name), { body: { scopes } })
  return place === 'private'
    ? (new URL(output.url).searchParams.get('start') ?? '')
    : (new URL(output.groupUrl).searchParams.get('startgroup') ?? '')
}

/** Names of the commands in a menu, in order. */
export function menuNames(menu: Menu): readonly string[] {
  return REGISTRY.flatMap(({ commands }) => commands).flatMap(({ name, menus }) =>
    menus.includes(menu) ? [name] : [],
  )
}

/** The address of one of the three people. */
export function walletOf(name: keyof typeof PEOPLE) {
  return PEOPLE[name].account.address
}

interface WatchInput {
  readonly label: string
  /** A balance of Bob's by default. */
  readonly type?: string
  readonly target?: unknown
  readonly settings?: unknown
  readonly recipientIds?: readonly number[]
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
  const { type = 'wallet-balance' } = input
  const target = input.target ?? { address: walletOf('bob'), asset: input.asset ?? 'FLR' }
  const now = clock.now()
  const targetId = await joinTarget(db, { type, key: canonicalJson(target), target })
  // The watch is counted in the account, if there is one.
  await db.execute(
    sql`update accounts set occupied_slots = occupied_slots + 1 where wallet = ${walletOf(name)}`,
  )
  return insertWatch(db, {
    wallet: walletOf(name),
    type,
    targetId,
    label: input.label,
    settings: input.settings ?? { threshold: '100', direction: input.direction ?? 'any' },
    signals: [],
    recipientIds: input.recipientIds === undefined ? null : [...input.recipientIds],
    minSeverity: 'info',
    cooldownSeconds: 0,
    status: input.status === 'paused' ? 'paused' : 'active',
    suspendedAt: input.status === 'suspended' ? now : null,
    mutedUntil: input.mutedUntil ?? null,
    mutedSince: input.mutedUntil === undefined ? null : now,
    version: 1,
    createdAt: now,
    updatedAt: now,
  })
}
