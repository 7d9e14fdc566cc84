import { z } from 'zod'
import { sendTest } from '#src/alerts/messages/test-send.ts'
import { TestResult } from '#src/delivery/model.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import { IdParam, pageQueryFields, pageRows, pageSchema } from '#src/kernel/pagination.ts'
import {
  NewRecipient,
  Recipient,
  RecipientChanges,
  TelegramLink,
  TelegramLinkRequest,
} from '#src/recipients/model.ts'
import * as recipients from '#src/recipients/service.ts'
import * as links from '#src/recipients/telegram-link.ts'
import { type AnyOperation, type App, defineOperation } from '../define.ts'
import {
  summarizeNewRecipient,
  summarizeRecipientChange,
  summarizeTelegramLink,
} from '../summaries/change-summaries.ts'
import { summarizeRecipientDeletion } from '../summaries/summaries.ts'

const RecipientList = pageSchema(Recipient).meta({ id: 'RecipientList' })

export const listRecipients = defineOperation({
  id: 'listRecipients',
  method: 'GET',
  path: '/recipients',
  scope: 'read',
  rate: 'read',
  status: 200,
  query: z.strictObject(pageQueryFields),
  rows: pageRows,
  output: RecipientList,
  handle: ({ app, caller, query }) => recipients.listRecipients(app, caller, query),
})

export const createRecipient = defineOperation({
  id: 'createRecipient',
  method: 'POST',
  path: '/recipients',
  scope: 'write',
  rate: 'write',
  idempotent: true,
  noStore: true,
  status: 201,
  errors: [
    'channel_unavailable',
    'recipient_limit_reached',
    'mailbox_refused',
    'use_telegram_link',
  ],
  body: NewRecipient,
  output: Recipient,
  location: ({ id }) => `/recipients/${id}`,
  summarize: (input) => summarizeNewRecipient(input),
  // A default recipient gets the alerts of watches that exist.
  onlyAdds: (body) => body.default === false,
  handle: ({ app, caller, body }) => recipients.createRecipient(app, caller, body),
})

export const updateRecipient = defineOperation({
  id: 'updateRecipient',
  method: 'PATCH',
  path: '/recipients/{id}',
  scope: 'write',
  rate: 'write',
  noStore: true,
  status: 200,
  errors: ['channel_unavailable', 'mailbox_refused', 'use_telegram_link'],
  params: IdParam,
  body: RecipientChanges,
  output: Recipient,
  summarize: summarizeRecipientChange,
  handle: ({ app, caller, params, body }) =>
    recipients.updateRecipient(app, caller, { id: params.id, changes: body }),
})

export const deleteRecipient = defineOperation({
  id: 'deleteRecipient',
  method: 'DELETE',
  path: '/recipients/{id}',
  scope: 'write',
  rate: 'write',
  status: 204,
  params: IdParam,
  summarize: summarizeRecipientDeletion,
  handle: ({ app, caller, params }) => recipients.deleteRecipient(app, caller, params.id),
})

export const testRecipient = defineOperation({
  id: 'testRecipient',
  method: 'POST',
  path: '/recipients/{id}/test',
  scope: 'write',
  rate: 'write',
  targetRate: {
    rate: 'test',
    find: async ({ app, caller, params }) =>
      `recipient ${await requireRecipient(app, caller, params.id)}`,
  },
  status: 200,
  errors: ['recipient_not_active', 'channel_unavailable'],
  queued: { status: 202, when: ({ status }) => status === 'queued' },
  params: IdParam,
  body: z.strictObject({}),
  bodyOptional: true,
  output: TestResult,
  handle: async ({ app, caller, params }) =>
    sendTest(app, caller, await requireRecipient(app, caller, params.id)),
})

/** @throws AppError not_found */
async function requireRecipient(app: App, caller: Caller, id: number): Promise<number> {
  const recipient = await recipients.findRecipient(app, caller, id)
  if (recipient === undefined) throw new AppError('not_found', 'not_found')
  return recipient.id
}

export const createTelegramLink = defineOperation({
  id: 'createTelegramLink',
  method: 'POST',
  path: '/recipients/telegram-link',
  scope: 'write',
  rate: 'write',
  noStore: true,
  status: 201,
  errors: ['channel_unavailable'],
  body: TelegramLinkRequest,
  bodyOptional: true,
  output: TelegramLink,
  summarize: (input) => summarizeTelegramLink(input),
  handle: ({ app, caller, body }) => links.createTelegramLink(app, caller, body ?? {}),
})

/** The operations of this module with a route, in the order of the specification. */
export const recipientOperations: readonly AnyOperation[] = [
  listRecipients,
  createRecipient,
  updateRecipient,
  deleteRecipient,
  testRecipient,
  createTelegramLink,
]
