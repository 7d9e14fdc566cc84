/**
 * Linking a chat, its settings and what is kept of it: operations without a route. They pass the same gate
 * and are part of no document.
 */
import { z } from 'zod'
import { deleteChatData as forgetChat, muteChat } from '#src/alerts/settings-changes.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { updateChat as changeChat, unlinkChat as unlink } from '#src/recipients/chats.ts'
import * as connect from '#src/recipients/connect.ts'
import { TimeZone } from '#src/recipients/model.ts'
import * as links from '#src/recipients/telegram-link.ts'
import { defineChatOperation } from './define.ts'

/** A one-time link code: 128 bits in base64url. */
export const LinkCode = z.string().regex(/^[\w-]{22}$/)

const ChatId = z.int()

const DAY_MINUTES = 1440

const LocaleCode = z.enum(LOCALES)

/** A link code and the chat that shows it. */
const CodeInChat = z.strictObject({ code: LinkCode, chat: z.strictObject({ id: ChatId }) })

/** What a link code offers in this chat. */
export const peekTelegramLink = defineChatOperation({
  id: 'peekTelegramLink',
  scope: 'none',
  body: CodeInChat,
  handle: ({ app, body }) => links.peekTelegramLink(app, body),
})

/** Links a chat with a code: the code is the proof of the wallet's will, the front door of the chat's. */
export const claimTelegramLink = defineChatOperation({
  id: 'claimTelegramLink',
  scope: 'none',
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
export const refuseTelegramLink = defineChatOperation({
  id: 'refuseTelegramLink',
  scope: 'none',
  body: CodeInChat,
  handle: ({ app, body }) => links.refuseTelegramLink(app, body),
})

/** Changes what belongs to a linked chat itself, whatever its rights are. */
export const updateChat = defineChatOperation({
  id: 'updateChat',
  scope: 'read',
  body: z.strictObject({
    chatId: ChatId,
    locale: LocaleCode.exactOptional(),
    timezone: TimeZone.exactOptional(),
    /** The topic alerts go to; null: none. */
    threadId: z.int().positive().nullable().exactOptional(),
  }),
  handle: ({ app, body }) => changeChat(app, body),
})

/** Holds everything for a chat for so many minutes, a day at most; 0 ends that. Gives until when. */
export const muteAll = defineChatOperation({
  id: 'muteAll',
  scope: 'read',
  body: z.strictObject({ chatId: ChatId, minutes: z.int().min(0).max(DAY_MINUTES) }),
  handle: ({ app, body }) => muteChat(app, body),
})

/** Ends the chat's link to the wallet. Gives how many there were. */
export const unlinkChat = defineChatOperation({
  id: 'unlinkChat',
  scope: 'read',
  body: z.strictObject({ chatId: ChatId }),
  handle: ({ app, caller, body }) => unlink(app, { ...body, wallet: caller.wallet }),
})

/** Deletes what is kept of a chat and its person. Needs no link: it is theirs. */
export const deleteChatData = defineChatOperation({
  id: 'deleteChatData',
  scope: 'none',
  body: z.strictObject({ chatId: ChatId, personId: z.int(), name: z.string().nullable() }),
  handle: ({ app, body }) => forgetChat(app, body),
})

/** Creates a private chat's code for the connect page. */
export const createConnectCode = defineChatOperation({
  id: 'createConnectCode',
  scope: 'none',
  body: z.strictObject({
    chat: z.strictObject({
      id: ChatId,
      title: z.string(),
      username: z.string().exactOptional(),
    }),
    by: z.strictObject({ id: z.int() }),
    locale: LocaleCode,
    spend: z.boolean().exactOptional(),
    goesOn: z.string().exactOptional(),
  }),
  handle: ({ app, body }) => connect.createConnectCode(app, body),
})
