import type { TelegramApi } from '../telegram-api.ts'
import type {
  AnswerView,
  CallView,
  ChatView,
  InlineView,
  MessageView,
  PageEvent,
  PersonView,
  PreviewView,
} from './chat-page-types.ts'
import type {
  Call,
  CallbackAnswer,
  Chat,
  ChatChange,
  ChatMessage,
  InlineAnswer,
  InlineButton,
  Person,
  Wire,
} from './model.ts'

/** Number of calls shown. */
const CALLS_SHOWN = 100

/** Buttons that messages had before an edit: old clients may still press them. */
export interface ReplacedButtons {
  /** Records a message after each change. */
  see(message: ChatMessage): void
  of(message: ChatMessage): readonly InlineButton[]
}

/** Creates a record of every button with callback data. */
export function createReplacedButtons(): ReplacedButtons {
  const seen = new Map<string, Map<string, InlineButton>>()
  const key = (message: ChatMessage) => `${message.chatId}:${message.id}`
  return {
    see(message) {
      const known = seen.get(key(message)) ?? new Map<string, InlineButton>()
      for (const button of message.keyboard.flat()) {
        if (button.callback_data !== undefined) known.set(button.callback_data, button)
      }
      seen.set(key(message), known)
    },
    of(message) {
      const present = message.keyboard.flat().map((button) => button.callback_data)
      const all = [...(seen.get(key(message))?.values() ?? [])]
      return all.filter((button) => !present.includes(button.callback_data))
    },
  }
}

/** Full state, for a newly opened page. */
export function pageSnapshot(api: TelegramApi, old: ReplacedButtons): PageEvent {
  const chats = api.chats()
  return {
    kind: 'all',
    bot: { id: api.bot.id, username: api.bot.username, name: api.bot.firstName },
    chats: chats.map(chatData),
    messages: chats.flatMap((chat) =>
      api.messages(chat.id).map((message) => messageData(api, old, message)),
    ),
    calls: api.calls.slice(-CALLS_SHOWN).map((call) => callData(call)),
  }
}

/** Converts a change to an event of the page; undefined for a change that the page does not show. */
export function changeData(
  api: TelegramApi,
  old: ReplacedButtons,
  change: ChatChange,
): PageEvent | undefined {
  switch (change.kind) {
    case 'chat':
      return { kind: 'chat', chat: chatData(change.chat) }
    case 'message':
      return { kind: 'message', message: messageData(api, old, change.message) }
    case 'gone':
      return change
    case 'action':
      return { kind: 'action', chatId: change.chatId }
    case 'call':
      return { kind: 'call', call: callData(change.call) }
    case 'answer':
      return { kind: 'answer', answer: answerData(change.answer) }
    case 'inline':
      return { kind: 'inline', answer: inlineData(change.answer) }
    case 'profile':
      return { kind: 'profile' }
    case 'confirmed':
      return undefined
    default:
      return change satisfies never
  }
}

function personData(person: Person): PersonView {
  return { id: person.id, name: person.firstName, language: person.languageCode }
}

function chatData(chat: Chat): ChatView {
  if (chat.type === 'private') {
    return {
      id: chat.id,
      type: chat.type,
      title: chat.person.firstName,
      username: chat.person.username,
      person: personData(chat.person),
      started: chat.started,
      blocked: chat.blocked,
      pinned: chat.pinned,
    }
  }
  return {
    id: chat.id,
    type: chat.type,
    title: chat.title,
    isForum: chat.isForum,
    botStatus: chat.botStatus,
    members: chat.members.map((member) => ({
      ...personData(member.person),
      status: member.status,
    })),
    topics: chat.topics,
    migratedTo: chat.migratedTo,
    pinned: chat.pinned,
  }
}

function nameOf(api: TelegramApi, chat: Chat, message: ChatMessage): string {
  if (message.anonymous) return chat.type === 'private' ? chat.person.firstName : chat.title
  if (message.from === api.bot.id) return api.bot.firstName
  const person = api.chats().find((other) => other.id === message.from)
  return person?.type === 'private' ? person.person.firstName : 'Somebody'
}

function messageData(api: TelegramApi, old: ReplacedButtons, message: ChatMessage): MessageView {
  const chat = api.chat(message.chatId)
  const replied = api.messages(message.chatId).find((other) => other.id === message.replyTo)
  return {
    id: message.id,
    chatId: message.chatId,
    from: message.from,
    name: nameOf(api, chat, message),
    anonymous: message.anonymous,
    at: message.at.toISOString(),
    editedAt: message.editedAt?.toISOString(),
    text: message.text,
    entities: message.entities,
    file: message.file && {
      id: message.file.id,
      kind: message.file.kind,
      name: message.file.name,
      bytes: message.file.bytes.byteLength,
      width: message.file.width,
      height: message.file.height,
    },
    preview: previewData(message),
    threadId: message.isTopic ? message.threadId : undefined,
    reply: replied && {
      id: replied.id,
      name: nameOf(api, chat, replied),
      text: replied.text || replied.file?.kind || '',
    },
    keyboard: message.keyboard,
    oldButtons: old.of(message),
    replyKeyboard: replyLabels(message.otherMarkup),
    silent: message.silent,
    viaBot: message.viaBot,
    service: message.service && serviceText(api, chat, message, message.service),
  }
}

/** The page that the bot asked to show; previews of links in a text are not implemented. */
function previewData({ linkPreview }: ChatMessage): PreviewView | undefined {
  const url = linkPreview?.is_disabled ? undefined : linkPreview?.url
  return url === undefined ? undefined : { url, isAbove: linkPreview?.show_above_text === true }
}

/** Text of a service message, shown in the middle of the chat. */
function serviceText(api: TelegramApi, chat: Chat, message: ChatMessage, service: Wire): string {
  const who = nameOf(api, chat, message)
  const [kind] = Object.keys(service)
  switch (kind) {
    case 'pinned_message':
      return `${who} pinned a message`
    case 'new_chat_members':
      return `${who} added ${firstNames(service.new_chat_members)}`
    case 'left_chat_member':
      return `${who} left`
    case 'migrate_to_chat_id':
      return 'This group became a supergroup'
    case 'migrate_from_chat_id':
      return 'Supergroup made of a group'
    case 'forum_topic_created':
      return `Topic “${String((service.forum_topic_created as Wire).name)}”`
    case 'forum_topic_closed':
      return 'Topic closed'
    case 'forum_topic_reopened':
      return 'Topic reopened'
    default:
      return kind ?? ''
  }
}

function firstNames(users: unknown): string {
  return (users as readonly Wire[]).map((user) => String(user.first_name)).join(', ')
}

function callData(call: Call): CallView {
  return {
    sequence: call.sequence,
    method: call.method,
    at: call.at.toISOString(),
    chatId: call.payload.chat_id,
    payload: call.payload,
    result: call.result,
    refused: call.refused,
  }
}

function answerData(answer: CallbackAnswer): AnswerView {
  const { queryId, chatId, messageId, personId, text, showAlert, url } = answer
  return { queryId, chatId, messageId, personId, text, showAlert, url }
}

function inlineData(answer: InlineAnswer): InlineView {
  const { queryId, personId, results, button } = answer
  return {
    queryId,
    personId,
    results: results.map((result) => ({
      id: String(result.id),
      title: String(result.title),
      description: String(result.description ?? ''),
    })),
    button: button && { text: String(button.text), start: String(button.start_parameter ?? '') },
  }
}

function replyLabels(markup: Wire | undefined): readonly (readonly string[])[] {
  const rows = markup?.keyboard
  if (!Array.isArray(rows)) return []
  return rows.map((row: readonly (string | Wire)[]) =>
    row.map((button) => (typeof button === 'string' ? button : String(button.text))),
  )
}
