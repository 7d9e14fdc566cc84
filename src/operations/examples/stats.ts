import type * as operations from '../rest/stats.ts'
import type { ExamplesOf } from './define.ts'
import { READ_AT } from './story.ts'

/** A service with a few hundred wallets. */
export const statsExamples: ExamplesOf<typeof operations> = {
  getStats: {
    response: {
      wallets: 318,
      watchesActive: 1042,
      alerts24h: 1873,
      deliveries24h: 3906,
      deliverySuccessRate24h: 0.9962,
      creditsSold: 6_420_000,
      creditsSpent: 4_137_250,
      topupsConfirmed: 297,
      asOf: READ_AT,
    },
  },
}
