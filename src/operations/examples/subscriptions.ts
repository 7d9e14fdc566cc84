import { SLOT_PRICE_CREDITS } from '#src/billing/price-list.ts'
import { priceSlots, termEnd, termReference, trialEnd } from '#src/billing/subscriptions/rules.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import type * as operations from '../rest/subscriptions.ts'
import type { ExamplesOf } from './define.ts'
import { at, CAPACITY, SUBSCRIPTION, TOPUP_CREDITS } from './story.ts'

const { id, quantity, periods } = SUBSCRIPTION
const price = priceSlots(quantity, periods)

/** Price of the slots, and the ledger's reference of their payment. */
export const PAID = { credits: price.totalCredits, reference: termReference(id, 1) } as const

const TRIAL_AT = at('08:35:00')
const BOUGHT_AT = at('08:36:00')
const trialEndsAt = trialEnd(new Date(TRIAL_AT)).toISOString()
const endsAt = termEnd(new Date(BOUGHT_AT), periods).toISOString()
const renewedTo = termEnd(new Date(endsAt), periods).toISOString()

const bought = {
  id,
  quantity,
  periods,
  status: 'active',
  startsAt: BOUGHT_AT,
  endsAt,
  autoRenew: false,
  totalCredits: price.totalCredits,
  nextRenewalAt: null,
  lastRenewalError: null,
}

const list = (subscription: JsonObject) => ({
  data: [subscription],
  nextCursor: null,
  capacity: CAPACITY,
  trial: { available: false, startedAt: TRIAL_AT, endsAt: trialEndsAt },
})

/** The trial, then slots at the quoted price, with auto-renew at the end. */
export const subscriptionExamples: ExamplesOf<typeof operations> = {
  listSubscriptions: { response: list(bought) },
  createSubscription: {
    request: { quantity, periods, expectedCredits: price.totalCredits },
    response: bought,
  },
  updateSubscriptions: {
    request: { autoRenew: true, id },
    response: list({ ...bought, autoRenew: true, nextRenewalAt: endsAt }),
  },
  quoteSubscription: {
    response: {
      quantity,
      periods,
      slotPriceCredits: SLOT_PRICE_CREDITS,
      ...price,
      startsAt: BOUGHT_AT,
      endsAt,
      balanceCredits: TOPUP_CREDITS,
      shortfallCredits: 0,
    },
  },
  quoteRenewal: {
    response: {
      subscription: bought,
      term: 2,
      quote: {
        quantity,
        periods,
        slotPriceCredits: SLOT_PRICE_CREDITS,
        ...price,
        startsAt: endsAt,
        endsAt: renewedTo,
        balanceCredits: TOPUP_CREDITS - price.totalCredits,
        shortfallCredits: 0,
      },
    },
  },
  renewSubscription: {
    request: { term: 2, expectedCredits: price.totalCredits },
    response: { ...bought, startsAt: endsAt, endsAt: renewedTo },
  },
  startTrial: {
    request: {},
    response: { slots: CAPACITY.trial, startedAt: TRIAL_AT, endsAt: trialEndsAt },
  },
}
