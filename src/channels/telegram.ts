import { type Api, InputFile } from 'grammy'
import { z } from 'zod'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { apiSignal } from '#src/telegram/api.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import { verdictOf } from '#src/telegram/errors.ts'
import { ALL_MS, CHAT_MS, GROUP_WINDOW } from '#src/telegram/limits.ts'
import { type Post, type Posted, post } from '#src/telegram/send.ts'
import {
  type Channel,
  type ChannelDefinition,
  DeliveryError,
  defineChannel,
  type Picture,
  type Receipt,
  type SendContext,
  USUAL_TRAITS,
} from './define.ts'
import type { Envelope } from './envelope.ts'
import { floodError } from './http-answer.ts'
import { createRateLimiter, type RateLimiter, TURN_WAIT_MS_MAX } from './rate-limiter.ts'
import { alertView } from './telegram-alert.ts'
import { isSilent, worstOf } from './wording.ts'

const TIMEOUT_MS = 15_000

/** A chat and its topic. */
export const TelegramDestination = z.strictObject({
  chatId: z.int(),
  threadId: z.int().positive().optional(),
})
export type TelegramDestination = z.output<typeof TelegramDestination>

/** Dependencies of the chat channel. */
export interface TelegramDeps {
  /** Client of the Bot API; undefined without a bot. */
  readonly telegram: Api | undefined
  /** The bot's username without `@`, once it is known; watches and alerts then link to it. */
  readonly botUsername?: () => string | undefined
  /** Longest wait for a response, in milliseconds; 15 seconds by default. */
  readonly timeoutMs?: number
  /** Minimum interval between two messages to a chat, in milliseconds; one second by default. */
  readonly chatMs?: number
}

const HtmlPreview = z.object({ html: z.string() })
type HtmlPreview = z.output<typeof HtmlPreview>

/** Chats of the bot; unavailable without a bot. */
export const telegram = {
  ...USUAL_TRAITS,
  kind: 'link',
  isChat: true,
  isPersonal: (chatId) => chatId !== null && !isGroupId(chatId),
  preview: { form: HtmlPreview, write: (envelope) => ({ html: alertView(envelope).html }) },
  create: createTelegram,
} as const satisfies ChannelDefinition<HtmlPreview, TelegramDeps>

function createTelegram({
  telegram: api,
  botUsername,
  timeoutMs = TIMEOUT_MS,
  chatMs = CHAT_MS,
}: TelegramDeps): Channel<unknown> {
  const pace = createRateLimiter({
    allMs: ALL_MS,
    keyMs: chatMs,
    windowOf: (key) => (isGroupId(Number(key)) ? GROUP_WINDOW : undefined),
    now: () => performance.now(),
  })
  const floods = createFloods(pace)
  const readerOf = ({ chatId }: TelegramDestination) => ({
    isGroup: isGroupId(chatId),
    botUsername: botUsername?.(),
  })
  const requireApi = () => {
    if (api === undefined) throw new DeliveryError('unavailable', { isOurFault: true })
    return { api, pace, floods, timeoutMs }
  }
  return defineChannel<TelegramDestination>({
    destination: TelegramDestination,
    limits: { room: 30, initialLimit: 1, limitMax: 1 },
    isOneService: true,
    available: () => api !== undefined,
    mask: ({ chatId }) => `chat …${String(chatId).slice(-4)}`,
    partitionKey: ({ chatId }) => String(chatId),
    send: async (destination, envelope, context) => {
      const options = { ...readerOf(destination), now: context.now }
      const repliesTo = Number(context.answersMessageId)
      return await postTo(requireApi(), destination, context, urgencyOf(envelope), {
        content: (more) => alertView(envelope, {}, { ...options, ...more }),
        ...(Number.isInteger(repliesTo) && { repliesTo }),
        isSilent: isSilent(envelope),
      })
    },
    edit: async (destination, id, envelope, state, context) => {
      const options = readerOf(destination)
      return await postTo(requireApi(), destination, context, 0, {
        content: (more) => alertView(envelope, state, { ...options, ...more }),
        messageId: Number(id),
      })
    },
    sendPicture: async (destination, id, picture, context) =>
      await replyWithPicture(requireApi(), destination, Number(id), picture, context),
  })
}

interface Deps {
  readonly api: Api
  readonly pace: RateLimiter
  readonly floods: Floods
  readonly timeoutMs: number
}

/** If this many chats get a 429 within this time, the limit is the bot's. */
const FLOODS_OF_BOT = { chats: 3, withinMs: 10_000 } as const

/** Chats with a 429, and their waits. */
interface Floods {
  note(chat: string, ms: number): void
}

/**
 * Obeys Telegram's 429 responses. Usually only the chat waits. If several chats get one at about the same
 * time, the limit is the bot's: all chats wait for the shortest of these waits, because a busy group may
 * have a longer one of its own.
 */
function createFloods(pace: RateLimiter): Floods {
  const floods = new Map<string, { readonly at: number; readonly until: number }>()
  return {
    note(chat, ms) {
      const now = performance.now()
      for (const [other, { at }] of floods) {
        if (now - at > FLOODS_OF_BOT.withinMs) floods.delete(other)
      }
      floods.set(chat, { at: now, until: now + ms })
      pace.hold(chat, ms)
      if (floods.size < FLOODS_OF_BOT.chats) return
      const ends = [...floods.values()].map(({ until }) => until)
      pace.holdAll(Math.max(0, Math.min(...ends) - now))
    },
  }
}

/**
 * Sends or changes a message when it is the chat's turn.
 *
 * @throws DeliveryError
 */
async function postTo(
  { api, ...deps }: Deps,
  { chatId, threadId: topic }: TelegramDestination,
  { signal }: SendContext,
  urgency: number,
  message: Pick<Post, 'content' | 'messageId' | 'repliesTo' | 'isSilent'>,
): Promise<Receipt> {
  return await inTurn(deps, { chatId, urgency, signal }, async (turn) =>
    receiptOf(await post(api, { ...message, chatId, topic, followsGroup: true, turn })),
  )
}

/**
 * Replies to a message with a picture when it is the chat's turn.
 *
 * @throws DeliveryError
 */
async function replyWithPicture(
  { api, ...deps }: Deps,
  { chatId, threadId: topic }: TelegramDestination,
  messageId: number,
  { png, caption }: Picture,
  { signal }: Pick<SendContext, 'signal'>,
): Promise<void> {
  const options = {
    caption,
    disable_notification: true,
    reply_parameters: { message_id: messageId },
    ...(topic !== undefined && { message_thread_id: topic }),
  }
  await inTurn(deps, { chatId, urgency: 0, signal }, async (turn) => {
    const ends = apiSignal(await turn(chatId))
    await api.sendPhoto(chatId, new InputFile(png, 'rounds.png'), options, ends)
  })
}

/**
 * Calls the Bot API for a chat, which waits for its turn before each call.
 *
 * @throws DeliveryError
 */
async function inTurn<Result>(
  { pace, floods, timeoutMs }: Omit<Deps, 'api'>,
  of: { readonly chatId: number; readonly urgency: number; readonly signal: AbortSignal },
  run: (turn: (chatId: number) => Promise<AbortSignal>) => Promise<Result>,
): Promise<Result> {
  const { urgency, signal } = of
  let key = String(of.chatId)
  const turn = async (id: number) => {
    key = String(id)
    const earlyMs = await pace.turn(key, { patienceMs: TURN_WAIT_MS_MAX, urgency, signal })
    if (earlyMs !== undefined) throw floodError(earlyMs / 1000)
    return AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  }
  try {
    return await run(turn)
  } catch (error) {
    signal.throwIfAborted()
    const verdict = verdictOf(error)
    if (verdict.kind !== 'fail') throw new DeliveryError('refused', { statusCode: 400 })
    const { reason, retryAfterIsMandatory, retryAfterSeconds = 0 } = verdict.error
    if (retryAfterIsMandatory) floods.note(key, retryAfterSeconds * 1000)
    throw new DeliveryError(reason, verdict.error)
  }
}

function receiptOf(posted: Posted): Receipt {
  if (posted.kind === 'gone') return {}
  const { chatId, topic, moved } = posted
  const movedTo = { chatId, ...(topic !== undefined && { threadId: topic }) }
  return { messageId: String(posted.messageId), ...(moved !== undefined && { movedTo, moved }) }
}

/** Critical goes first, then warning, then info and recoveries, then changed messages. */
function urgencyOf({ message, items = [] }: Envelope): number {
  const worst = worstOf([message, ...items]) ?? message
  return 1 + (worst.isRecovery ? 0 : SEVERITIES.indexOf(worst.severity))
}
