/** Operations on destinations of any kind for chats, without a route. */
import { z } from 'zod'
import { sendTestUnlessRecent } from '#src/alerts/messages/test-send.ts'
import * as missed from '#src/alerts/summaries/missed.ts'
import * as log from '#src/delivery/log/delivery-log.ts'
import * as delivery from '#src/delivery/service.ts'
import { Id } from '#src/kernel/units.ts'
import { resendConfirmation as askAgain } from '#src/recipients/confirmations.ts'
import * as destinations from '#src/recipients/destination-list.ts'
import { NewRecipient, RecipientChanges } from '#src/recipients/model.ts'
import { defineChatOperation } from '../define.ts'

const Cursor = z.string().max(24).optional()

const LIMIT_MAX = 50

const ById = z.strictObject({ id: Id })

/** All destinations of the wallet, including its own channels. */
export const listDestinations = defineChatOperation({
  id: 'listDestinations',
  scope: 'read',
  handle: ({ app, caller }) => destinations.listDestinations(app, caller),
})

/** One destination, the alerts that it missed, and its failures of the last day. */
export const getDestination = defineChatOperation({
  id: 'getDestination',
  scope: 'read',
  body: ById,
  handle: async ({ app, caller, body }) => {
    const [destination, missedAlerts, failures] = await Promise.all([
      destinations.getDestination(app, caller, body.id),
      missed.readMissed(app, caller, body.id),
      log.countFailures(app, caller, body.id),
    ])
    return { destination, missed: missedAlerts, failures }
  },
})

/**
 * Creates a recipient, unless the wallet has a destination with the same address. The REST API creates another one,
 * which may have its own language and severity.
 */
export const addDestination = defineChatOperation({
  id: 'addDestination',
  scope: 'write',
  rate: 'write',
  body: NewRecipient,
  handle: ({ app, caller, body }) => destinations.addDestination(app, caller, body),
})

/** Changes a destination, named or the wallet's own. */
export const changeDestination = defineChatOperation({
  id: 'changeDestination',
  scope: 'write',
  body: z.strictObject({ id: Id, changes: RecipientChanges }),
  handle: ({ app, caller, body }) => destinations.changeDestination(app, caller, body),
})

/** Deletes a destination, named or the wallet's own. */
export const removeDestination = defineChatOperation({
  id: 'removeDestination',
  scope: 'write',
  body: ById,
  handle: ({ app, caller, body }) => destinations.removeDestination(app, caller, body.id),
})

/**
 * Sends a test to a destination, named or the wallet's own; `evenIfOff`: even if it is switched off;
 * `watchId`: the watch whose message is sent.
 */
export const testDestination = defineChatOperation({
  id: 'testDestination',
  scope: 'write',
  targetRate: {
    rate: 'test',
    find: async ({ app, caller, body }) =>
      `recipient ${(await destinations.getDestination(app, caller, body.id)).id}`,
  },
  body: z.strictObject({
    id: Id,
    evenIfOff: z.boolean().exactOptional(),
    watchId: Id.exactOptional(),
  }),
  handle: ({ app, caller, body: { id, ...options } }) =>
    sendTestUnlessRecent(app, caller, id, options),
})

/** Deliveries to a destination, newest first. */
export const listDeliveries = defineChatOperation({
  id: 'listDeliveries',
  scope: 'read',
  body: z.strictObject({
    recipientId: Id,
    limit: z.int().min(1).max(LIMIT_MAX),
    cursor: Cursor,
  }),
  handle: ({ app, caller, body }) => log.listDeliveryLog(app, caller, body),
})

/** Sends the confirmation e-mail once more to a mailbox that is not confirmed. */
export const resendConfirmation = defineChatOperation({
  id: 'resendConfirmation',
  scope: 'write',
  body: ById,
  handle: ({ app, caller, body }) => askAgain(app, caller, body.id),
})

/** Sends the messages that a recipient missed while its destination was off. Returns their numbers. */
export const sendRetained = defineChatOperation({
  id: 'sendRetained',
  scope: 'write',
  body: z.strictObject({ recipientId: Id }),
  handle: ({ app, caller, body }) => missed.sendMissed(app, caller, body.recipientId),
})

/**
 * Drops the messages that a recipient missed while its destination was off. Returns their number.
 */
export const dropRetained = defineChatOperation({
  id: 'dropRetained',
  scope: 'write',
  body: z.strictObject({ recipientId: Id }),
  handle: ({ app, caller, body }) => delivery.dropRetained(app.db, caller, body.recipientId),
})
