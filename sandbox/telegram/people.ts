import type { Backend } from './backend.ts'
import { memberOf, withMember } from './chat-store.ts'
import { addTopic } from './methods/chats.ts'
import type {
  BotStatus,
  Chat,
  GroupChat,
  MemberStatus,
  Person,
  PrivateChat,
  Wire,
} from './model.ts'
import {
  botMemberWire,
  botWire,
  chatWire,
  memberWire,
  messageWire,
  personWire,
  unixSeconds,
} from './wire.ts'

/** A new Telegram account. */
export interface NewPerson {
  readonly id?: number
  readonly firstName: string
  readonly languageCode: string
  readonly username?: string
  /** Whether the person has written to the bot, so that the bot may write. */
  readonly started?: boolean
}

/** Group of the local Telegram, as tests and scenarios create it. People are identified by id; the first administrator is the owner. */
export interface NewGroupChat {
  readonly title: string
  readonly members: readonly number[]
  readonly admins?: readonly number[]
  /** Forums are supergroups; others are basic groups unless `type` differs. */
  readonly isForum?: boolean
  readonly type?: GroupChat['type']
  /** Status of the bot, without an update about it; `left` followed by `addBot` sends one. In a channel `left` by default. */
  readonly bot?: BotStatus
}

/** People, groups, and changes of chats besides messages. */
export interface People {
  /** Creates a person with the private chat with the bot, which has the same id. */
  person(input: NewPerson): PrivateChat
  group(input: NewGroupChat): GroupChat
  chats(): readonly Chat[]
  /**
   * Finds a chat.
   * @throws Error without one
   */
  chat(chatId: number): Chat
  /** Opens a topic and returns its `message_thread_id`. */
  topic(chatId: number, name: string): number
  closeTopic(chatId: number, threadId: number): void
  reopenTopic(chatId: number, threadId: number): void
  /** Deletes the topic with its messages. */
  deleteTopic(chatId: number, threadId: number): void
  /** Blocks the bot: it is notified and gets 403 from then on. */
  block(chatId: number): void
  unblock(chatId: number): void
  /** Adds the bot to a group; with a payload, as a link with `startgroup` does, which sends `/start@bot payload`. */
  addBot(chatId: number, options?: { from?: number; admin?: boolean; payload?: string }): void
  /** Removes the bot from a group. */
  kick(chatId: number): void
  /** Restricts the bot, or this person, to reading. */
  mute(chatId: number, personId?: number): void
  /** Makes the bot, or this person, an administrator. */
  promote(chatId: number, personId?: number): void
  /** Makes the bot, or this person, an ordinary member. */
  demote(chatId: number, personId?: number): void
  join(chatId: number, personId: number): void
  leave(chatId: number, personId: number): void
  /** Turns a basic group into a supergroup, which is returned; the old id refuses messages. */
  migrate(chatId: number): GroupChat
}

/**
 * Acts on a backend for people. Unknown ids throw: they are mistakes of a test. Long because it is the list
 * of what people and administrators of a group can do.
 */
export function createPeople(backend: Backend): People {
  const { chats, messages, updates } = backend

  const owner = (group: GroupChat): Person => {
    const first = group.members.find((member) => member.status === 'creator') ?? group.members[0]
    if (!first) throw new Error(`nobody is in "${group.title}"`)
    return first.person
  }
  const notifyBot = (chat: Chat, from: Person, before: BotStatus, after: BotStatus) => {
    updates.add(
      'my_chat_member',
      {
        chat: chatWire(chat),
        from: personWire(from),
        date: unixSeconds(backend.clock.now()),
        old_chat_member: botMemberWire(backend.bot, before, chat.type),
        new_chat_member: botMemberWire(backend.bot, after, chat.type),
      },
      `chat ${chat.id}`,
    )
  }
  const setBot = (chatId: number, status: BotStatus, by?: number) => {
    const group = chats.getGroup(chatId)
    if (group.botStatus === status) return
    const next = chats.put({ ...group, botStatus: status })
    const from = by === undefined ? owner(group) : (memberOf(group, by)?.person ?? owner(group))
    notifyBot(next, from, group.botStatus, status)
  }
  const setMember = (chatId: number, personId: number, status: MemberStatus) => {
    const group = chats.getGroup(chatId)
    const person = chats.getPrivate(personId).person
    const before = memberOf(group, personId) ?? { person, status: 'left' as const }
    const after = { person, status }
    const next = chats.put(withMember(group, after))
    if (group.botStatus !== 'administrator') return
    updates.add(
      'chat_member',
      {
        chat: chatWire(next),
        from: personWire(owner(group)),
        date: unixSeconds(backend.clock.now()),
        old_chat_member: memberWire(before, group.type),
        new_chat_member: memberWire(after, group.type),
      },
      `chat ${chatId}`,
    )
  }
  const announce = (chatId: number, from: number, service: Wire, threadId?: number) => {
    const group = chats.getGroup(chatId)
    // A channel does not tell who joined.
    if (group.type === 'channel') return
    const message = messages.add(group, {
      from,
      service,
      ...(threadId === undefined ? {} : { threadId, isTopic: true }),
    })
    if (group.botStatus !== 'left' && group.botStatus !== 'kicked') {
      updates.add('message', messageWire(backend, message), `chat ${chatId}`)
    }
  }
  const setBlocked = (chatId: number, blocked: boolean) => {
    const chat = chats.getPrivate(chatId)
    if (chat.blocked === blocked) return
    chats.put({ ...chat, blocked })
    notifyBot(chat, chat.person, blocked ? 'member' : 'kicked', blocked ? 'kicked' : 'member')
  }
  const setTopicClosed = (chatId: number, threadId: number, closed: boolean) => {
    const group = chats.getGroup(chatId)
    if (!group.topics.some((topic) => topic.id === threadId)) {
      throw new Error(`"${group.title}" has no topic ${threadId}`)
    }
    const topics = group.topics.map((topic) =>
      topic.id === threadId ? { ...topic, closed } : topic,
    )
    chats.put({ ...group, topics })
    const field = closed ? 'forum_topic_closed' : 'forum_topic_reopened'
    announce(chatId, owner(group).id, { [field]: {} }, threadId)
  }

  return {
    chats: () => chats.all(),
    chat: (chatId) => chats.get(chatId),
    person(input) {
      const { firstName, languageCode, username, started = false } = input
      const id = input.id ?? chats.nextPersonId()
      if (chats.find(id)) throw new Error(`there is already a chat ${id}`)
      const person = { id, firstName, languageCode, username }
      return chats.put({ type: 'private', id, person, started, blocked: false, pinned: [] })
    },
    group(input) {
      const { title, admins = [], isForum = false } = input
      const bot = input.bot ?? (input.type === 'channel' ? 'left' : 'member')
      const type = input.type ?? (isForum ? 'supergroup' : 'group')
      const ids = [...new Set([...admins, ...input.members])]
      const members = ids.map((id, index) => {
        const status: MemberStatus =
          index === 0 ? 'creator' : admins.includes(id) ? 'administrator' : 'member'
        return { person: chats.getPrivate(id).person, status }
      })
      const id = chats.nextGroupId(type)
      const emptyParts = { topics: [], migratedTo: undefined, pinned: [] }
      return chats.put({ type, id, title, isForum, members, botStatus: bot, ...emptyParts })
    },
    topic(chatId, name) {
      const group = chats.getGroup(chatId)
      if (!group.isForum) throw new Error(`"${group.title}" has no topics`)
      return addTopic(backend, group, name, owner(group).id)
    },
    closeTopic: (chatId, threadId) => setTopicClosed(chatId, threadId, true),
    reopenTopic: (chatId, threadId) => setTopicClosed(chatId, threadId, false),
    deleteTopic(chatId, threadId) {
      const group = chats.getGroup(chatId)
      for (const message of messages.all(chatId)) {
        if (message.threadId === threadId) messages.remove(chatId, message.id)
      }
      chats.put({ ...group, topics: group.topics.filter((topic) => topic.id !== threadId) })
    },
    block: (chatId) => setBlocked(chatId, true),
    unblock: (chatId) => setBlocked(chatId, false),
    addBot(chatId, options = {}) {
      const group = chats.getGroup(chatId)
      const from = options.from ?? owner(group).id
      setBot(chatId, options.admin ? 'administrator' : 'member', from)
      announce(chatId, from, { new_chat_members: [botWire(backend.bot)] })
      if (options.payload === undefined) return
      const message = messages.add(chats.getGroup(chatId), {
        from,
        text: `/start@${backend.bot.username} ${options.payload}`,
        entities: [
          { type: 'bot_command', offset: 0, length: `/start@${backend.bot.username}`.length },
        ],
      })
      updates.add('message', messageWire(backend, message), `chat ${chatId}`)
    },
    kick: (chatId) => setBot(chatId, 'kicked'),
    mute: (chatId, personId) =>
      personId === undefined
        ? setBot(chatId, 'restricted')
        : setMember(chatId, personId, 'restricted'),
    promote: (chatId, personId) =>
      personId === undefined
        ? setBot(chatId, 'administrator')
        : setMember(chatId, personId, 'administrator'),
    demote: (chatId, personId) =>
      personId === undefined ? setBot(chatId, 'member') : setMember(chatId, personId, 'member'),
    join(chatId, personId) {
      setMember(chatId, personId, 'member')
      const { person } = chats.getPrivate(personId)
      announce(chatId, personId, { new_chat_members: [personWire(person)] })
    },
    leave(chatId, personId) {
      setMember(chatId, personId, 'left')
      const { person } = chats.getPrivate(personId)
      announce(chatId, personId, { left_chat_member: personWire(person) })
    },
    migrate(chatId) {
      const group = chats.getGroup(chatId)
      if (group.type !== 'group' || group.migratedTo !== undefined) {
        throw new Error(`"${group.title}" is no basic group`)
      }
      const id = chats.nextGroupId('supergroup')
      const moved = chats.put({ ...group, type: 'supergroup', id, pinned: [] })
      chats.put({ ...group, migratedTo: id })
      announce(chatId, owner(group).id, { migrate_to_chat_id: id })
      announce(id, owner(group).id, { migrate_from_chat_id: chatId })
      return moved
    },
  }
}
