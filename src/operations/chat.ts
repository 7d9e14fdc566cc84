/**
 * What a chat needs beyond the published table: operations without a route. They pass the same gate
 * and are part of no document.
 */
import { z } from 'zod'
import * as acting from '#src/alerts/acknowledge.ts'
import {
  getAlert as readAlert,
  findMessage as readMessage,
  openHelp as showHelp,
} from '#src/alerts/card.ts'
import { deleteChatData as forgetChat, muteChat } from '#src/alerts/settings-changes.ts'
import { HELP_PARTS } from '#src/channels/define.ts'
import * as delivery from '#src/delivery/service.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { Id, Instant } from '#src/kernel/units.ts'
import { updateChat as changeChat, unlinkChat as unlink } from '#src/recipients/chats.ts'
import { TimeZone } from '#src/recipients/model.ts'
import * as links from '#src/recipients/telegram-link.ts'
import { defineOperation } from './define.ts'

/** A one-time link code: 128 bits in base64url. */
export const LinkCode = z.string().regex(/^[\w-]{22}$/)

const ChatId = z.int()
const DAY_MINUTES = 1440
/** Longest name of a person that is kept with what they did. */
const PERSON_LENGTH_MAX = 64
const LocaleCode = z.enum(LOCALES)
/** A link code and the chat that shows it. */
const CodeInChat = z.strictObject({ code: LinkCode, chat: z.strictObject({ id: ChatId }) })

/** What a link code offers in this chat. */
export const peekTelegramLink = defineOperation({
  id: 'peekTelegramLink',
  method: 'POST',
  scope: 'none',
  rate: 'read',
  status: 200,
  body: CodeInChat,
  handle: ({ app, body }) => links.peekTelegramLink(app, body),
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
  body: CodeInChat,
  handle: ({ app, body }) => links.refuseTelegramLink(app, body),
})

/** Changes what belongs to a linked chat itself, whatever its rights are. */
export const updateChat = defineOperation({
  id: 'updateChat',
  method: 'PATCH',
  scope: 'read',
  rate: 'write',
  status: 204,
  body: z.strictObject({
    chatId: ChatId,
    locale: LocaleCode.exactOptional(),
    timezone: TimeZone.exactOptional(),
    /** The topic alerts go to; null: none. */
    threadId: z.int().positive().nullable().exactOptional(),
  }),
  handle: ({ app, body }) => changeChat(app, body),
})

/** Ends the chat's link to the wallet. Gives how many there were. */
export const unlinkChat = defineOperation({
  id: 'unlinkChat',
  method: 'POST',
  scope: 'read',
  rate: 'write',
  status: 200,
  body: z.strictObject({ chatId: ChatId }),
  handle: ({ app, caller, body }) => unlink(app, { ...body, wallet: caller.wallet }),
})

/** Deletes what is kept of a chat and its person. Needs no link: it is theirs. */
export const deleteChatData = defineOperation({
  id: 'deleteChatData',
  method: 'POST',
  scope: 'none',
  rate: 'write',
  status: 204,
  body: z.strictObject({ chatId: ChatId, personId: z.int(), name: z.string().nullable() }),
  handle: ({ app, body }) => forgetChat(app, body),
})

/** Who acts, as the chat or the link calls them. */
const By = z.string().trim().min(1).max(PERSON_LENGTH_MAX).nullable()

/** One alert with everything a chat shows of it. */
export const getAlert = defineOperation({
  id: 'getAlert',
  method: 'POST',
  scope: 'read',
  rate: 'read',
  status: 200,
  body: z.strictObject({ id: Id, locale: LocaleCode, timezone: TimeZone }),
  handle: ({ app, caller, body: { id, ...reader } }) => readAlert(app, caller, { id, reader }),
})

/** What a message of the chat is to show now; undefined when it is none of the wallet's. */
export const findMessage = defineOperation({
  id: 'findMessage',
  method: 'POST',
  scope: 'read',
  rate: 'read',
  status: 200,
  body: z.strictObject({ recipientId: Id, messageId: z.string() }),
  handle: ({ app, caller, body }) => readMessage(app, caller, body),
})

/** Opens a part of the help below a message of the chat, or closes it, and gives the message. */
export const openHelp = defineOperation({
  id: 'openHelp',
  method: 'POST',
  scope: 'read',
  rate: 'read',
  status: 200,
  body: z.strictObject({
    recipientId: Id,
    messageId: z.string(),
    help: z.enum(HELP_PARTS).nullable(),
  }),
  handle: ({ app, caller, body }) => showHelp(app, caller, body),
})

/** Acknowledges an alert and the episode it belongs to, or takes that back. */
export const acknowledgeAlert = defineOperation({
  id: 'acknowledgeAlert',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 200,
  body: z.strictObject({ id: Id, acknowledged: z.boolean(), by: By }),
  handle: ({ app, caller, body: { id, acknowledged, by } }) =>
    acknowledged
      ? acting.acknowledgeAlert(app, caller, { id, by })
      : acting.unacknowledgeAlert(app, caller, { id }),
})

/** Acknowledges every alert that one message of a chat tells of. */
export const acknowledgeMessage = defineOperation({
  id: 'acknowledgeMessage',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 200,
  body: z.strictObject({ recipientId: Id, messageId: z.string(), by: By }),
  handle: ({ app, caller, body }) => acting.acknowledgeMessage(app, caller, body),
})

/** Silences an alert's episode until it recovers, or ends that. */
export const muteEpisode = defineOperation({
  id: 'muteEpisode',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 200,
  body: z.strictObject({ id: Id, muted: z.boolean() }),
  handle: ({ app, caller, body }) => acting.muteEpisode(app, caller, body),
})

/** Silences every alert that one message of a chat tells of until it recovers, or ends that. */
export const muteMessage = defineOperation({
  id: 'muteMessage',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 200,
  body: z.strictObject({ recipientId: Id, messageId: z.string(), muted: z.boolean() }),
  handle: ({ app, caller, body }) => acting.muteMessage(app, caller, body),
})

/** Silences the watch of an alert until an instant; null ends that. */
export const muteWatchOf = defineOperation({
  id: 'muteWatchOf',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 200,
  body: z.strictObject({ id: Id, until: Instant.nullable() }),
  handle: ({ app, caller, body }) => acting.muteWatchOf(app, caller, body),
})

/** Holds everything for a chat for so many minutes, a day at most; 0 ends that. Gives until when. */
export const muteAll = defineOperation({
  id: 'muteAll',
  method: 'POST',
  scope: 'read',
  rate: 'write',
  status: 200,
  body: z.strictObject({ chatId: ChatId, minutes: z.int().min(0).max(DAY_MINUTES) }),
  handle: ({ app, body }) => muteChat(app, body),
})

/** Sends what a recipient missed while its destination was off. Gives how many messages. */
export const sendRetained = defineOperation({
  id: 'sendRetained',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 200,
  body: z.strictObject({ recipientId: Id }),
  handle: ({ app, caller, body }) => delivery.sendRetained(app, caller, body.recipientId),
})

/** Lets go of it. Gives how many messages. */
export const dropRetained = defineOperation({
  id: 'dropRetained',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 200,
  body: z.strictObject({ recipientId: Id }),
  handle: ({ app, caller, body }) => delivery.dropRetained(app.db, caller, body.recipientId),
})
