import { z } from 'zod'
import { sendTest } from '#src/alerts/messages/test-send.ts'
import { TestResult } from '#src/delivery/model.ts'
import { NoNextCursor } from '#src/kernel/pagination.ts'
import * as destinations from '#src/recipients/destinations.ts'
import { ChannelSetup, ChannelState } from '#src/recipients/model.ts'
import { type AnyOperation, defineOperation } from '../define.ts'
import { summarizeChannelSetup } from '../summaries/change-summaries.ts'
import { summarizeChannelRemoval } from '../summaries/summaries.ts'

const ChannelList = z
  .object({ data: z.array(ChannelState), nextCursor: NoNextCursor })
  .meta({ id: 'ChannelList' })

const KeyParam = z.strictObject({ key: z.string().max(32) })

export const listChannels = defineOperation({
  id: 'listChannels',
  method: 'GET',
  path: '/channels',
  scope: 'read',
  rate: 'read',
  status: 200,
  output: ChannelList,
  handle: async ({ app, caller }) => ({
    data: await destinations.listChannels(app, caller),
    nextCursor: null,
  }),
})

export const configureChannel = defineOperation({
  id: 'configureChannel',
  method: 'PUT',
  path: '/channels/{key}',
  scope: 'write',
  rate: 'write',
  idempotent: true,
  noStore: true,
  status: 200,
  errors: [
    'channel_unavailable',
    'recipient_limit_reached',
    'mailbox_refused',
    'use_telegram_link',
  ],
  params: KeyParam,
  body: ChannelSetup,
  output: ChannelState,
  summarize: summarizeChannelSetup,
  handle: ({ app, caller, params, body }) =>
    destinations.configureChannel(app, caller, { key: params.key, setup: body }),
})

export const removeChannel = defineOperation({
  id: 'removeChannel',
  method: 'DELETE',
  path: '/channels/{key}',
  scope: 'write',
  rate: 'write',
  status: 204,
  params: KeyParam,
  summarize: summarizeChannelRemoval,
  handle: ({ app, caller, params }) => destinations.removeChannel(app, caller, params),
})

export const testChannel = defineOperation({
  id: 'testChannel',
  method: 'POST',
  path: '/channels/{key}/test',
  scope: 'write',
  rate: 'write',
  targetRate: {
    rate: 'test',
    find: async ({ app, caller, params }) =>
      `recipient ${await destinations.getChannelRecipientId(app, caller, params)}`,
  },
  status: 200,
  errors: ['recipient_not_active', 'channel_unavailable'],
  queued: { status: 202, when: ({ status }) => status === 'queued' },
  params: KeyParam,
  body: z.strictObject({}),
  bodyOptional: true,
  output: TestResult,
  handle: async ({ app, caller, params }) => {
    const id = await destinations.getChannelRecipientId(app, caller, params)
    return sendTest(app, caller, id)
  },
})

/** The operations of this module with a route, in the order of the specification. */
export const channelOperations: readonly AnyOperation[] = [
  listChannels,
  configureChannel,
  removeChannel,
  testChannel,
]
