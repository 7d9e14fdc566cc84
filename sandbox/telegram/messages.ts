import type { Clock } from '#src/kernel/clock.ts'
import type { ChangeHub } from './change-hub.ts'
import type { Chat, ChatMessage } from './model.ts'

/** Properties of a new message; omitted ones are those of `EMPTY`. */
export type MessageToAdd = Partial<Omit<ChatMessage, 'chatId' | 'id' | 'at'>> & {
  readonly from: number
}

/** The messages of all chats in their present state. */
export interface Messages {
  add(chat: Chat, message: MessageToAdd): ChatMessage
  find(chatId: number, id: number): ChatMessage | undefined
  /** Replaces a message. */
  replace(message: ChatMessage): ChatMessage
  remove(chatId: number, id: number): void
  /** The messages of a chat, in the order in which they were sent. */
  all(chatId: number): readonly ChatMessage[]
}

/**
 * Creates an empty list of messages. Supergroups count their messages separately; private chats and basic
 * groups share one count, like the ids of a real bot. 1 is never used: it is the General topic.
 */
export function createMessages(deps: { clock: Clock; changes: ChangeHub }): Messages {
  const chats = new Map<number, Map<number, ChatMessage>>()
  const lastIds = new Map<number, number>()
  const inChat = (chatId: number) => {
    const known = chats.get(chatId)
    if (known) return known
    const fresh = new Map<number, ChatMessage>()
    chats.set(chatId, fresh)
    return fresh
  }
  const nextId = (chat: Chat) => {
    const counter = chat.type === 'supergroup' || chat.type === 'channel' ? chat.id : 0
    const id = (lastIds.get(counter) ?? 1) + 1
    lastIds.set(counter, id)
    return id
  }
  const put = (message: ChatMessage) => {
    inChat(message.chatId).set(message.id, message)
    deps.changes.emit({ kind: 'message', message })
    return message
  }
  return {
    add: (chat, message) =>
      put({ ...EMPTY, ...message, chatId: chat.id, id: nextId(chat), at: deps.clock.now() }),
    find: (chatId, id) => chats.get(chatId)?.get(id),
    replace: put,
    remove(chatId, id) {
      if (inChat(chatId).delete(id)) deps.changes.emit({ kind: 'gone', chatId, messageId: id })
    },
    all: (chatId) => [...(chats.get(chatId)?.values() ?? [])],
  }
}

const EMPTY = {
  anonymous: false,
  editedAt: undefined,
  text: '',
  entities: [],
  file: undefined,
  threadId: undefined,
  isTopic: false,
  replyTo: undefined,
  keyboard: [],
  otherMarkup: undefined,
  linkPreview: undefined,
  silent: false,
  viaBot: false,
  service: undefined,
} satisfies Omit<ChatMessage, 'chatId' | 'id' | 'at' | 'from'>
