import type { ChangeHub } from './change-hub.ts'
import type { Chat, GroupChat, Member, Person, PrivateChat } from './model.ts'
import { type BotApiRefusal, badRequest, forbidden } from './refusal.ts'

/** All chats of this server, with their members. */
export interface Chats {
  all(): readonly Chat[]
  find(id: number): Chat | undefined
  /**
   * Finds a chat.
   * @throws Error for an unknown id: a mistake of the caller, not of the bot
   */
  get(id: number): Chat
  /**
   * Finds a private chat.
   * @throws Error for any other
   */
  getPrivate(id: number): PrivateChat
  /**
   * Finds a group.
   * @throws Error for any other
   */
  getGroup(id: number): GroupChat
  findPerson(id: number): Person | undefined
  /** Adds or replaces a chat. */
  put<C extends Chat>(chat: C): C
  nextPersonId(): number
  nextGroupId(type: GroupChat['type']): number
}

const FIRST_PERSON_ID = 700_000_001
const FIRST_GROUP_ID = 4_100_000_001
const FIRST_SUPERGROUP_ID = 2_100_000_001

/** Creates an empty list of chats. */
export function createChats(changes: ChangeHub): Chats {
  const chats = new Map<number, Chat>()
  const find = (id: number) => chats.get(id)
  const get = (id: number): Chat => {
    const chat = find(id)
    if (!chat) throw new Error(`there is no chat ${id}`)
    return chat
  }
  let persons = 0
  let groups = 0
  let supergroups = 0
  return {
    find,
    get,
    all: () => [...chats.values()],
    getPrivate(id) {
      const chat = get(id)
      if (chat.type !== 'private') throw new Error(`chat ${id} is not a private chat`)
      return chat
    },
    getGroup(id) {
      const chat = get(id)
      if (chat.type === 'private') throw new Error(`chat ${id} is not a group`)
      return chat
    },
    findPerson(id) {
      const chat = find(id)
      return chat?.type === 'private' ? chat.person : undefined
    },
    put(chat) {
      chats.set(chat.id, chat)
      changes.emit({ kind: 'chat', chat })
      return chat
    },
    nextPersonId() {
      let id = FIRST_PERSON_ID + persons++
      while (chats.has(id)) id = FIRST_PERSON_ID + persons++
      return id
    },
    nextGroupId: (type) =>
      type === 'group'
        ? -(FIRST_GROUP_ID + groups++)
        : -(1_000_000_000_000 + FIRST_SUPERGROUP_ID + supergroups++),
  }
}

/** The member with this id, including former ones. */
export function memberOf(group: GroupChat, personId: number): Member | undefined {
  return group.members.find((member) => member.person.id === personId)
}

/** Whether the member is the owner or an administrator. */
export function isAdministrator(member: Member | undefined): boolean {
  return member?.status === 'creator' || member?.status === 'administrator'
}

/** The group with one member added or changed. */
export function withMember(group: GroupChat, member: Member): GroupChat {
  const others = group.members.filter((other) => other.person.id !== member.person.id)
  return { ...group, members: [...others, member] }
}

/**
 * The chat of a call, if the bot has the access.
 *
 * @param access `read` reads, `write` sends or changes
 * @throws BotApiRefusal 400 `chat not found`, 400 with `migrate_to_chat_id`, or 403
 * @see telegram-bot-api, `check_chat_access`
 */
export function accessibleChat(chats: Chats, chatId: string, access: 'read' | 'write'): Chat {
  if (chatId === '') throw badRequest('chat_id is empty')
  const chat = chats.find(/^-?\d+$/.test(chatId) ? Number(chatId) : 0)
  if (!chat) throw badRequest('chat not found')
  const refusal =
    chat.type === 'private' ? refusedByPerson(chats, chat, access) : refusedByGroup(chat, access)
  if (refusal) throw refusal
  return chat
}

function refusedByPerson(
  chats: Chats,
  chat: PrivateChat,
  access: 'read' | 'write',
): BotApiRefusal | undefined {
  if (chat.blocked && access === 'write') return forbidden('bot was blocked by the user')
  if (chat.started) return undefined
  const isKnown = chats
    .all()
    .some((group) => group.type !== 'private' && memberOf(group, chat.id) !== undefined)
  return isKnown
    ? forbidden("bot can't initiate conversation with a user")
    : badRequest('chat not found')
}

function refusedByGroup(chat: GroupChat, access: 'read' | 'write'): BotApiRefusal | undefined {
  if (chat.migratedTo !== undefined && access === 'write') {
    return badRequest('group chat was upgraded to a supergroup chat', {
      migrate_to_chat_id: chat.migratedTo,
    })
  }
  const needsMember = access === 'write' || chat.type !== 'group'
  if (chat.botStatus === 'kicked' && needsMember) {
    return forbidden(`bot was kicked from the ${chat.type} chat`)
  }
  if (chat.botStatus === 'left' && needsMember) {
    return forbidden(`bot is not a member of the ${chat.type} chat`)
  }
  if (chat.type === 'channel' && access === 'write' && chat.botStatus !== 'administrator') {
    return badRequest('need administrator rights in the channel chat')
  }
  return undefined
}
