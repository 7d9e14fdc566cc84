import { Bot, BotError } from 'grammy'
import type { Message, Update } from 'grammy/types'
import type { TelegramPace } from '#src/channels/telegram/pace.ts'
import { translator } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { API_TIMEOUT_SECONDS, type ApiAccess, onLimited } from '#src/telegram/api.ts'
import { describe } from '#src/telegram/errors.ts'
import { post } from '#src/telegram/send.ts'
import { apology } from '../views/refusals.ts'
import type { BotContext } from './context.ts'
import type { BotParts } from './feature.ts'
import type { UpdateHandler } from './inbox.ts'
import { answering } from './middleware/answering.ts'
import { errors } from './middleware/errors.ts'
import { flood } from './middleware/flood.ts'
import { guard } from './middleware/guard.ts'
import { identify } from './middleware/identify.ts'
import { questions } from './middleware/questions.ts'
import { paceCalls } from './paced.ts'
import { contentOf } from './show.ts'
import { findChat } from './store.ts'

/** The Bot API, and the pace of the bot. */
export interface PacedAccess extends ApiAccess {
  readonly pace: TelegramPace
}

interface BotOptions extends PacedAccess {
  readonly app: App
  readonly parts: BotParts
  /** Time after which a press is answered, although its handler still works. */
  readonly patienceMs?: number
}

/** Creates the bot with all its features. It sends no request before it gets an update. */
export function createBot({ app, parts, patienceMs, ...access }: BotOptions): Bot<BotContext> {
  const { features, inlineQueries, channelUpdates } = parts
  const client = { apiRoot: access.apiRoot, timeoutSeconds: API_TIMEOUT_SECONDS }
  const bot = new Bot<BotContext>(access.token, { client })
  // The rate limiter wraps the counter, so only Telegram's own 429s are counted, not local ones.
  paceCalls(onLimited(bot.api, app.meters.countTelegramLimit), access.pace)
  bot.use(answering(app, patienceMs), flood(app), inlineQueries(app), channelUpdates(app))
  bot.use(identify(app), errors, guard)
  bot.use(questions(() => features.flatMap((feature) => feature.questions ?? [])))
  for (const { composer } of features) bot.use(composer)
  return bot
}

/**
 * Handler of updates for the inbox: the bot handles each update, and apologizes for an update that is given
 * up.
 */
export function updateHandler(app: App, bot: Bot<BotContext>): UpdateHandler {
  return {
    handle: (update) => handle(bot, update),
    giveUp: (update) => apologize(app, bot, update),
  }
}

/** grammY wraps errors of handlers; the inbox needs the original error. */
async function handle(bot: Bot<BotContext>, update: Update): Promise<void> {
  try {
    await bot.handleUpdate(update)
  } catch (error) {
    throw error instanceof BotError ? error.error : error
  }
}

/** Tells a waiting person that the update was not handled. Never throws. */
async function apologize(app: App, bot: Bot<BotContext>, update: Update): Promise<void> {
  const { message, callback_query: query } = update
  const place = query?.message ?? (isAsking(message) ? message : undefined)
  if (place === undefined) return
  try {
    const known = await findChat(app.db, place.chat.id)
    const isGroup = place.chat.type !== 'private'
    const { username } = bot.botInfo
    const t = translator(known?.locale ?? 'en')
    const reader = { t, timezone: 'UTC', isGroup, bot: username }
    const view = apology(reader, update.update_id, query?.data)
    const topic = place.is_topic_message ? place.message_thread_id : undefined
    await post(bot.api, { chatId: place.chat.id, topic, content: () => contentOf(view, t.locale) })
  } catch (error) {
    app.log.warn(
      { updateId: update.update_id, error: describe(error) },
      'apology could not be sent',
    )
  }
}

/**
 * Whether a person waits for a response: the writer of a private message, or of a command in a
 * group.
 */
function isAsking(message: Message | undefined): boolean {
  return message?.chat.type === 'private' || message?.text?.startsWith('/') === true
}
