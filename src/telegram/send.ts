import type { Api } from 'grammy'
import type { LinkPreviewOptions } from 'grammy/types'
import type { Locale } from '#src/kernel/locale.ts'
import { apiSignal } from './api.ts'
import { markupOf, type Rows, withoutLinks } from './buttons.ts'
import { type EditVerdict, verdictOf } from './errors.ts'

/** Content of a message, with and without markup. */
export interface MessageContent {
  /** The text in Telegram's HTML. */
  readonly html: string
  /** The text without markup. */
  readonly plain: string
  readonly rows: Rows
  /** Language of the text. */
  readonly locale: Locale
  /** URL of the picture that Telegram fetches and shows below the text; absent for none. */
  readonly preview?: string | undefined
}

/** A message to send or to change. */
export interface PostedMessage {
  readonly chatId: number
  /** Id of the topic of a new message; absent for none. */
  readonly topic?: number | undefined
  /** The message to change; absent for a new one. */
  readonly messageId?: number
  /**
   * @param linksAsText whether links to pages must be in the text, because Telegram refused them on buttons
   */
  readonly content: (options: { readonly linksAsText: boolean }) => MessageContent
  /** Id of the message to which a new message replies; no effect if that was deleted. */
  readonly repliesTo?: number
  readonly isSilent?: boolean
  /** Whether a new message is sent to the new id of a group if the group has one. */
  readonly followsGroup?: boolean
  /**
   * Waits for the chat's turn; called before each call of the API.
   *
   * @returns the signal that aborts the call
   */
  readonly turn?: (chatId: number) => Promise<AbortSignal>
  /** Called with each error after which the message is tried in a simpler form. */
  readonly onRefused?: (error: unknown, verdict: EditVerdict) => void
}

/** A message that is in the chat now. `unchanged`: it already had this content. */
interface PostSuccess {
  readonly kind: 'done' | 'unchanged'
  readonly messageId: number
  readonly chatId: number
  readonly topic: number | undefined
  /** Reason why the message is in another place: the group has another id, or the topic was deleted. */
  readonly moved: 'migrated' | 'topic_gone' | undefined
}

/** Result of sending or changing a message. `gone`: the message to change was deleted, or its group has a new id. */
export type PostResult = PostSuccess | { readonly kind: 'gone' }

/** Form in which a message is tried. Each refused form is followed by a simpler one. */
interface MessageForm {
  readonly chatId: number
  readonly topic: number | undefined
  readonly moved: 'migrated' | 'topic_gone' | undefined
  readonly isPlain: boolean
  readonly hasPreview: boolean
  readonly buttons: 'all' | 'no_links' | 'none'
}

/**
 * Maximum number of forms: the full one, and one more for each of plain text, no preview, no links on buttons, no buttons, no
 * topic and the new id of the group.
 */
const FORMS_MAX = 7

/**
 * Sends a message, or changes the one with `messageId`. Tries simpler forms while Telegram refuses a part of it.
 *
 * @throws the API's error if no simpler form is left; errors of `turn`
 */
export async function post(
  api: Api,
  wanted: PostedMessage & { messageId?: never },
): Promise<PostSuccess>
export async function post(api: Api, wanted: PostedMessage): Promise<PostResult>
export async function post(api: Api, wanted: PostedMessage): Promise<PostResult> {
  const { chatId, topic, messageId } = wanted
  let form: MessageForm = {
    ...{ chatId, topic, moved: undefined },
    ...{ isPlain: false, hasPreview: true, buttons: 'all' },
  }
  for (let tries = 1; ; tries += 1) {
    const signal = await wanted.turn?.(form.chatId)
    const where = { chatId: form.chatId, topic: form.topic, moved: form.moved }
    try {
      return { kind: 'done', messageId: await callApi(api, wanted, form, signal), ...where }
    } catch (error) {
      const verdict = verdictOf(error)
      if (verdict.kind === 'settled' && messageId !== undefined) {
        return verdict.gone ? { kind: 'gone' } : { kind: 'unchanged', messageId, ...where }
      }
      const next = tries < FORMS_MAX ? simplerForm(form, verdict, wanted) : undefined
      if (next === undefined) throw error
      // In the chat with the new id, the old message id belongs to another message.
      if (verdict.kind === 'send_to' && messageId !== undefined) return { kind: 'gone' }
      wanted.onRefused?.(error, verdict)
      form = next
    }
  }
}

/**
 * Sends or changes a message in one form.
 *
 * @returns the message's id
 */
async function callApi(
  api: Api,
  { content, messageId, repliesTo, isSilent }: PostedMessage,
  { chatId, topic, moved, isPlain, hasPreview, buttons }: MessageForm,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { html, plain, rows: all, locale, preview } = content({ linksAsText: buttons !== 'all' })
  const rows = buttons === 'all' ? all : buttons === 'no_links' ? withoutLinks(all) : []
  const text = isPlain ? plain : html
  const common = {
    ...(!isPlain && { parse_mode: 'HTML' as const }),
    link_preview_options: previewOptions(hasPreview ? preview : undefined),
  }
  const ends = signal && apiSignal(signal)
  if (messageId !== undefined) {
    const options = { ...common, reply_markup: markupOf(rows, locale) }
    await api.editMessageText(chatId, messageId, text, options, ends)
    return messageId
  }
  const options = {
    ...common,
    ...(topic !== undefined && { message_thread_id: topic }),
    // In the chat with the new id, the old message id belongs to another message.
    ...(repliesTo !== undefined &&
      moved !== 'migrated' && {
        reply_parameters: { message_id: repliesTo, allow_sending_without_reply: true },
      }),
    ...(rows.length > 0 && { reply_markup: markupOf(rows, locale) }),
    ...(isSilent !== undefined && { disable_notification: isSilent }),
  }
  const sent = await api.sendMessage(chatId, text, options, ends)
  return sent.message_id
}

/** No link in a text has a preview, only a picture that belongs to the message. */
function previewOptions(url: string | undefined): LinkPreviewOptions {
  return url === undefined
    ? { is_disabled: true }
    : { url, prefer_large_media: true, show_above_text: false }
}

/** The form that avoids an error; undefined if there is none. */
function simplerForm(
  form: MessageForm,
  verdict: EditVerdict,
  { followsGroup }: PostedMessage,
): MessageForm | undefined {
  switch (verdict.kind) {
    case 'send_plain':
      return form.isPlain ? undefined : { ...form, isPlain: true }
    case 'send_without_preview':
      return form.hasPreview ? { ...form, hasPreview: false } : undefined
    case 'send_without_button':
      if (form.buttons === 'none') return undefined
      return { ...form, buttons: form.buttons === 'all' ? 'no_links' : 'none' }
    case 'send_without_thread':
      return form.topic === undefined
        ? undefined
        : { ...form, topic: undefined, moved: 'topic_gone' }
    case 'send_to':
      return followsGroup !== true || verdict.chatId === form.chatId
        ? undefined
        : { ...form, chatId: verdict.chatId, moved: 'migrated' }
    case 'settled':
    case 'fail':
      return undefined
    default:
      return verdict satisfies never
  }
}
