import { z } from 'zod'
import { QUOTE_SECONDS, Topup, TopupDraft, type TopupStatus } from '#src/billing/topups/model.ts'
import { creditsWithBonusOf, quotedUnitsFor, usdRateOf } from '#src/billing/topups/rules.ts'
import { toTopup } from '#src/billing/topups/view.ts'
import type * as operations from '../rest/topups.ts'
import type { ExamplesOf } from './define.ts'
import * as story from './story.ts'

const ASSET = 'FLR'
const CONFIRMATIONS = 2
const createdAt = new Date(story.at('08:32:00'))

/** Credits for a plain transfer of FLR: quoted, paid, credited. */
export function topupExamples(publicUrl: string): ExamplesOf<typeof operations> {
  const draft = topup(publicUrl, 'draft', 0)
  const confirming = topup(publicUrl, 'confirming', CONFIRMATIONS - 1)
  const credited = z.encode(Topup, topup(publicUrl, 'credited', CONFIRMATIONS))
  return {
    createTopup: {
      request: { asset: ASSET, credits: story.TOPUP_CREDITS },
      response: z.encode(TopupDraft, draft),
    },
    getTopup: { response: credited },
    confirmTopup: {
      request: { txHash: story.TX_HASH },
      response: credited,
      queued: z.encode(Topup, confirming),
    },
  }
}

function topup(publicUrl: string, status: TopupStatus, confirmations: number): Topup {
  const price = story.PRICES[ASSET]
  const rate = usdRateOf(ASSET, price)
  const amountUnits = quotedUnitsFor(story.TOPUP_CREDITS, rate)
  if (amountUnits === undefined) throw new Error(`${ASSET} has no price`)
  const isPaid = confirmations > 0
  return toTopup(
    {
      publicUrl,
      chainId: story.CHAIN_ID,
      confirmations: CONFIRMATIONS,
      billing: { serviceTokenSymbol: story.SERVICE_TOKEN },
    },
    {
      handle: story.HANDLE,
      wallet: story.WALLET,
      asset: ASSET,
      token: null,
      payTo: story.PAY_TO,
      contractPayTo: story.ROUTER,
      destinationTag: null,
      ...creditsWithBonusOf(story.TOPUP_CREDITS, ASSET),
      amountUnits,
      priceValue: price.value,
      priceDecimals: price.decimals,
      usdPer1000CreditsMicros: rate.usdPer1000CreditsMicros,
      renews: null,
      authorizationNonce: null,
      authorizationBlock: null,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + QUOTE_SECONDS * 1000),
    },
    {
      outcome: {
        status,
        txHash: isPaid ? story.TX_HASH : null,
        confirmations,
        paidUnits: isPaid ? amountUnits : null,
        creditedCredits: status === 'credited' ? story.TOPUP_CREDITS : 0,
        reason: null,
      },
      purchase: null,
    },
    'en',
  )
}
