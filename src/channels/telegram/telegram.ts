import { type Api, InputFile } from 'grammy'
import { z } from 'zod'
import { translator } from '#src/i18n/translate.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Address } from '#src/kernel/units.ts'
import { apiSignal } from '#src/telegram/api.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import { finalFailureOf, isRefused, verdictOf } from '#src/telegram/errors.ts'
import { type PostedMessage, type PostResult, post } from '#src/telegram/send.ts'
import { isSilent, worstOf } from '../card/wording.ts'
import {
  type Channel,
  type ChannelDefinition,
  DeliveryError,
  defineChannel,
  type Picture,
  type Receipt,
  type SendContext,
  USUAL_TRAITS,
} from '../define.ts'
import type { Envelope } from '../envelope.ts'
import { rateLimitError } from '../requests/http-answer.ts'
import { TURN_WAIT_MS_MAX } from '../requests/rate-limiter.ts'
import { checkUserUrl } from '../requests/safe-fetch.ts'
import { alertView } from './alert.ts'
import type { TelegramPace } from './pace.ts'
import { REPLY_URGENCY } from './pace-rules.ts'

const TIMEOUT_MS = 15_000
/** Error details if nothing was sent: the send is retried soon, and not counted as an attempt. */
const UNTRIED = { retryAfterSeconds: 1, retryAfterIsMandatory: true, isOurFault: true } as const

/** A chat and its topic. */
export const TelegramDestination = z.strictObject({
  chatId: z.int(),
  threadId: z.int().positive().optional(),
  /** Whether it is a channel, which everybody may read and nobody answers in. */
  isChannel: z.literal(true).exactOptional(),
})
export type TelegramDestination = z.output<typeof TelegramDestination>

/** Dependencies of the chat channel. */
export interface TelegramDeps {
  /** Client of the Bot API, and the pace of the bot; undefined without a bot. */
  readonly telegram: { readonly api: Api; readonly pace: TelegramPace } | undefined
  /** The bot's username without `@`, once it is known; watches and alerts then link to it. */
  readonly botUsername?: () => string | undefined
  /** Origin of the service's pages. */
  readonly publicUrl: string
  /** Whether `publicUrl` may be private, because the stand-in of Telegram is on this machine: tests and sandbox only. */
  readonly allowPrivateUrls: boolean
  /** Timeout of a response; 15 seconds by default. */
  readonly timeoutMs?: number
}

const HtmlPreview = z.object({ html: z.string() })
type HtmlPreview = z.output<typeof HtmlPreview>

/** Chats of the bot; unavailable without a bot. */
export const telegram = {
  ...USUAL_TRAITS,
  kind: 'link',
  isChat: true,
  showsGrowth: true,
  isPersonal: (chatId) => chatId !== null && !isGroupId(chatId),
  preview: { form: HtmlPreview, write: (envelope) => ({ html: alertView(envelope).html }) },
  create: createTelegram,
} as const satisfies ChannelDefinition<HtmlPreview, TelegramDeps>

function createTelegram({
  telegram: access,
  botUsername,
  publicUrl,
  allowPrivateUrls,
  timeoutMs = TIMEOUT_MS,
}: TelegramDeps): Channel<unknown> {
  const readerOf = (destination: TelegramDestination, context: SendContext) =>
    chatReaderOf(destination, context, botUsername?.())
  const requireApi = () => {
    if (access === undefined) throw new DeliveryError('unavailable', { isOurFault: true })
    return { ...access, timeoutMs }
  }
  // Telegram's servers fetch the picture of a message. Where they cannot, it is sent as a photo.
  const isFetched = checkUserUrl(publicUrl, allowPrivateUrls) === undefined
  const pictureUrl = (envelope: Envelope) =>
    isFetched ? pictureUrlOf(publicUrl, envelope) : undefined
  return defineChannel<TelegramDestination>({
    destination: TelegramDestination,
    limits: { capacity: 30, initialLimit: 1, limitMax: 1 },
    isOneService: true,
    isSentByOne: true,
    available: () => access !== undefined,
    mask: ({ chatId }) => `chat …${String(chatId).slice(-4)}`,
    partitionKey: ({ chatId }) => String(chatId),
    send: async (destination, sent, context) => {
      const envelope = inChannel(destination, sent, publicUrl)
      const options = { ...readerOf(destination, context), now: context.now }
      const repliesTo = Number(context.answersMessageId)
      return await postTo(requireApi(), destination, context, urgencyOf(envelope), {
        content: (more) => ({
          ...alertView(envelope, {}, { ...options, ...more }),
          preview: pictureUrl(envelope),
        }),
        ...(Number.isInteger(repliesTo) && { repliesTo }),
        isSilent: isSilent(envelope),
      })
    },
    edit: async (destination, id, sent, state, context) => {
      const envelope = inChannel(destination, sent, publicUrl)
      const options = readerOf(destination, context)
      const urgency = context.isAwaited === true ? REPLY_URGENCY : 0
      return await postTo(requireApi(), destination, context, urgency, {
        content: (more) => ({
          ...alertView(envelope, state, { ...options, ...more }),
          preview: pictureUrl(envelope),
        }),
        messageId: Number(id),
      })
    },
    remove: async (chat, id, context) => removeMessage(requireApi(), chat, Number(id), context),
    pictureUrl,
    ...(!isFetched && {
      sendPicture: async (destination, id, picture, context) =>
        await replyWithPicture(requireApi(), destination, Number(id), picture, context),
    }),
  })
}

/** For whom a message is drawn. A follower can open neither the watch nor its alerts in the chat. */
function chatReaderOf(
  { chatId, isChannel }: TelegramDestination,
  { isReceiveOnly = false, follows }: SendContext,
  botUsername: string | undefined,
) {
  if (isChannel === true) return { isGroup: true, isReceiveOnly: true, isPublic: true }
  const reader = { isGroup: isGroupId(chatId), isReceiveOnly }
  return follows === undefined ? { ...reader, botUsername } : { ...reader, follows }
}

/**
 * A message as a channel shows it: its links lead to the public page of the data provider, if it is about one, because
 * the page of an alert is for its recipients, and names no person.
 */
function inChannel(
  { isChannel }: TelegramDestination,
  envelope: Envelope,
  publicUrl: string,
): Envelope {
  if (isChannel !== true) return envelope
  const provider = Address.safeParse(envelope.data['provider']).data
  const link = provider === undefined ? '' : `${publicUrl}/providers/${provider}`
  const { takenBy: _, items, message, ...rest } = envelope
  return {
    ...rest,
    message: { ...message, link },
    ...(items !== undefined && { items: items.map((item) => ({ ...item, link })) }),
  }
}

/** The page of a message's picture: the same for all readers of a language, as long as the picture is the same. */
function pictureUrlOf(publicUrl: string, { picture, card, locale }: Envelope): string | undefined {
  if (card !== undefined) return new URL(`/cards/week.png?card=${card}`, publicUrl).href
  if (picture === undefined) return undefined
  const url = new URL(`/providers/${picture.provider}/share.png`, publicUrl)
  url.searchParams.set('round', String(picture.round))
  if (locale !== 'en') url.searchParams.set('lang', locale)
  return url.href
}

interface Deps {
  readonly api: Api
  readonly pace: TelegramPace
  readonly timeoutMs: number
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
  message: Pick<PostedMessage, 'content' | 'messageId' | 'repliesTo' | 'isSilent'>,
): Promise<Receipt> {
  return await inTurn(deps, { chatId, urgency, signal }, async (turn) =>
    receiptOf(await post(api, { ...message, chatId, topic, followsGroup: true, turn })),
  )
}

/**
 * Deletes a message when it is the chat's turn. What Telegram no longer deletes, after 48 hours, says instead that it
 * goes on elsewhere.
 *
 * @throws DeliveryError
 */
async function removeMessage(
  { api, ...deps }: Deps,
  { chatId }: TelegramDestination,
  messageId: number,
  { signal, locale }: Pick<SendContext, 'signal'> & { readonly locale: Locale },
): Promise<void> {
  await inTurn(deps, { chatId, urgency: 0, signal }, async (turn) => {
    try {
      await api.deleteMessage(chatId, messageId, apiSignal(await turn(chatId)))
    } catch (error) {
      if (!isRefused(error, 400)) throw error
      const text = translator(locale)('messages:replaced')
      const edit = api.editMessageText(chatId, messageId, text, {}, apiSignal(await turn(chatId)))
      // It was deleted before, or nothing can be done about it.
      await edit.catch((refusal: unknown) => {
        if (!isRefused(refusal, 400)) throw refusal
      })
    }
  })
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
    caption: inertText(caption),
    disable_notification: true,
    reply_parameters: { message_id: messageId },
    ...(topic !== undefined && { message_thread_id: topic }),
  }
  await inTurn(deps, { chatId, urgency: 0, signal }, async (turn) => {
    const abortSignal = apiSignal(await turn(chatId))
    await api.sendPhoto(chatId, new InputFile(png, 'rounds.png'), options, abortSignal)
  })
}

/**
 * Runs calls of the Bot API. `run` calls `turn` before each, which waits until the chat may be sent to.
 *
 * @throws DeliveryError
 */
async function inTurn<Result>(
  { pace, timeoutMs }: Omit<Deps, 'api'>,
  request: { readonly chatId: number; readonly urgency: number; readonly signal: AbortSignal },
  run: (turn: (chatId: number) => Promise<AbortSignal>) => Promise<Result>,
): Promise<Result> {
  const { urgency, signal } = request
  let { chatId } = request
  const turn = async (id: number) => {
    chatId = id
    const options = { patienceMs: TURN_WAIT_MS_MAX, urgency, signal }
    // A reply to a press waits for the bot's limit only, as the bot's own screens do.
    const isReply = urgency === REPLY_URGENCY
    const earlyMs = await pace.turn(isReply ? undefined : id, options).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new DeliveryError('unavailable', { ...UNTRIED, cause: error })
    })
    if (earlyMs !== undefined) throw rateLimitError(earlyMs / 1000)
    return AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  }
  try {
    return await run(turn)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof DeliveryError) throw error
    const failure = finalFailureOf(verdictOf(error))
    const { reason, retryAfterIsMandatory, retryAfterSeconds = 0 } = failure
    if (retryAfterIsMandatory) await pace.flooded(chatId, retryAfterSeconds * 1000)
    throw new DeliveryError(reason, failure)
  }
}

function receiptOf(posted: PostResult): Receipt {
  if (posted.kind === 'gone') return {}
  const { chatId, topic, moved } = posted
  const movedTo = { chatId, ...(topic !== undefined && { threadId: topic }) }
  return { messageId: String(posted.messageId), ...(moved !== undefined && { movedTo, moved }) }
}

/** Urgency of a message: critical first, then warning, then info and recoveries, then changed messages. */
function urgencyOf({ message, items = [] }: Envelope): number {
  const worst = worstOf([message, ...items]) ?? message
  return 1 + (worst.isRecovery ? 0 : SEVERITIES.indexOf(worst.severity))
}
