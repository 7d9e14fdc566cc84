/**
 * Operations on the chat itself, without a route: links, settings and stored data. Their calls pass `invoke` like all
 * others; no document describes them.
 */
import { z } from 'zod'
import { deleteChatData as forgetChat } from '#src/alerts/deletions.ts'
import { muteChatAndReschedule } from '#src/alerts/reminders/settings-changes.ts'
import { SCOPES } from '#src/kernel/caller.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { Address } from '#src/kernel/units.ts'
import * as chats from '#src/recipients/chats.ts'
import * as connect from '#src/recipients/connect.ts'
import { TimeZone } from '#src/recipients/model.ts'
import * as links from '#src/recipients/telegram-link.ts'
import { defineChatOperation } from '../define.ts'

/** A one-time link code: 128 bits in base64url. */
export const LinkCode = z.string().regex(/^[\w-]{22}$/)

const ChatId = z.int()

const DAY_MINUTES = 1440

const LocaleCode = z.enum(LOCALES)

/** A link code and the chat that shows it. */
const CodeInChat = z.strictObject({ code: LinkCode, chat: z.strictObject({ id: ChatId }) })

/** Reads the wallet and rights that a link code grants this chat. */
export const peekTelegramLink = defineChatOperation({
  id: 'peekTelegramLink',
  scope: 'none',
  body: CodeInChat,
  handle: ({ app, body }) => links.peekTelegramLink(app, body),
})

/**
 * Links a chat by a code. The code was created for the wallet, so the wallet has consented; the person in the chat
 * consents by pressing the button.
 */
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

/** Links a channel, of which the person is an administrator, to the wallet. */
export const linkChannel = defineChatOperation({
  id: 'linkChannel',
  scope: 'write',
  body: z.strictObject({
    chat: z.strictObject({ id: ChatId, title: z.string() }),
    by: z.strictObject({ id: z.int() }),
    locale: LocaleCode,
  }),
  handle: ({ app, caller, body }) => chats.linkChannel(app, caller, body),
})

/**
 * Id of the recipient of the chat that was linked with a code of the wallet; undefined until the code is used. The code
 * is named by the time at which it expires.
 */
export const findRecipientIdOfLinkCode = defineChatOperation({
  id: 'findRecipientIdOfLinkCode',
  scope: 'read',
  body: z.strictObject({ expiresAt: z.date() }),
  handle: ({ app, caller, body }) => links.findRecipientIdOfLinkCode(app, caller, body),
})

/** Uses a code up without linking the chat. */
export const refuseTelegramLink = defineChatOperation({
  id: 'refuseTelegramLink',
  scope: 'none',
  body: CodeInChat,
  handle: ({ app, body }) => links.refuseTelegramLink(app, body),
})

/** Changes language, time zone or topic of a linked chat, for all its wallets. Every linked chat may do so. */
export const updateChat = defineChatOperation({
  id: 'updateChat',
  scope: 'read',
  body: z.strictObject({
    chatId: ChatId,
    locale: LocaleCode.exactOptional(),
    timezone: TimeZone.exactOptional(),
    /** Topic for alerts; null for none. */
    threadId: z.int().positive().nullable().exactOptional(),
  }),
  handle: ({ app, body }) => chats.updateChat(app, body),
})

/** Says whether every member of a linked group may acknowledge the wallet's alerts. */
export const updateGroup = defineChatOperation({
  id: 'updateGroup',
  scope: 'write',
  body: z.strictObject({ chatId: ChatId, membersAcknowledge: z.boolean() }),
  handle: ({ app, caller, body }) => chats.changeAcknowledging(app, caller, body),
})

/** Creates a link for a group, whose members may acknowledge or not. */
export const createGroupLink = defineChatOperation({
  id: 'createGroupLink',
  scope: 'write',
  body: z.strictObject({
    scopes: z.array(z.enum(SCOPES)),
    membersAcknowledge: z.boolean(),
  }),
  handle: ({ app, caller, body }) => links.createTelegramLink(app, caller, body),
})

/**
 * Mutes a chat: defers all its messages for a number of minutes, at most a day; 0 unmutes it.
 * Returns the end.
 */
export const muteAll = defineChatOperation({
  id: 'muteAll',
  scope: 'read',
  body: z.strictObject({ chatId: ChatId, minutes: z.int().min(0).max(DAY_MINUTES) }),
  handle: ({ app, body }) => muteChatAndReschedule(app, body),
})

/** Deletes the chat's link to the wallet. Returns the number of links. */
export const unlinkChat = defineChatOperation({
  id: 'unlinkChat',
  scope: 'read',
  body: z.strictObject({ chatId: ChatId }),
  handle: ({ app, caller, body }) => chats.unlinkChat(app, { ...body, wallet: caller.wallet }),
})

/** Deletes all data of a chat and its person. Needs no scope, because a chat without a link may delete its data, too. */
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
    wallet: Address.exactOptional(),
    goesOn: z.string().exactOptional(),
  }),
  handle: ({ app, body }) => connect.createConnectCode(app, body),
})
