import { isDeepStrictEqual } from 'node:util'
import {
  type Arguments,
  integerArgument,
  isObject,
  jsonArgument,
  textArgument,
  textField,
} from '../arguments.ts'
import type { Backend } from '../backend.ts'
import { accessibleChat } from '../chat-store.ts'
import { readFile } from '../files.ts'
import { checkKeyboardFits } from '../keyboard.ts'
import type { Chat, ChatMessage, Keyboard } from '../model.ts'
import { type BotApiRefusal, badRequest } from '../refusal.ts'
import { messageWire } from '../wire.ts'
import { parseMessageText, readCaption, readLinkPreview, readReplyMarkup } from './content.ts'
import type { BotApiMethod } from './define.ts'

const DELETE_WINDOW_MS = 48 * 60 * 60 * 1000
const IDS_MAX = 100

/** Methods that change or remove existing messages. */
export const EDITING: readonly BotApiMethod[] = [
  {
    name: 'editMessageText',
    run(backend, args) {
      const content = { ...parseMessageText(backend, args), linkPreview: readLinkPreview(args) }
      const keyboard = readInlineKeyboard(args)
      return edit(backend, args, (message) => {
        if (message.file) throw badRequest('there is no text in the message to edit')
        return { ...message, ...content, keyboard }
      })
    },
  },
  {
    name: 'editMessageCaption',
    run(backend, args) {
      const content = readCaption(backend, args)
      const keyboard = readInlineKeyboard(args)
      return edit(backend, args, (message) => {
        if (!message.file) throw badRequest('there is no caption in the message to edit')
        return { ...message, ...content, keyboard }
      })
    },
  },
  {
    name: 'editMessageMedia',
    run(backend, args) {
      const media = readMedia(args)
      const keyboard = readInlineKeyboard(args)
      const content = readCaption(backend, media)
      const file = readFile(backend.files, media, 'photo')
      return edit(backend, args, (message) => {
        if (!message.file) throw badRequest('there is no media in the message to edit')
        return { ...message, ...content, file, keyboard }
      })
    },
  },
  {
    name: 'editMessageReplyMarkup',
    run(backend, args) {
      const keyboard = readInlineKeyboard(args)
      return edit(backend, args, (message) => ({ ...message, keyboard }))
    },
  },
  {
    name: 'deleteMessage',
    run(backend, args) {
      if (textArgument(args, 'chat_id') === '') throw badRequest('chat identifier is not specified')
      const id = integerArgument(args, 'message_id')
      if (id === 0) throw badRequest('message identifier is not specified')
      const chat = accessibleChat(backend.chats, textArgument(args, 'chat_id'), 'write')
      const message = backend.messages.find(chat.id, id)
      if (!message) throw badRequest('message to delete not found')
      const refusal = refusedDeletion(backend, chat, message)
      if (refusal) throw refusal
      backend.messages.remove(chat.id, id)
      return true
    },
  },
  {
    name: 'deleteMessages',
    run(backend, args) {
      const ids = jsonArgument(args, 'message_ids', 'message_ids')
      if (!Array.isArray(ids)) throw badRequest('expected an Array of message identifiers')
      if (ids.length > IDS_MAX) throw badRequest('too many message identifiers specified')
      const chat = accessibleChat(backend.chats, textArgument(args, 'chat_id'), 'write')
      // Missing and undeletable ones are skipped, as documented.
      for (const id of ids) {
        const message = backend.messages.find(chat.id, Number(id))
        if (message && !refusedDeletion(backend, chat, message)) {
          backend.messages.remove(chat.id, message.id)
        }
      }
      return true
    },
  },
]

/** A photo and its caption, in the form of `sendPhoto`. Other media are not implemented. */
function readMedia(args: Arguments): Arguments {
  const media = jsonArgument(args, 'media', 'input media')
  if (!isObject(media)) throw badRequest('input media is not specified')
  if (textField(media, 'type') !== 'photo') {
    throw badRequest(`can't parse InputMedia: type ${textField(media, 'type')} is unsupported`)
  }
  const { caption_entities: entities } = media
  const texts = new Map([
    ['photo', textField(media, 'media')],
    ['caption', textField(media, 'caption')],
    ['parse_mode', textField(media, 'parse_mode')],
    ...(entities === undefined ? [] : [['caption_entities', JSON.stringify(entities)] as const]),
  ])
  return { ...args, texts }
}

function readInlineKeyboard(args: Arguments): Keyboard {
  const markup = readReplyMarkup(args)
  if (markup.other) throw badRequest('inline keyboard expected')
  return markup.keyboard
}

/**
 * Replaces a message.
 *
 * @throws BotApiRefusal 400 unknown, not the bot's own, or unchanged
 */
function edit(
  backend: Backend,
  args: Arguments,
  change: (message: ChatMessage) => ChatMessage,
): unknown {
  if (textArgument(args, 'chat_id') === '' && integerArgument(args, 'message_id') === 0) {
    if (textArgument(args, 'inline_message_id') === '') {
      throw badRequest('message identifier is not specified')
    }
    // Inline messages are posted by people here and have no buttons to press.
    throw badRequest('MESSAGE_ID_INVALID')
  }
  const chat = accessibleChat(backend.chats, textArgument(args, 'chat_id'), 'write')
  const message = backend.messages.find(chat.id, integerArgument(args, 'message_id'))
  if (!message) throw badRequest('message to edit not found')
  const isOwn = message.from === backend.bot.id && !message.service && !message.anonymous
  if (!isOwn || message.otherMarkup) throw badRequest("message can't be edited")
  const changed = change(message)
  checkKeyboardFits(changed.keyboard, chat.type)
  if (isDeepStrictEqual(withoutAbsent(changed), withoutAbsent(message))) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    )
  }
  const editedAt = backend.clock.now()
  return messageWire(backend, backend.messages.replace({ ...changed, editedAt }))
}

/** The properties an edit compares, without the preview. */
function withoutAbsent(message: ChatMessage) {
  const { text: shown, entities, keyboard, file } = message
  return { shown, entities, keyboard, file: file?.id }
}

function refusedDeletion(
  backend: Backend,
  chat: Chat,
  message: ChatMessage,
): BotApiRefusal | undefined {
  const isOwn = message.from === backend.bot.id
  const mayDelete = isOwn || chat.type === 'private' || chat.botStatus === 'administrator'
  if (!mayDelete) return badRequest("message can't be deleted")
  const isAdministrator = chat.type === 'supergroup' && chat.botStatus === 'administrator'
  const ageMs = backend.clock.now().getTime() - message.at.getTime()
  if (ageMs > DELETE_WINDOW_MS && !isAdministrator) {
    return badRequest("message can't be deleted for everyone")
  }
  return undefined
}
