/**
 * What a chat needs beyond the published table: operations without a route. They pass the same gate
 * and are part of no document.
 */
import { z } from 'zod'
import { LOCALES } from '#src/kernel/locale.ts'
import { updateChat as changeChat } from '#src/recipients/chats.ts'
import * as links from '#src/recipients/telegram-link.ts'
import { defineOperation } from './define.ts'

/** A one-time link code: 128 bits in base64url. */
export const LinkCode = z.string().regex(/^[\w-]{22}$/)

const ChatId = z.int()
const LocaleCode = z.enum(LOCALES)

/** What a link code offers. Nothing is spent. */
export const peekTelegramLink = defineOperation({
  id: 'peekTelegramLink',
  method: 'POST',
  scope: 'none',
  rate: 'read',
  status: 200,
  body: z.strictObject({ code: LinkCode }),
  handle: ({ app, body }) => links.peekTelegramLink(app, body.code),
})

/** Links a chat with a code: the code is the proof of the wallet's will, the front door of the chat's. */
export const claimTelegramLink = defineOperation({
  id: 'claimTelegramLink',
  method: 'POST',
  scope: 'none',
  rate: 'write',
  status: 200,
  body: z.strictObject({
    code: LinkCode,
    chat: z.strictObject({
      id: ChatId,
      title: z.string(),
      threadId: z.int().positive().exactOptional(),
    }),
    by: z.strictObject({ id: z.int() }),
    locale: LocaleCode,
  }),
  handle: ({ app, body }) => links.claimTelegramLink(app, body),
})

/** Uses a code up without linking anything. */
export const refuseTelegramLink = defineOperation({
  id: 'refuseTelegramLink',
  method: 'POST',
  scope: 'none',
  rate: 'write',
  status: 204,
  body: z.strictObject({ code: LinkCode }),
  handle: ({ app, body }) => links.refuseTelegramLink(app, body.code),
})

/** Changes what belongs to a linked chat itself, whatever its rights are. */
export const updateChat = defineOperation({
  id: 'updateChat',
  method: 'PATCH',
  scope: 'read',
  rate: 'write',
  status: 204,
  body: z.strictObject({ chatId: ChatId, locale: LocaleCode }),
  handle: ({ app, body }) => changeChat(app, body),
})
