import type { Api } from 'grammy'
import { z } from 'zod'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { markupOf } from '#src/telegram/buttons.ts'
import { type EditVerdict, verdictOf } from '#src/telegram/errors.ts'
import { ALL_MS, CHAT_MS, GROUP_WINDOW } from '#src/telegram/limits.ts'
import {
  type Channel,
  type ChannelDefinition,
  DeliveryError,
  defineChannel,
  type Envelope,
  type Receipt,
  type SendContext,
  USUAL_TRAITS,
} from './define.ts'
import { floodError } from './http-answer.ts'
import { createRateLimiter, type RateLimiter, TURN_WAIT_MS_MAX } from './rate-limiter.ts'
import { type AlertView, type AlertViewOptions, alertView } from './telegram-alert.ts'
import { isSilent, worstOf } from './wording.ts'

const TIMEOUT_MS = 15_000
/** Plain text, no links on buttons, no buttons, no topic, another chat: each once. */
const FORMS_MAX = 6

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
  /** The bot's name without `@`, once it is known: watches and alerts then lead to it. */
  readonly botUsername?: () => string | undefined
  /** Longest wait for an answer; 15 seconds unless given. */
  readonly timeoutMs?: number
  /** Least time between two messages to a chat; a second unless given. */
  readonly chatMs?: number
}

const HtmlPreview = z.object({ html: z.string() })
type HtmlPreview = z.output<typeof HtmlPreview>

/** Chats of the bot; without a bot the channel is off. */
export const telegram = {
  ...USUAL_TRAITS,
  kind: 'link',
  isChat: true,
  isPersonal: (chatId) => chatId !== null && !isGroup(chatId),
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
    windowOf: (key) => (isGroup(Number(key)) ? GROUP_WINDOW : undefined),
    now: () => performance.now(),
  })
  const floods = createFloods(pace)
  const readerOf = ({ chatId }: TelegramDestination) => ({
    isGroup: isGroup(chatId),
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
      const view = (more: AlertViewOptions) => alertView(envelope, {}, { ...options, ...more })
      const urgency = urgencyOf(envelope)
      return await inSomeForm(requireApi(), { destination, view, urgency, context }, (call) =>
        sendMessage(call, envelope, context),
      )
    },
    edit: async (destination, id, envelope, state, context) => {
      const options = readerOf(destination)
      const view = (more: AlertViewOptions) => alertView(envelope, state, { ...options, ...more })
      const messageId = Number(id)
      const wish = { destination, view, urgency: 0, messageId, context }
      return await inSomeForm(requireApi(), wish, (call) => editMessage(call, messageId))
    },
  })
}

interface Deps {
  readonly api: Api
  readonly pace: RateLimiter
  readonly floods: Floods
  readonly timeoutMs: number
}

/** So many chats that are told to wait within so long mean that the limit is the bot's. */
const FLOODS_OF_BOT = { chats: 3, withinMs: 10_000 } as const

/** Which chats were told to wait, and for how long. */
interface Floods {
  note(chat: string, ms: number): void
}

/**
 * Keeps to what Telegram asks. A chat that is told to wait waits alone. When several are told so at about the
 * same time, the limit is the bot's, and all of its chats wait, as long as the one with the shortest wait: a busy
 * group may have a long wait of its own.
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

/** What is to be said, in whatever form it is taken. */
interface Wish {
  readonly destination: TelegramDestination
  readonly view: (options: AlertViewOptions) => AlertView
  readonly urgency: number
  /** The message to be changed. */
  readonly messageId?: number
  readonly context: SendContext
}

/** How one message is being sent; each form falls back to a simpler one at most once. */
interface Form {
  readonly destination: TelegramDestination
  readonly isPlain: boolean
  readonly buttons: 'all' | 'no_links' | 'none'
}

/** One call of the Bot API. */
interface Call {
  readonly api: Api
  readonly destination: TelegramDestination
  readonly view: AlertView
  readonly isPlain: boolean
  readonly signal: ApiSignal
}

interface Taken {
  readonly kind: 'taken'
  /** Absent where the message to be changed is gone. */
  readonly messageId?: string
}

type ApiSignal = NonNullable<Parameters<Api['sendMessage']>[3]>

/**
 * Calls until a form is taken. Gives the message's id, and the destination where it is another now.
 *
 * @throws DeliveryError
 */
async function inSomeForm(
  deps: Deps,
  wish: Wish,
  call: (call: Call) => Promise<string>,
): Promise<Receipt> {
  const { destination } = wish
  let form: Form = { destination, isPlain: false, buttons: 'all' }
  let moved: Receipt['moved']
  for (let tries = 0; tries < FORMS_MAX; tries += 1) {
    const result = await tryForm(deps, form, wish, call)
    if (result.kind === 'taken') {
      const { kind: _, ...name } = result
      return { ...name, ...(moved !== undefined && { movedTo: form.destination, moved }) }
    }
    const next = simpler(form, result)
    if (next === undefined) break
    if (result.kind === 'send_to') {
      // The new chat has messages of its own under the old ids.
      if (wish.messageId !== undefined) return {}
      moved = 'migrated'
    }
    if (result.kind === 'send_without_thread') moved = 'topic_gone'
    form = next
  }
  throw new DeliveryError('refused', { statusCode: 400 })
}

/**
 * Calls once, when it is the chat's turn.
 *
 * @throws DeliveryError when no other form would help
 */
async function tryForm(
  { api, pace, floods, timeoutMs }: Deps,
  form: Form,
  wish: Wish,
  call: (call: Call) => Promise<string>,
): Promise<Taken | Exclude<EditVerdict, { kind: 'fail' | 'settled' }>> {
  const { destination, isPlain, buttons } = form
  const { view, urgency, context } = wish
  const key = String(destination.chatId)
  const { signal } = context
  const earlyMs = await pace.turn(key, { patienceMs: TURN_WAIT_MS_MAX, urgency, signal })
  if (earlyMs !== undefined) throw floodError(earlyMs / 1000)
  const shown = view({ linksAsText: buttons !== 'all' })
  const either = asApiSignal(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
  const rows = buttons === 'none' ? [] : shown.rows
  try {
    const messageId = await call({
      api,
      destination,
      view: { ...shown, rows },
      isPlain,
      signal: either,
    })
    return { kind: 'taken', messageId }
  } catch (error) {
    signal.throwIfAborted()
    const verdict = verdictOf(error)
    if (verdict.kind === 'settled') {
      return { kind: 'taken', ...(!verdict.gone && { messageId: String(wish.messageId) }) }
    }
    if (verdict.kind !== 'fail') return verdict
    const { retryAfterIsMandatory: binding, retryAfterSeconds = 0 } = verdict.error
    if (binding) floods.note(key, retryAfterSeconds * 1000)
    throw new DeliveryError(verdict.error.reason, verdict.error)
  }
}

async function sendMessage(
  { api, destination, view, isPlain, signal }: Call,
  envelope: Envelope,
  { answersMessageId }: SendContext,
): Promise<string> {
  const { chatId, threadId } = destination
  const answered = Number(answersMessageId)
  const message = await api.sendMessage(
    chatId,
    isPlain ? view.plain : view.html,
    {
      ...(isPlain ? {} : { parse_mode: 'HTML' as const }),
      ...(threadId === undefined ? {} : { message_thread_id: threadId }),
      ...(Number.isInteger(answered) && {
        reply_parameters: { message_id: answered, allow_sending_without_reply: true },
      }),
      ...(view.rows.length === 0 ? {} : { reply_markup: markupOf(view.rows) }),
      link_preview_options: { is_disabled: true },
      disable_notification: isSilent(envelope),
    },
    signal,
  )
  return String(message.message_id)
}

async function editMessage(
  { api, destination, view, isPlain, signal }: Call,
  messageId: number,
): Promise<string> {
  await api.editMessageText(
    destination.chatId,
    messageId,
    isPlain ? view.plain : view.html,
    {
      ...(isPlain ? {} : { parse_mode: 'HTML' as const }),
      reply_markup: markupOf(view.rows),
      link_preview_options: { is_disabled: true },
    },
    signal,
  )
  return String(messageId)
}

/** grammY names the type of an older package; what Node makes has all of its members. */
function asApiSignal(signal: AbortSignal): ApiSignal {
  return signal as unknown as ApiSignal
}

/** Groups have negative ids. */
function isGroup(chatId: number): boolean {
  return chatId < 0
}

/** Critical messages go first, then warnings; a recovery is as urgent as info, a changed message less. */
function urgencyOf({ message, items = [] }: Envelope): number {
  const worst = worstOf([message, ...items]) ?? message
  return 1 + (worst.isRecovery ? 0 : SEVERITIES.indexOf(worst.severity))
}

function simpler(
  form: Form,
  verdict: Exclude<EditVerdict, { kind: 'fail' | 'settled' }>,
): Form | undefined {
  const { chatId, threadId } = form.destination
  switch (verdict.kind) {
    case 'send_plain':
      return form.isPlain ? undefined : { ...form, isPlain: true }
    case 'send_without_button':
      if (form.buttons === 'none') return undefined
      return { ...form, buttons: form.buttons === 'all' ? 'no_links' : 'none' }
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
