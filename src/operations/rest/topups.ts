import { z } from 'zod'
import { ConfirmTopup, NewTopup, Topup, TopupDraft } from '#src/billing/topups/model.ts'
import * as quotes from '#src/billing/topups/quote.ts'
import * as topups from '#src/billing/topups/service.ts'
import * as records from '#src/billing/topups/topup-record.ts'
import { Hash } from '#src/kernel/units.ts'
import { type AnyOperation, defineOperation } from '../define.ts'
import { summarizeTopup } from '../summaries/summaries.ts'

const HandleParam = z.strictObject({ handle: Hash })

export const createTopup = defineOperation({
  id: 'createTopup',
  method: 'POST',
  path: '/topup',
  scope: 'write',
  otherScope: { scope: 'spend', when: (body) => body?.then !== undefined },
  rate: 'write',
  idempotent: true,
  status: 201,
  errors: [
    'terms_not_accepted',
    'billing_disabled',
    'asset_unavailable',
    'asset_paused',
    'cap_exceeded',
    'slot_limit_reached',
  ],
  body: NewTopup,
  bodyOptional: true,
  output: TopupDraft,
  location: ({ handle }) => `/topup/${handle}`,
  checkBody: (app, body) => quotes.checkAsset(app, body),
  prepare: ({ app, caller, body }) => quotes.readAssetOfNewTopup(app, caller, body ?? {}),
  summarize: summarizeTopup,
  onlyAdds: (body) => body?.then === undefined,
  handle: ({ app, caller, body, locale }, assetState) =>
    quotes.createTopup(app, caller, { input: body ?? {}, locale, assetState }),
})

export const getTopup = defineOperation({
  id: 'getTopup',
  method: 'GET',
  path: '/topup/{handle}',
  scope: 'read',
  rate: 'read',
  status: 200,
  errors: ['billing_disabled'],
  params: HandleParam,
  output: Topup,
  handle: ({ app, caller, params, locale }) =>
    records.getTopup(app, caller, { handle: params.handle, locale }),
})

export const confirmTopup = defineOperation({
  id: 'confirmTopup',
  method: 'POST',
  path: '/topup/{handle}/confirm',
  scope: 'write',
  rate: 'write',
  status: 200,
  errors: ['billing_disabled', 'topup_state', 'tx_already_used'],
  queued: { status: 202, when: ({ status }) => status !== 'credited' },
  params: HandleParam,
  body: ConfirmTopup,
  output: Topup,
  handle: ({ app, caller, params, body, locale }) =>
    topups.confirmTopup(app, caller, { handle: params.handle, txHash: body.txHash, locale }),
})

/** The operations of this module with a route, in the order of the specification. */
export const topupOperations: readonly AnyOperation[] = [createTopup, getTopup, confirmTopup]
