import { type Api, GrammyError, HttpError } from 'grammy'
import { z } from 'zod'
import { translate } from '#src/i18n/translate.ts'
import {
  type Channel,
  DeliveryError,
  defineChannel,
  type Envelope,
  type Receipt,
  type SendContext,
} from './define.ts'
import { createPace, type Pace } from './pace.ts'
import { judgeRefusal, type Verdict } from './telegram-errors.ts'
import { chatText } from './telegram-html.ts'
import { isOpenLink, isSilent } from './wording.ts'

const TIMEOUT_MS = 15_000
/** Telegram's limits: one message a second to a chat, 30 a second in all. */
const CHAT_MS = 1000
const ALL_MS = 34
/** A turn further away than this is left to the outbox, so that no worker waits long. */
const PATIENCE_MS = 5000
/** Plain text, no button, no topic, another chat: each once. */
const FORMS_MAX = 5

/** A chat, and the topic in it. */
export const TelegramDestination = z.strictObject({
  chatId: z.int(),
  threadId: z.int().positive().optional(),
})
export type TelegramDestination = z.output<typeof TelegramDestination>

/** What the chat channel speaks through. */
export interface TelegramDeps {
  /** The Bot API client; undefined: there is no bot. */
  readonly telegram: Api | undefined
  /** Longest wait for an answer; 15 seconds unless given. */
  readonly timeoutMs?: number
}

/** Writes to chats through the bot; without a bot the channel is off. */
export function createTelegram({
  telegram: api,
  timeoutMs = TIMEOUT_MS,
}: TelegramDeps): Channel<unknown> {
  const pace = createPace({ allMs: ALL_MS, keyMs: CHAT_MS, now: () => performance.now() })
  return defineChannel<TelegramDestination>({
    key: 'telegram',
    kind: 'link',
    destination: TelegramDestination,
    available: () => api !== undefined,
    mask: ({ chatId }) => `chat …${String(chatId).slice(-4)}`,
    lane: ({ chatId }) => String(chatId),
    send: async (destination, envelope, context) => {
      if (api === undefined) throw new DeliveryError('unavailable', { ours: true })
      return sendAlert({ api, pace, timeoutMs }, destination, envelope, context)
    },
  })
}

interface Sending {
  readonly api: Api
  readonly pace: Pace
  readonly timeoutMs: number
}

/** How one message is being sent; each form falls back to a simpler one at most once. */
interface Form {
  readonly destination: TelegramDestination
  readonly isPlain: boolean
  readonly hasButton: boolean
}

async function sendAlert(
  deps: Sending,
  destination: TelegramDestination,
  envelope: Envelope,
  context: SendContext,
): Promise<Receipt> {
  let form: Form = { destination, isPlain: false, hasButton: isOpenLink(envelope.message.link) }
  for (let tries = 0; tries < FORMS_MAX; tries += 1) {
    const verdict = await tryForm(deps, form, envelope, context)
    if (verdict === undefined) {
      return form.destination === destination ? {} : { movedTo: form.destination }
    }
    const next = simpler(form, verdict)
    if (next === undefined) break
    form = next
  }
  throw new DeliveryError('refused', { statusCode: 400 })
}

/**
 * Sends once. undefined when it was taken.
 *
 * @throws DeliveryError when no other form would help
 */
async function tryForm(
  { api, pace, timeoutMs }: Sending,
  form: Form,
  envelope: Envelope,
  context: SendContext,
): Promise<Exclude<Verdict, { kind: 'fail' }> | undefined> {
  const { chatId, threadId } = form.destination
  const key = String(chatId)
  const earlyMs = await pace.turn(key, PATIENCE_MS, context.signal)
  if (earlyMs !== undefined) {
    const retryAfterSeconds = Math.ceil(earlyMs / 1000)
    throw new DeliveryError('flood', { retryAfterSeconds, binding: true, ours: true })
  }
  const text = chatText(envelope, { linkAsText: !form.hasButton })
  try {
    await api.sendMessage(
      chatId,
      form.isPlain ? text.plain : text.html,
      {
        ...(form.isPlain ? {} : { parse_mode: 'HTML' as const }),
        ...(threadId === undefined ? {} : { message_thread_id: threadId }),
        ...(form.hasButton ? { reply_markup: detailsButton(envelope) } : {}),
        link_preview_options: { is_disabled: true },
        disable_notification: isSilent(envelope.message),
      },
      asApiSignal(AbortSignal.any([context.signal, AbortSignal.timeout(timeoutMs)])),
    )
    return undefined
  } catch (error) {
    context.signal.throwIfAborted()
    const verdict = judge(error)
    if (verdict.kind !== 'fail') return verdict
    const { binding, retryAfterSeconds = 0 } = verdict.error
    if (binding) pace.hold(key, retryAfterSeconds * 1000)
    throw verdict.error
  }
}

/** grammY names the type of an older package; what Node makes has all of its members. */
function asApiSignal(signal: AbortSignal): NonNullable<Parameters<Api['sendMessage']>[3]> {
  return signal as unknown as NonNullable<Parameters<Api['sendMessage']>[3]>
}

function judge(error: unknown): Verdict {
  if (error instanceof GrammyError) {
    const { retry_after, migrate_to_chat_id } = error.parameters
    return judgeRefusal({
      code: error.error_code,
      description: error.description,
      ...(retry_after === undefined ? {} : { retryAfterSeconds: retry_after }),
      ...(migrate_to_chat_id === undefined ? {} : { migrateToChatId: migrate_to_chat_id }),
    })
  }
  const isNetwork = error instanceof HttpError
  const isAborted = isNetwork && error.error instanceof Error && error.error.name === 'AbortError'
  if (!isNetwork) throw error
  return {
    kind: 'fail',
    error: new DeliveryError(isAborted ? 'timeout' : 'unreachable', { ours: true }),
  }
}

function simpler(form: Form, verdict: Exclude<Verdict, { kind: 'fail' }>): Form | undefined {
  const { chatId, threadId } = form.destination
  switch (verdict.kind) {
    case 'send_plain':
      return form.isPlain ? undefined : { ...form, isPlain: true }
    case 'send_without_button':
      return form.hasButton ? { ...form, hasButton: false } : undefined
    case 'send_without_thread':
      return threadId === undefined ? undefined : { ...form, destination: { chatId } }
    case 'send_to':
      return verdict.chatId === chatId
        ? undefined
        : { ...form, destination: { ...form.destination, chatId: verdict.chatId } }
    default:
      return verdict satisfies never
  }
}

function detailsButton({ locale, message }: Envelope) {
  const text = translate(locale, 'messages:details')
  return { inline_keyboard: [[{ text, url: message.link }]] }
}
