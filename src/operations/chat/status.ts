/** Operations of the bot, without a route: credits and slots, top-ups with their payments, and the state of the chain. */
import { z } from 'zod'
import { AccountQuery } from '#src/billing/account/model.ts'
import * as overview from '#src/billing/overview.ts'
import * as subscriptions from '#src/billing/subscriptions/service.ts'
import * as walletStatus from '#src/billing/subscriptions/wallet-status.ts'
import { Topup } from '#src/billing/topups/model.ts'
import * as records from '#src/billing/topups/topup-record.ts'
import { findOpenTopup as findOpen } from '#src/billing/topups/topup-record.ts'
import { Hash, Instant } from '#src/kernel/units.ts'
import { linkedAccounts } from '#src/recipients/linked-accounts.ts'
import { readTip } from '#src/watches/observe/tip.ts'
import { defineChatOperation } from '../define.ts'

/** The wallet's newest open quote; null if there is none. */
export const findOpenTopup = defineChatOperation({
  id: 'findOpenTopup',
  scope: 'read',
  isRead: true,
  output: Topup.nullable(),
  handle: ({ app, caller, locale }) => findOpen(app, caller, { locale }),
})

/** One of the wallet's top-ups, with its payments. */
export const getTopupWithPayments = defineChatOperation({
  id: 'getTopupWithPayments',
  scope: 'read',
  isRead: true,
  params: z.strictObject({ handle: Hash }),
  handle: ({ app, caller, params, locale }) =>
    records.getTopupWithPayments(app, caller, { handle: params.handle, locale }),
})

/** The wallet's credits, slots and running subscriptions, and whether it accepted the terms. */
export const getWalletStatus = defineChatOperation({
  id: 'getWalletStatus',
  scope: 'read',
  isRead: true,
  handle: ({ app, caller }) => walletStatus.getWalletStatus(app, caller),
})

/** Whether the wallet can start the free trial, also from this chat. */
export const isTrialAvailable = defineChatOperation({
  id: 'isTrialAvailable',
  scope: 'read',
  isRead: true,
  handle: ({ app, caller }) => subscriptions.isTrialAvailable({ ...app, linkedAccounts }, caller),
})

/** A page of the wallet's ledger, newest first. */
export const listLedger = defineChatOperation({
  id: 'listLedger',
  scope: 'read',
  isRead: true,
  query: AccountQuery,
  handle: ({ app, caller, query }) => overview.listLedger(app, caller, query),
})

/** The last block that was read, and the time since which the chain is unreachable. */
export const getTip = defineChatOperation({
  id: 'getTip',
  scope: 'read',
  isRead: true,
  output: z.object({
    block: z.object({ number: z.int(), at: Instant }).nullable(),
    failingSince: Instant.nullable(),
  }),
  handle: ({ app }) => readTip(app),
})
