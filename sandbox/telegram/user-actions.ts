import type { Backend } from './backend.ts'
import { memberOf } from './chat-store.ts'
import { detectEntities, storedEntities } from './entities.ts'
import { readMarkup } from './keyboard.ts'
import { threadOf } from './methods/content.ts'
import { readInlineContent } from './methods/queries.ts'
import type {
  CallbackAnswer,
  Chat,
  ChatMessage,
  GroupChat,
  InlineAnswer,
  Person,
  StoredFile,
} from './model.ts'
import { isBlank, storedText } from './text.ts'
import { chatWire, messageWire, personWire } from './wire.ts'

/** Author and position of a message. */
export interface SendOptions {
  /** Author of a message in a group; the owner by default. */
  readonly from?: number
  readonly threadId?: number
  /** Id of the message it replies to. */
  readonly replyTo?: number
  /** Sent by an administrator in the group's name. */
  readonly anonymous?: boolean
}

/** A message sent by a person. */
export interface SentByPerson {
  readonly message: ChatMessage
  /** Undefined if the bot gets no update: by privacy mode, or because it excluded this type of update. */
  readonly updateId: number | undefined
}

/** A press on a button, on its way to the bot. */
export interface SentPress {
  readonly queryId: string
  readonly updateId: number | undefined
  /** The bot's answer; rejects after the timeout (5 s by default). */
  answer(timeoutMs?: number): Promise<CallbackAnswer>
}

/** An inline query. */
export interface InlineQuestion {
  readonly queryId: string
  readonly updateId: number | undefined
  answer(timeoutMs?: number): Promise<InlineAnswer>
}

/** Actions of people in chats. */
export interface UserActions {
  /** Sends a text. The first message starts the private chat; a blocked one refuses messages. */
  send(chatId: number, text: string, options?: SendOptions): SentByPerson
  /** Sends a message without text. */
  sendMedia(chatId: number, kind: StoredFile['kind'], options?: SendOptions): SentByPerson
  /** Presses a button, identified by its callback data or its label. */
  press(chatId: number, messageId: number, button: string, options?: { from?: number }): SentPress
  /** Sends callback data of no existing button, like a forged client; the message may be deleted. */
  pressRaw(chatId: number, messageId: number, data: string, options?: { from?: number }): SentPress
  /** Types `@bot query`. */
  inlineQuery(personId: number, query: string): InlineQuestion
  /** Posts one of the results of the bot's answer. */
  chooseInline(answer: InlineAnswer, resultId: string, chatId: number): ChatMessage
}

const ANSWER_TIMEOUT_MS = 5000

/**
 * Acts on a backend for people. Impossible acts throw: they are mistakes of a test. Long because it is the
 * list of what a person can do in a chat.
 */
export function createUserActions(backend: Backend): UserActions {
  const { chats, messages, updates, queries, changes } = backend

  const write = (
    chatId: number,
    content: Pick<ChatMessage, 'text' | 'entities' | 'file'>,
    options: SendOptions,
  ): SentByPerson => {
    const chat = opened(backend, chats.get(chatId))
    const author = authorOf(chat, options.from)
    const replied =
      options.replyTo === undefined ? undefined : messages.find(chatId, options.replyTo)
    if (options.replyTo !== undefined && !replied) {
      throw new Error(`there is no message ${options.replyTo} to reply to`)
    }
    const message = messages.add(chat, {
      from: author.id,
      anonymous: options.anonymous ?? false,
      ...content,
      ...threadOf(chat, options.threadId, replied),
    })
    const isDelivered = chat.type === 'private' || isForBot(backend, chat, message, replied)
    const wire = messageWire(backend, message)
    return {
      message,
      updateId: isDelivered
        ? updates.add(chat.type === 'channel' ? 'channel_post' : 'message', wire, `chat ${chatId}`)
        : undefined,
    }
  }
  const pressWith = (chatId: number, messageId: number, data: string, from?: number): SentPress => {
    const chat = chats.get(chatId)
    const author = authorOf(chat, from)
    const { queryId } = queries.openPress({ chatId, messageId, personId: author.id })
    const message = messages.find(chatId, messageId)
    const updateId = updates.add(
      'callback_query',
      {
        id: queryId,
        from: personWire(author),
        message: message
          ? messageWire(backend, message)
          : { chat: chatWire(chat), message_id: messageId, date: 0 },
        chat_instance: String(Math.abs(chatId) * 31),
        data,
      },
      `press ${author.id}`,
    )
    const find = () => queries.answers().find((answer) => answer.queryId === queryId)
    return {
      queryId,
      updateId,
      answer: (timeoutMs = ANSWER_TIMEOUT_MS) =>
        changes.until(find, timeoutMs, `the answer to the press of "${data}"`),
    }
  }

  return {
    send(chatId, source, options = {}) {
      const { text } = storedText({ text: source, entities: [] })
      if (isBlank(text)) throw new Error('nobody can send an empty text')
      const entities = storedEntities([], detectEntities(text))
      return write(chatId, { text, entities, file: undefined }, options)
    },
    sendMedia(chatId, kind, options = {}) {
      const bytes = kind === 'photo' ? SMALL_PHOTO : new TextEncoder().encode('sample')
      const name = kind === 'document' ? 'sample.txt' : `sample.${kind}`
      const file = backend.files.add(kind, { name, mimeType: '', bytes })
      return write(chatId, { text: '', entities: [], file }, options)
    },
    press(chatId, messageId, wanted, options = {}) {
      const message = messages.find(chatId, messageId)
      if (!message) throw new Error(`there is no message ${messageId} to press a button of`)
      const buttons = message.keyboard.flat()
      const button =
        buttons.find((button) => button.callback_data === wanted) ??
        buttons.find((button) => button.text === wanted)
      if (!button?.callback_data) {
        const labels = buttons.map((button) => `"${button.text}"`).join(', ')
        throw new Error(`message ${messageId} has no button "${wanted}" to press, but ${labels}`)
      }
      return pressWith(chatId, messageId, button.callback_data, options.from)
    },
    pressRaw: (chatId, messageId, data, options = {}) =>
      pressWith(chatId, messageId, data, options.from),
    inlineQuery(personId, query) {
      const { person } = chats.getPrivate(personId)
      const queryId = queries.openInline(personId)
      const updateId = updates.add(
        'inline_query',
        { id: queryId, from: personWire(person), query, offset: '', chat_type: 'sender' },
        `inline ${personId}`,
      )
      const find = () => queries.inlineAnswers().find((answer) => answer.queryId === queryId)
      return {
        queryId,
        updateId,
        answer: (timeoutMs = ANSWER_TIMEOUT_MS) =>
          changes.until(find, timeoutMs, `the answer to the inline query "${query}"`),
      }
    },
    chooseInline(answer, resultId, chatId) {
      const result = answer.results.find((result) => result.id === resultId)
      if (!result) throw new Error(`there is no inline result "${resultId}"`)
      return messages.add(chats.get(chatId), {
        from: answer.personId,
        ...readInlineContent(backend, result),
        keyboard: readMarkup(result.reply_markup).keyboard,
        viaBot: true,
      })
    },
  }
}

/** The chat before its first message; a blocked bot must be unblocked first. */
function opened(backend: Backend, chat: Chat): Chat {
  if (chat.type !== 'private') {
    if (chat.migratedTo !== undefined) throw new Error(`"${chat.title}" is a supergroup now`)
    return chat
  }
  if (chat.blocked) throw new Error(`${chat.person.firstName} has blocked the bot`)
  return chat.started ? chat : backend.chats.put({ ...chat, started: true })
}

function authorOf(chat: Chat, from: number | undefined): Person {
  if (chat.type === 'private') return chat.person
  const member = from === undefined ? chat.members[0] : memberOf(chat, from)
  if (!member || member.status === 'left') throw new Error(`${from} is not in "${chat.title}"`)
  return member.person
}

/**
 * Privacy mode: in groups a bot receives commands, replies to it and mentions, unless it is an
 * administrator.
 */
function isForBot(
  backend: Backend,
  group: GroupChat,
  message: ChatMessage,
  replied: ChatMessage | undefined,
): boolean {
  if (group.botStatus === 'left' || group.botStatus === 'kicked') return false
  if (group.botStatus === 'administrator' || replied?.from === backend.bot.id) return true
  const mention = `@${backend.bot.username.toLowerCase()}`
  return message.entities.some((entity) => {
    const part = message.text.slice(entity.offset, entity.offset + entity.length).toLowerCase()
    if (entity.type === 'mention') return part === mention
    return entity.type === 'bot_command' && (!part.includes('@') || part.endsWith(mention))
  })
}

/** One grey pixel. */
const SMALL_PHOTO = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
    'base64',
  ),
)
