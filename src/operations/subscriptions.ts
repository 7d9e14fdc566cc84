import { z } from 'zod'
import { Trial } from '#src/billing/subscriptions/model.ts'
import * as subscriptions from '#src/billing/subscriptions/service.ts'
import { defineOperation } from './define.ts'

export const startTrial = defineOperation({
  id: 'startTrial',
  method: 'POST',
  path: '/subscriptions/trial',
  scope: 'write',
  rate: 'write',
  status: 201,
  body: z.strictObject({}),
  bodyOptional: true,
  output: Trial,
  location: () => '/subscriptions',
  handle: ({ app, caller }) => subscriptions.startTrial(app, caller),
})
