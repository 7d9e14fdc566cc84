import {
  type Arguments,
  flagArgument,
  flagField,
  integerArgument,
  isObject,
  jsonArgument,
  textArgument,
  textField,
} from '../arguments.ts'
import type { Backend } from '../backend.ts'
import { accessibleChat } from '../chat-store.ts'
import { detectEntities, storedEntities } from '../entities.ts'
import { parseHtml } from '../html.ts'
import { checkKeyboardFits, type Markup, readMarkup } from '../keyboard.ts'
import type { MessageToAdd } from '../messages.ts'
import type { Chat, ChatMessage, Entity, FormattedText, GroupChat, LinkPreview } from '../model.ts'
import { badRequest } from '../refusal.ts'
import { checkCaption, checkText, SOURCE_BYTES_MAX, storedText } from '../text.ts'

/** Parameters of a text with its markup. */
type TextField = 'text' | 'caption'

/**
 * The parsed message text of a call, within its limits.
 *
 * @throws BotApiRefusal 400 empty, too long, or invalid markup
 */
export function parseMessageText(backend: Backend, args: Arguments): FormattedText {
  if (textArgument(args, 'text') === '') throw badRequest('message text is empty')
  return checkText(formatted(backend, args, 'text'))
}

/** The caption of a call; empty when absent. Refused like `parseMessageText`, but may be empty. */
export function readCaption(backend: Backend, args: Arguments): FormattedText {
  return checkCaption(formatted(backend, args, 'caption'))
}

function formatted(backend: Backend, args: Arguments, field: TextField): FormattedText {
  const name = field === 'text' ? 'entities' : 'caption_entities'
  return parseText(backend, {
    source: textArgument(args, field),
    mode: textArgument(args, 'parse_mode'),
    entities: jsonArgument(args, name, name),
  })
}

/**
 * Parses a text: markup removed, cleaned, entities in order.
 *
 * @param textArguments `mode` as in `parse_mode`; `entities` apply only without it
 * @throws BotApiRefusal 400 for invalid markup
 */
export function parseText(
  backend: Backend,
  textArguments: { readonly source: string; readonly mode: string; readonly entities: unknown },
): FormattedText {
  if (Buffer.byteLength(textArguments.source) > SOURCE_BYTES_MAX)
    throw badRequest('text is too long')
  const mode = textArguments.mode.toLowerCase()
  // Markdown is not implemented: the service uses HTML only, and a refusal shows the mistake at once.
  if (!['', 'none', 'html'].includes(mode)) throw badRequest('unsupported parse_mode')
  const isHtml = mode === 'html' && textArguments.source !== ''
  const stored = storedText(
    isHtml
      ? parseHtml(textArguments.source)
      : { text: textArguments.source, entities: readEntities(textArguments.entities) },
  )
  const marked = stored.entities.flatMap((entity) => withKnownPerson(backend, entity))
  return { text: stored.text, entities: storedEntities(marked, detectEntities(stored.text)) }
}

/** Markup given as `entities`, without those every client detects itself. */
function readEntities(value: unknown): readonly Entity[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((entity) => {
    if (!isObject(entity)) throw cannotParse('expected an Object')
    const { type, offset, length } = entity
    if (typeof type !== 'string') throw cannotParse('Type is not specified')
    if (typeof offset !== 'number' || typeof length !== 'number') {
      throw cannotParse('Field "offset" must be a Number')
    }
    if (FOUND_BY_CLIENTS.includes(type)) return []
    if (!MARKED_BY_SENDERS.includes(type)) throw cannotParse('Unsupported type specified')
    return [{ ...entity, type, offset, length }]
  })
}

function cannotParse(problem: string) {
  return badRequest(`can't parse MessageEntity: ${problem}`)
}

const FOUND_BY_CLIENTS: readonly string[] = [
  'mention',
  'hashtag',
  'cashtag',
  'bot_command',
  'url',
  'email',
  'phone_number',
  'bank_card_number',
]

const MARKED_BY_SENDERS: readonly string[] = [
  'bold',
  'italic',
  'underline',
  'strikethrough',
  'spoiler',
  'code',
  'pre',
  'text_link',
  'text_mention',
  'custom_emoji',
  'blockquote',
  'expandable_blockquote',
  'date_time',
]

/** A mention keeps its person only if the bot knows them. */
function withKnownPerson(backend: Backend, entity: Entity): readonly Entity[] {
  if (entity.type !== 'text_mention') return [entity]
  const person = backend.chats.findPerson(Number(entity.user?.id ?? 0))
  if (!person) return []
  const user = { id: person.id, is_bot: false, first_name: person.firstName }
  return [{ ...entity, user }]
}

/**
 * `link_preview_options`, if any, with the fields that the Bot API knows.
 *
 * @throws BotApiRefusal 400 for fields of another type, and for a page that cannot be fetched
 */
export function readLinkPreview(args: Arguments): LinkPreview | undefined {
  const value = jsonArgument(args, 'link_preview_options', 'link preview options')
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) throw badRequest('object expected as link preview options')
  const url = textField(value, 'url')
  if (url !== '' && !isPage(url)) throw badRequest('WEBPAGE_URL_INVALID')
  const [smaller, larger] = ['prefer_small_media', 'prefer_large_media'].map((name) =>
    flagField(value, name),
  )
  return {
    ...(flagField(value, 'is_disabled') && { is_disabled: true }),
    ...(url !== '' && { url }),
    ...(smaller && { prefer_small_media: true }),
    ...(larger && { prefer_large_media: true }),
    ...(flagField(value, 'show_above_text') && { show_above_text: true }),
  }
}

/** Whether a text is the address of a web page. */
function isPage(url: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')
}

/** `reply_markup`, checked. */
export function readReplyMarkup(args: Arguments): Markup {
  return readMarkup(jsonArgument(args, 'reply_markup', 'reply keyboard markup'))
}

/**
 * Sends a message: checks the bot's rights, and determines its place in the chat.
 *
 * @param kind name of a missing right, such as `text messages`
 * @throws BotApiRefusal 400, 403 or 429
 */
export function sendToChat(
  backend: Backend,
  args: Arguments,
  content: Pick<MessageToAdd, 'text' | 'entities' | 'file' | 'linkPreview'>,
  kind: string,
): ChatMessage {
  const reply = readReply(args)
  const markup = readReplyMarkup(args)
  const chat = accessibleChat(backend.chats, textArgument(args, 'chat_id'), 'write')
  const topic = readTopic(chat, integerArgument(args, 'message_thread_id'))
  const repliedTo = findReplied(backend, chat, reply)
  if (chat.type !== 'private' && chat.botStatus === 'restricted') {
    throw badRequest(`not enough rights to send ${kind} to the chat`)
  }
  checkKeyboardFits(markup.keyboard, chat.type)
  backend.rates?.spend(chat)
  return backend.messages.add(chat, {
    from: backend.bot.id,
    ...content,
    ...threadOf(chat, topic, repliedTo),
    keyboard: markup.keyboard,
    otherMarkup: markup.other,
    silent: flagArgument(args, 'disable_notification'),
  })
}

/** Thread of a message: its topic, or in other supergroups the root of its chain of replies. */
export function threadOf(
  chat: Chat,
  topicId: number | undefined,
  repliedTo: ChatMessage | undefined,
): Pick<ChatMessage, 'threadId' | 'isTopic' | 'replyTo'> {
  const replyTo = repliedTo?.id
  if (chat.type !== 'supergroup') return { threadId: undefined, isTopic: false, replyTo }
  if (chat.isForum) {
    const threadId = topicId ?? (repliedTo?.isTopic ? repliedTo.threadId : undefined)
    return { threadId, isTopic: threadId !== undefined, replyTo }
  }
  return { threadId: repliedTo?.threadId ?? replyTo, isTopic: false, replyTo }
}

interface ReplyRequest {
  readonly messageId: number
  readonly mayBeMissing: boolean
}

function readReply(args: Arguments): ReplyRequest | undefined {
  if (!args.texts.has('reply_parameters')) {
    const messageId = integerArgument(args, 'reply_to_message_id')
    return messageId > 0
      ? { messageId, mayBeMissing: flagArgument(args, 'allow_sending_without_reply') }
      : undefined
  }
  const value = jsonArgument(args, 'reply_parameters', 'reply parameters')
  if (value === undefined) return undefined
  if (!isObject(value)) throw badRequest('object expected as reply parameters')
  const { message_id: messageId, allow_sending_without_reply: mayBeMissing } = value
  if (typeof messageId !== 'number') {
    throw badRequest('field "message_id" must be of type Number')
  }
  return { messageId, mayBeMissing: mayBeMissing === true }
}

function findReplied(
  backend: Backend,
  chat: Chat,
  reply: ReplyRequest | undefined,
): ChatMessage | undefined {
  if (!reply) return undefined
  const message = backend.messages.find(chat.id, reply.messageId)
  if (!message && !reply.mayBeMissing) throw badRequest('message to be replied not found')
  return message
}

/**
 * The topic of a thread id. Refuses unknown ids, also in groups without topics: the server versions differ
 * there, and a bot that relies on acceptance would fail on some.
 */
function readTopic(chat: Chat, threadId: number): number | undefined {
  if (threadId <= 0) return undefined
  const topic = chat.type === 'private' ? undefined : findTopic(chat, threadId)
  if (!topic || chat.type === 'private') throw badRequest('message thread not found')
  if (topic.closed && chat.botStatus !== 'administrator') throw badRequest('TOPIC_CLOSED')
  return topic.id
}

function findTopic(chat: GroupChat, threadId: number) {
  return chat.isForum ? chat.topics.find((topic) => topic.id === threadId) : undefined
}
