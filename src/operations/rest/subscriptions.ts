import { z } from 'zod'
import {
  NewSubscription,
  Renewal,
  RenewalQuote,
  SlotQuote,
  SlotQuoteQuery,
  Subscription,
  SubscriptionChanges,
  SubscriptionList,
  SubscriptionQuery,
  Trial,
} from '#src/billing/subscriptions/model.ts'
import * as renewals from '#src/billing/subscriptions/renew-once.ts'
import * as subscriptions from '#src/billing/subscriptions/service.ts'
import { IdParam, pageRows } from '#src/kernel/pagination.ts'
import { linkedAccounts } from '#src/recipients/linked-accounts.ts'
import { type AnyOperation, defineOperation } from '../define.ts'
import { summarizeTrial } from '../summaries/change-summaries.ts'
import {
  readRenewalBound,
  summarizeRenewal,
  summarizeRenewalChange,
  summarizeSlotPurchase,
} from '../summaries/summaries.ts'

export const listSubscriptions = defineOperation({
  id: 'listSubscriptions',
  method: 'GET',
  path: '/subscriptions',
  scope: 'read',
  rate: 'read',
  status: 200,
  query: SubscriptionQuery,
  rows: pageRows,
  output: SubscriptionList,
  handle: ({ app, caller, query }) =>
    subscriptions.listSubscriptions({ ...app, linkedAccounts }, caller, query),
})

export const createSubscription = defineOperation({
  id: 'createSubscription',
  method: 'POST',
  path: '/subscriptions',
  scope: 'spend',
  rate: 'write',
  idempotent: true,
  status: 201,
  errors: [
    'terms_not_accepted',
    'billing_disabled',
    'slot_limit_reached',
    'price_changed',
    'payment_required',
    'insufficient_credits',
  ],
  body: NewSubscription,
  output: Subscription,
  location: () => '/subscriptions',
  estimate: async ({ app, caller, body }) =>
    z.encode(SlotQuote, await subscriptions.quoteSlots(app, caller, body)),
  summarize: summarizeSlotPurchase,
  handle: ({ app, caller, body }) => subscriptions.createSubscription(app, caller, body),
})

export const updateSubscriptions = defineOperation({
  id: 'updateSubscriptions',
  method: 'PATCH',
  path: '/subscriptions',
  scope: 'write',
  otherScope: { scope: 'spend', when: ({ autoRenew }) => autoRenew },
  rate: 'write',
  status: 200,
  errors: ['billing_disabled', 'terms_not_accepted'],
  body: SubscriptionChanges,
  namesRow: true,
  output: SubscriptionList,
  summarize: summarizeRenewalChange,
  readBound: (input) => readRenewalBound(input),
  handle: ({ app, caller, body, bound }) =>
    subscriptions.setAutoRenew({ ...app, linkedAccounts }, caller, body, bound?.newestId),
})

export const quoteSubscription = defineOperation({
  id: 'quoteSubscription',
  method: 'GET',
  path: '/subscriptions/quote',
  scope: 'read',
  rate: 'read',
  status: 200,
  errors: ['billing_disabled', 'slot_limit_reached'],
  query: SlotQuoteQuery,
  output: SlotQuote,
  handle: ({ app, caller, query }) => subscriptions.quoteSlots(app, caller, query),
})

export const quoteRenewal = defineOperation({
  id: 'quoteRenewal',
  method: 'GET',
  path: '/subscriptions/{id}/renewal',
  scope: 'read',
  isExtension: true,
  rate: 'read',
  status: 200,
  params: IdParam,
  output: RenewalQuote,
  handle: ({ app, caller, params }) => renewals.quoteRenewal(app, caller, params),
})

export const renewSubscription = defineOperation({
  id: 'renewSubscription',
  method: 'POST',
  path: '/subscriptions/{id}/renewal',
  scope: 'spend',
  isExtension: true,
  rate: 'write',
  idempotent: true,
  status: 200,
  errors: [
    'terms_not_accepted',
    'billing_disabled',
    'term_not_next',
    'price_changed',
    'payment_required',
    'insufficient_credits',
  ],
  params: IdParam,
  body: Renewal,
  output: Subscription,
  estimate: async ({ app, caller, params }) =>
    z.encode(SlotQuote, (await renewals.quoteRenewal(app, caller, params)).quote),
  summarize: summarizeRenewal,
  handle: ({ app, caller, params, body }) =>
    renewals.renewOnce(app, caller, { ...body, id: params.id }),
})

export const startTrial = defineOperation({
  id: 'startTrial',
  method: 'POST',
  path: '/subscriptions/trial',
  scope: 'write',
  rate: 'write',
  status: 201,
  errors: ['terms_not_accepted', 'billing_disabled', 'trial_already_used', 'slot_limit_reached'],
  body: z.strictObject({}),
  bodyOptional: true,
  output: Trial,
  location: () => '/subscriptions',
  summarize: (input) => summarizeTrial(input),
  handle: ({ app, caller }) => subscriptions.startTrial({ ...app, linkedAccounts }, caller),
})

/** The operations of this module with a route, in the order of the specification. */
export const subscriptionOperations: readonly AnyOperation[] = [
  listSubscriptions,
  createSubscription,
  updateSubscriptions,
  quoteSubscription,
  quoteRenewal,
  renewSubscription,
  startTrial,
]
