/** Destinations of any kind as a chat lists, changes, tests and removes them: operations without a route. */
import { z } from 'zod'
import { sendTest } from '#src/alerts/test-send.ts'
import * as log from '#src/delivery/log.ts'
import * as delivery from '#src/delivery/service.ts'
import { Id } from '#src/kernel/units.ts'
import { resendConfirmation as askAgain } from '#src/recipients/confirmations.ts'
import * as directory from '#src/recipients/directory.ts'
import { RecipientChanges } from '#src/recipients/model.ts'
import { defineOperation } from './define.ts'

const Cursor = z.string().max(24).optional()

const LIMIT_MAX = 50

const ById = z.strictObject({ id: Id })

/** Everything the wallet can tell, its own channels too. */
export const listDestinations = defineOperation({
  id: 'listDestinations',
  method: 'POST',
  scope: 'read',
  rate: 'read',
  status: 200,
  handle: ({ app, caller }) => directory.listDestinations(app, caller),
})

/** One destination, what waits for it, and how often it failed in a day. */
export const getDestination = defineOperation({
  id: 'getDestination',
  method: 'POST',
  scope: 'read',
  rate: 'read',
  status: 200,
  body: ById,
  handle: async ({ app, caller, body }) => {
    const [destination, retained, failures] = await Promise.all([
      directory.getDestination(app, caller, body.id),
      delivery.listRetained(app, caller, body.id),
      log.countFailures(app, caller, body.id),
    ])
    return { destination, retained: retained.length, failures }
  },
})

/** Changes a destination, named or the wallet's own. */
export const changeDestination = defineOperation({
  id: 'changeDestination',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 200,
  body: z.strictObject({ id: Id, changes: RecipientChanges }),
  handle: ({ app, caller, body }) => directory.changeDestination(app, caller, body),
})

/** Deletes a destination, named or the wallet's own. */
export const removeDestination = defineOperation({
  id: 'removeDestination',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 204,
  body: ById,
  handle: ({ app, caller, body }) => directory.removeDestination(app, caller, body.id),
})

/** Sends a test to a destination, named or the wallet's own; `evenIfOff` to find out whether it works. */
export const testDestination = defineOperation({
  id: 'testDestination',
  method: 'POST',
  scope: 'write',
  rate: 'test',
  status: 200,
  body: z.strictObject({ id: Id, evenIfOff: z.boolean().exactOptional() }),
  handle: ({ app, caller, body: { id, ...options } }) => sendTest(app, caller, id, options),
})

/** What was sent to a destination, newest first. */
export const listDeliveries = defineOperation({
  id: 'listDeliveries',
  method: 'POST',
  scope: 'read',
  rate: 'read',
  status: 200,
  body: z.strictObject({
    recipientId: Id,
    limit: z.int().min(1).max(LIMIT_MAX),
    cursor: Cursor,
  }),
  handle: ({ app, caller, body }) => log.listLog(app, caller, body),
})

/** Writes to a mailbox once more that has not agreed yet. */
export const resendConfirmation = defineOperation({
  id: 'resendConfirmation',
  method: 'POST',
  scope: 'write',
  rate: 'write',
  status: 204,
  body: ById,
  handle: ({ app, caller, body }) => askAgain(app, caller, body.id),
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
