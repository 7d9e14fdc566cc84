/** Operations on alerts for chats, without a route. */
import { z } from 'zod'
import * as acting from '#src/alerts/acknowledge/acknowledge.ts'
import {
  openPartOf,
  getAlert as readAlert,
  findMessage as readMessage,
} from '#src/alerts/history/card.ts'
import * as lines from '#src/alerts/history/lines.ts'
import { ALERT_STATES } from '#src/alerts/model.ts'
import { OPEN_PARTS } from '#src/channels/envelope.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { Note } from '#src/kernel/label.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { Id, Instant } from '#src/kernel/units.ts'
import { TimeZone } from '#src/recipients/model.ts'
import { defineChatOperation } from '../define.ts'

/** Maximum length of a stored name of a person. */
const PERSON_LENGTH_MAX = 64

const LIMIT_MAX = 50

/** Whether a group reads the answer, where nothing speaks of credits. */
const IsGroup = z.boolean().optional()

const Reader = z.strictObject({
  locale: z.enum(LOCALES),
  timezone: TimeZone,
  isGroup: IsGroup,
})

const Cursor = z.string().max(24).optional()

/** Name of the acting person, from the chat or the link. */
const By = z.string().trim().min(1).max(PERSON_LENGTH_MAX).nullable()

const AlertLineFilter = z.strictObject({
  state: z.enum(ALERT_STATES).optional(),
  severity: z.enum(SEVERITIES).optional(),
  watchId: Id.optional(),
  incidentId: Id.optional(),
  hours: z.int().positive().optional(),
  isGroup: IsGroup,
})

/** A page of the wallet's alerts in the chat's language, without recoveries. */
export const listAlertLines = defineChatOperation({
  id: 'listAlertLines',
  scope: 'read',
  body: z.strictObject({
    wanted: AlertLineFilter,
    limit: z.int().min(1).max(LIMIT_MAX),
    cursor: Cursor,
    reader: Reader,
  }),
  handle: ({ app, caller, body }) => lines.listAlertLines(app, caller, body),
})

/** Active alerts that are muted until they recover. */
export const listMutedAlerts = defineChatOperation({
  id: 'listMutedAlerts',
  scope: 'read',
  body: z.strictObject({ limit: z.int().min(1).max(LIMIT_MAX), reader: Reader }),
  handle: ({ app, caller, body }) => lines.listMutedLines(app, caller, body),
})

/** One alert with all data that a chat shows. */
export const getAlert = defineChatOperation({
  id: 'getAlert',
  scope: 'read',
  body: z.strictObject({ id: Id, recipientId: Id, ...Reader.shape }),
  handle: ({ app, caller, body: { id, recipientId, ...reader } }) =>
    readAlert(app, caller, { id, recipientId, reader }),
})

/** Current content of a message of the chat; undefined if it contains no alert of the wallet. */
export const findMessage = defineChatOperation({
  id: 'findMessage',
  scope: 'read',
  body: z.strictObject({ recipientId: Id, messageId: z.string() }),
  handle: ({ app, caller, body }) => readMessage(app, caller, body),
})

/** Opens or closes a section of the help, or the ways to mute, below a message of the chat, and returns the message. */
export const openPart = defineChatOperation({
  id: 'openPart',
  scope: 'read',
  body: z.strictObject({
    recipientId: Id,
    messageId: z.string(),
    part: z.enum(OPEN_PARTS).nullable(),
  }),
  handle: ({ app, caller, body }) => openPartOf(app, caller, body),
})

/** Acknowledges an alert and its incident, or undoes the acknowledgement. */
export const acknowledgeAlert = defineChatOperation({
  id: 'acknowledgeAlert',
  scope: 'write',
  body: z.strictObject({ id: Id, acknowledged: z.boolean(), by: By }),
  handle: ({ app, caller, body: { id, acknowledged, by } }) =>
    acknowledged
      ? acting.acknowledgeAlert(app, caller, { id, by })
      : acting.unacknowledgeAlert(app, caller, { id }),
})

/** Acknowledges every alert in one message of a chat. */
export const acknowledgeMessage = defineChatOperation({
  id: 'acknowledgeMessage',
  scope: 'write',
  body: z.strictObject({ recipientId: Id, messageId: z.string(), by: By }),
  handle: ({ app, caller, body }) => acting.acknowledgeMessage(app, caller, body),
})

/** Writes a note to every alert in one message of a chat; says whether any got it. */
export const annotateMessage = defineChatOperation({
  id: 'annotateMessage',
  scope: 'write',
  body: z.strictObject({
    ...{ recipientId: Id, messageId: z.string(), note: Note, by: By },
    ofTakerOnly: z.boolean(),
  }),
  handle: ({ app, caller, body }) => acting.annotateMessage(app, caller, body),
})

/** Undoes the last acknowledgement of the alerts in one message of a chat. */
export const unacknowledgeMessage = defineChatOperation({
  id: 'unacknowledgeMessage',
  scope: 'write',
  body: z.strictObject({ recipientId: Id, messageId: z.string() }),
  handle: ({ app, caller, body }) => acting.unacknowledgeMessage(app, caller, body),
})

/** Mutes an alert's incident until it is over, or unmutes it. */
export const muteIncident = defineChatOperation({
  id: 'muteIncident',
  scope: 'write',
  body: z.strictObject({ id: Id, muted: z.boolean() }),
  handle: ({ app, caller, body }) => acting.muteIncident(app, caller, body),
})

/** Mutes every alert in one message of a chat until it recovers, or unmutes them. */
export const muteMessage = defineChatOperation({
  id: 'muteMessage',
  scope: 'write',
  body: z.strictObject({ recipientId: Id, messageId: z.string(), muted: z.boolean() }),
  handle: ({ app, caller, body }) => acting.muteMessage(app, caller, body),
})

/** Mutes the watch of an alert until an instant; null unmutes it. */
export const muteWatchOf = defineChatOperation({
  id: 'muteWatchOf',
  scope: 'write',
  body: z.strictObject({ id: Id, until: Instant.nullable() }),
  handle: ({ app, caller, body }) => acting.muteWatchOf(app, caller, body),
})
