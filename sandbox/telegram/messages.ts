import type { Clock } from '#src/kernel/clock.ts'
import type { Changes } from './changes.ts'
import type { Chat, ChatMessage } from './model.ts'

/** What a new message is made of; everything not given is absent. */
export type NewMessage = Partial<Omit<ChatMessage, 'chatId' | 'id' | 'at'>> & {
  readonly from: number
}

/** The messages of all chats as they stand now. */
export interface Messages {
  add(chat: Chat, message: NewMessage): ChatMessage
  find(chatId: number, id: number): ChatMessage | undefined
  /** Puts a changed message in the place of the old one. */
  replace(message: ChatMessage): ChatMessage
  remove(chatId: number, id: number): void
  /** In the order they were sent. */
  all(chatId: number): readonly ChatMessage[]
}

/**
 * No messages yet. Supergroups count their messages for themselves; private chats and basic groups
 * share one count, as the ids a real bot sees do. 1 is never used: it names the General topic.
 */
export function createMessages(deps: { clock: Clock; changes: Changes }): Messages {
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
    const counter = chat.type === 'supergroup' ? chat.id : 0
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
