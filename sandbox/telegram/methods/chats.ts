import { type Arguments, flagArgument, integerArgument, textArgument } from '../arguments.ts'
import type { Backend } from '../backend.ts'
import { accessibleChat, isAdministrator, memberOf } from '../chat-store.ts'
import type { Chat, GroupChat, Wire } from '../model.ts'
import { badRequest } from '../refusal.ts'
import { botMemberWire, fullChatWire, memberWire, messageWire, personWire } from '../wire.ts'
import type { BotApiMethod } from './define.ts'

const TOPIC_NAME_LENGTH_MAX = 128
const TOPIC_COLOR = 7_322_096

/** Methods about chats: their members, pinned messages and topics, and leaving them. */
export const CHATS: readonly BotApiMethod[] = [
  {
    name: 'getChat',
    run: (backend, args) => fullChatWire(backend, readableChat(backend, args)),
  },
  {
    name: 'getChatMember',
    run(backend, args) {
      const chat = readableChat(backend, args)
      const userId = integerArgument(args, 'user_id')
      if (userId <= 0) throw badRequest('invalid user_id specified')
      return memberOrLeft(backend, chat, userId)
    },
  },
  {
    name: 'getChatAdministrators',
    run(backend, args) {
      const chat = readableChat(backend, args)
      if (chat.type === 'private') {
        throw badRequest('there are no administrators in the private chat')
      }
      const people = chat.members
        .filter(isAdministrator)
        .map((member) => memberWire(member, chat.type))
      return chat.botStatus === 'administrator'
        ? [...people, botMemberWire(backend.bot, chat.botStatus, chat.type)]
        : people
    },
  },
  {
    name: 'getChatMemberCount',
    run(backend, args) {
      const chat = readableChat(backend, args)
      if (chat.type === 'private') return 2
      const people = chat.members.filter((member) => member.status !== 'left').length
      return isBotMember(chat) ? people + 1 : people
    },
  },
  {
    name: 'pinChatMessage',
    run(backend, args) {
      const chat = pinnableChat(backend, args)
      const message = backend.messages.find(chat.id, integerArgument(args, 'message_id'))
      if (!message || message.service) throw badRequest('message to pin not found')
      const pinned = [...chat.pinned.filter((id) => id !== message.id), message.id]
      backend.chats.put({ ...chat, pinned })
      backend.messages.add(chat, {
        from: backend.bot.id,
        service: { pinned_message: messageWire(backend, message, false) },
        replyTo: message.id,
        silent: flagArgument(args, 'disable_notification'),
      })
      return true
    },
  },
  {
    name: 'unpinChatMessage',
    run(backend, args) {
      const chat = pinnableChat(backend, args)
      const messageId = args.texts.has('message_id')
        ? integerArgument(args, 'message_id')
        : (chat.pinned.at(-1) ?? 0)
      if (!backend.messages.find(chat.id, messageId)) throw badRequest('message to unpin not found')
      backend.chats.put({ ...chat, pinned: chat.pinned.filter((id) => id !== messageId) })
      return true
    },
  },
  {
    name: 'unpinAllChatMessages',
    run(backend, args) {
      backend.chats.put({ ...pinnableChat(backend, args), pinned: [] })
      return true
    },
  },
  {
    name: 'createForumTopic',
    run(backend, args) {
      const chat = accessibleChat(backend.chats, textArgument(args, 'chat_id'), 'write')
      if (chat.type === 'private' || !chat.isForum) throw badRequest('the chat is not a forum')
      if (chat.botStatus !== 'administrator')
        throw badRequest('not enough rights to create a topic')
      const name = textArgument(args, 'name').trim()
      if (name === '') throw badRequest('TOPIC_TITLE_EMPTY')
      if (name.length > TOPIC_NAME_LENGTH_MAX) throw badRequest('topic name is too long')
      const id = addTopic(backend, chat, name, backend.bot.id)
      return { message_thread_id: id, name, icon_color: TOPIC_COLOR }
    },
  },
  {
    name: 'leaveChat',
    run(backend, args) {
      const chat = accessibleChat(backend.chats, textArgument(args, 'chat_id'), 'write')
      if (chat.type === 'private')
        throw badRequest("chat member status can't be changed in private chats")
      backend.chats.put({ ...chat, botStatus: 'left' })
      return true
    },
  },
]

/** Opens a topic, and returns its id: the id of the service message that announces it. */
export function addTopic(backend: Backend, chat: GroupChat, name: string, from: number): number {
  const created = backend.messages.add(chat, {
    from,
    isTopic: true,
    service: { forum_topic_created: { name, icon_color: TOPIC_COLOR } },
  })
  backend.messages.replace({ ...created, threadId: created.id })
  const topic = { id: created.id, name, closed: false }
  backend.chats.put({ ...chat, topics: [...chat.topics, topic] })
  return created.id
}

function isBotMember(chat: GroupChat): boolean {
  return chat.botStatus !== 'left' && chat.botStatus !== 'kicked'
}

function readableChat(backend: Backend, args: Arguments): Chat {
  return accessibleChat(backend.chats, textArgument(args, 'chat_id'), 'read')
}

function pinnableChat(backend: Backend, args: Arguments): Chat {
  const chat = accessibleChat(backend.chats, textArgument(args, 'chat_id'), 'write')
  if (chat.type !== 'private' && chat.botStatus !== 'administrator') {
    throw badRequest('not enough rights to manage pinned messages in the chat')
  }
  return chat
}

function memberOrLeft(backend: Backend, chat: Chat, userId: number): Wire {
  if (userId === backend.bot.id) {
    return botMemberWire(
      backend.bot,
      chat.type === 'private' ? 'member' : chat.botStatus,
      chat.type,
    )
  }
  const person = backend.chats.findPerson(userId)
  if (!person) throw badRequest('PARTICIPANT_ID_INVALID')
  if (chat.type === 'private') {
    return { user: personWire(person), status: chat.id === userId ? 'member' : 'left' }
  }
  return memberWire(memberOf(chat, userId) ?? { person, status: 'left' }, chat.type)
}
