import {
  ANONYMOUS_ADMINISTRATOR_ID,
  type BotAccount,
  type BotStatus,
  type Chat,
  type ChatMessage,
  type GroupChat,
  type Member,
  type MemberStatus,
  type Person,
  type StoredFile,
  type Wire,
} from './model.ts'

/** Lookups for converting objects: people and messages. */
export interface WireLookups {
  readonly bot: BotAccount
  readonly chats: {
    get(id: number): Chat
    findPerson(id: number): Person | undefined
  }
  readonly messages: { find(chatId: number, id: number): ChatMessage | undefined }
}

/** Seconds since 1970, the Bot API's form of instants. */
export function unixSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1000)
}

/** A `User` object of a person. */
export function personWire(person: Person): Wire {
  return {
    id: person.id,
    is_bot: false,
    first_name: person.firstName,
    ...(person.username === undefined ? {} : { username: person.username }),
    language_code: person.languageCode,
  }
}

/** A `User` object of the bot. */
export function botWire(bot: BotAccount): Wire {
  return { id: bot.id, is_bot: true, first_name: bot.firstName, username: bot.username }
}

/** The answer of `getMe`. */
export function botDetailsWire(bot: BotAccount): Wire {
  return {
    ...botWire(bot),
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_guest_queries: false,
    supports_inline_queries: true,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  }
}

/** A `Chat`. */
export function chatWire(chat: Chat): Wire {
  if (chat.type === 'private') {
    const { id, firstName, username } = chat.person
    return { id, first_name: firstName, ...(username ? { username } : {}), type: 'private' }
  }
  return {
    id: chat.id,
    title: chat.title,
    type: chat.type,
    ...(chat.isForum ? { is_forum: true } : {}),
  }
}

/** A `ChatMember` for a person. */
export function memberWire({ person, status }: Member, chatType: Chat['type']): Wire {
  return { user: personWire(person), ...accessWire(status, chatType) }
}

/** A `ChatMember` for the bot. */
export function botMemberWire(
  bot: BotAccount,
  status: BotStatus,
  chatType: Chat['type'] = 'group',
): Wire {
  return { user: botWire(bot), ...accessWire(status, chatType) }
}

/** A status with its rights. In a channel nobody is restricted: an administrator may post, or not. */
function accessWire(status: MemberStatus | BotStatus, chatType: Chat['type']): Wire {
  const isPublisher = chatType === 'channel' && status === 'administrator'
  const isSilent = chatType === 'channel' && status === 'restricted'
  if (!isPublisher && !isSilent) return statusWire(status)
  const rights = { can_post_messages: isPublisher, can_edit_messages: isPublisher }
  return { ...statusWire('administrator'), ...rights }
}

function statusWire(status: MemberStatus | BotStatus): Wire {
  switch (status) {
    case 'creator':
      return { status, is_anonymous: false }
    case 'administrator':
      return { status, can_be_edited: false, is_anonymous: false, ...ADMINISTRATOR_RIGHTS }
    case 'restricted':
      return { status, is_member: true, until_date: 0, can_send_messages: false }
    case 'kicked':
      return { status, until_date: 0 }
    case 'member':
    case 'left':
      return { status }
    default:
      return status satisfies never
  }
}

const ADMINISTRATOR_RIGHTS = {
  can_manage_chat: true,
  can_change_info: true,
  can_delete_messages: true,
  can_invite_users: true,
  can_restrict_members: true,
  can_pin_messages: true,
  can_manage_topics: true,
  can_promote_members: false,
  can_manage_video_chats: true,
  can_post_stories: false,
  can_edit_stories: false,
  can_delete_stories: false,
} as const

/** A `Message`. It contains the message to which it replies, without that message's own reply, as in Telegram. */
export function messageWire(sources: WireLookups, message: ChatMessage, withReply = true): Wire {
  const chat = sources.chats.get(message.chatId)
  const reply =
    withReply && message.replyTo !== undefined
      ? sources.messages.find(message.chatId, message.replyTo)
      : undefined
  return {
    message_id: message.id,
    ...senderWire(sources, chat, message),
    chat: chatWire(chat),
    date: unixSeconds(message.at),
    ...(message.editedAt ? { edit_date: unixSeconds(message.editedAt) } : {}),
    ...(message.threadId === undefined ? {} : { message_thread_id: message.threadId }),
    ...(message.isTopic ? { is_topic_message: true } : {}),
    ...(reply ? { reply_to_message: messageWire(sources, reply, false) } : {}),
    ...(message.viaBot ? { via_bot: botWire(sources.bot) } : {}),
    ...contentWire(message),
    ...(message.linkPreview ? { link_preview_options: message.linkPreview } : {}),
    ...(message.keyboard.length > 0 ? { reply_markup: { inline_keyboard: message.keyboard } } : {}),
    ...message.service,
  }
}

function senderWire(sources: WireLookups, chat: Chat, message: ChatMessage): Wire {
  if (message.anonymous) {
    const from = {
      id: ANONYMOUS_ADMINISTRATOR_ID,
      is_bot: true,
      first_name: 'Group',
      username: 'GroupAnonymousBot',
    }
    return { from, sender_chat: chatWire(chat) }
  }
  // Posts of a channel have no sender but the channel.
  if (chat.type === 'channel') return { sender_chat: chatWire(chat) }
  const person = sources.chats.findPerson(message.from)
  return { from: person ? personWire(person) : botWire(sources.bot) }
}

function contentWire(message: ChatMessage): Wire {
  const { file, text, entities } = message
  if (!file) {
    return text === '' ? {} : { text, ...(entities.length > 0 ? { entities } : {}) }
  }
  const caption =
    text === ''
      ? {}
      : { caption: text, ...(entities.length > 0 ? { caption_entities: entities } : {}) }
  return { ...fileWire(file), ...caption }
}

function fileWire(file: StoredFile): Wire {
  const base = {
    file_id: file.id,
    file_unique_id: `unique-${file.id}`,
    file_size: file.bytes.byteLength,
  }
  const width = file.width ?? 512
  const height = file.height ?? 512
  switch (file.kind) {
    case 'photo':
      return { photo: [{ ...base, width, height }] }
    case 'document':
      return { document: { ...base, file_name: file.name, mime_type: file.mimeType } }
    case 'voice':
      return { voice: { ...base, duration: 3, mime_type: file.mimeType } }
    case 'sticker':
      return {
        sticker: { ...base, type: 'regular', width, height, is_animated: false, is_video: false },
      }
    default:
      return file.kind satisfies never
  }
}

/** A `ChatFullInfo`, with the newest pinned message. */
export function fullChatWire(sources: WireLookups, chat: Chat): Wire {
  const pinnedId = chat.pinned.at(-1)
  const pinned = pinnedId === undefined ? undefined : sources.messages.find(chat.id, pinnedId)
  return {
    ...chatWire(chat),
    accent_color_id: 0,
    max_reaction_count: 11,
    accepted_gift_types: NO_GIFTS,
    ...(chat.type === 'private' ? {} : { permissions: permissionsWire(chat) }),
    ...(pinned ? { pinned_message: messageWire(sources, pinned, false) } : {}),
  }
}

const NO_GIFTS = {
  unlimited_gifts: false,
  limited_gifts: false,
  unique_gifts: false,
  premium_subscription: false,
  gifts_from_channels: false,
} as const

function permissionsWire(chat: GroupChat): Wire {
  const maySend = chat.botStatus !== 'restricted'
  return { can_send_messages: maySend, can_send_photos: maySend, can_send_documents: maySend }
}
