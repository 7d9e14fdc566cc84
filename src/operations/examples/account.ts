import { FREE_TIER_DAILY_CALLS } from '#src/billing/price-list.ts'
import type * as operations from '../rest/account.ts'
import type { ExamplesOf } from './define.ts'
import { at, CAPACITY, HANDLE, TERMS_VERSION, TOPUP_CREDITS, TX_HASH, WALLET } from './story.ts'
import { PAID } from './subscriptions.ts'

const balanceCredits = TOPUP_CREDITS - PAID.credits

const terms = {
  currentVersion: TERMS_VERSION,
  url: 'https://watchdog.example.org/terms',
  accepted: true,
  acceptedVersion: TERMS_VERSION,
  acceptedAt: at('08:31:00'),
}

const account = {
  wallet: WALLET,
  balanceCredits,
  freeTier: { limit: FREE_TIER_DAILY_CALLS, used: 12, resetsAt: '2026-11-21T00:00:00.000Z' },
  slots: CAPACITY,
  ledger: {
    data: [
      {
        id: 2,
        type: 'subscription',
        deltaCredits: -PAID.credits,
        balanceAfterCredits: balanceCredits,
        reference: PAID.reference,
        createdAt: at('08:36:00'),
      },
      {
        id: 1,
        type: 'topup',
        deltaCredits: TOPUP_CREDITS,
        balanceAfterCredits: TOPUP_CREDITS,
        reference: `topup:${HANDLE}:${TX_HASH}:0`,
        createdAt: at('08:33:40'),
      },
    ],
    nextCursor: null,
  },
}

/** Accepted terms, and entries of the ledger. */
export const accountExamples: ExamplesOf<typeof operations> = {
  getAccount: { response: account },
  getTerms: { response: terms },
  acceptTerms: { request: { version: TERMS_VERSION }, response: terms },
}
