/** Operations of the bot, without a route: open top-ups and their payments, and the state of the chain. */
import { z } from 'zod'
import { Topup } from '#src/billing/topups/model.ts'
import { findOpenTopup as findOpen } from '#src/billing/topups/open-topup.ts'
import { getPaymentsOfOwnTopup } from '#src/billing/topups/payment-receipts.ts'
import { Hash, Instant } from '#src/kernel/units.ts'
import { readTip } from '#src/watches/observe/tip.ts'
import { defineChatOperation } from './define.ts'

/** The wallet's newest open quote; null if there is none. */
export const findOpenTopup = defineChatOperation({
  id: 'findOpenTopup',
  scope: 'read',
  output: Topup.nullable(),
  handle: ({ app, caller, locale }) => findOpen(app, caller, { locale }),
})

/** Reads the payments of one of the wallet's top-ups. */
export const getTopupPayments = defineChatOperation({
  id: 'getTopupPayments',
  scope: 'read',
  params: z.strictObject({ handle: Hash }),
  handle: ({ app, caller, params }) => getPaymentsOfOwnTopup(app, caller, params.handle),
})

/** The last block that was read, and the time since which the chain is unreachable. */
export const getTip = defineChatOperation({
  id: 'getTip',
  scope: 'read',
  output: z.object({
    block: z.object({ number: z.int(), at: Instant }).nullable(),
    failingSince: Instant.nullable(),
  }),
  handle: ({ app }) => readTip(app),
})
