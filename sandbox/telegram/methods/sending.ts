import { integerArgument, textArgument } from '../arguments.ts'
import { accessibleChat } from '../chat-store.ts'
import { readFile } from '../files.ts'
import { badRequest } from '../refusal.ts'
import { messageWire } from '../wire.ts'
import { parseMessageText, readCaption, readLinkPreview, sendToChat } from './content.ts'
import type { BotApiMethod } from './define.ts'

const ACTIONS: readonly string[] = [
  'typing',
  'upload_photo',
  'record_video',
  'upload_video',
  'record_voice',
  'upload_voice',
  'upload_document',
  'choose_sticker',
  'find_location',
  'record_video_note',
  'upload_video_note',
]

/** Methods that send new messages. */
export const SENDING: readonly BotApiMethod[] = [
  {
    name: 'sendMessage',
    run(backend, args) {
      const content = { ...parseMessageText(backend, args), linkPreview: readLinkPreview(args) }
      return messageWire(backend, sendToChat(backend, args, content, 'text messages'))
    },
  },
  {
    name: 'sendPhoto',
    run(backend, args) {
      const file = readFile(backend.files, args, 'photo')
      const content = { ...readCaption(backend, args), file }
      return messageWire(backend, sendToChat(backend, args, content, 'photos'))
    },
  },
  {
    name: 'sendDocument',
    run(backend, args) {
      const file = readFile(backend.files, args, 'document')
      const content = { ...readCaption(backend, args), file }
      return messageWire(backend, sendToChat(backend, args, content, 'documents'))
    },
  },
  {
    name: 'sendChatAction',
    run(backend, args) {
      if (!ACTIONS.includes(textArgument(args, 'action'))) {
        throw badRequest('wrong parameter action in request')
      }
      const chat = accessibleChat(backend.chats, textArgument(args, 'chat_id'), 'write')
      const threadId = integerArgument(args, 'message_thread_id') || undefined
      backend.changes.emit({ kind: 'action', chatId: chat.id, threadId })
      return true
    },
  },
]
