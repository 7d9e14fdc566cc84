import { z } from 'zod'
import { countRecent } from '#src/alerts/service.ts'
import { getBillingTotals } from '#src/billing/stats.ts'
import { countRecent as countDeliveries } from '#src/delivery/service.ts'
import { Instant } from '#src/kernel/units.ts'
import { countActiveWatches } from '#src/watches/service.ts'
import { type App, defineOperation } from './define.ts'

/** Answer of `GET /stats`. */
const Stats = z
  .object({
    wallets: z.int(),
    watchesActive: z.int(),
    alerts24h: z.int(),
    deliveries24h: z.int(),
    deliverySuccessRate24h: z.number().nullable().meta({
      description: 'operations:field.successRate',
    }),
    creditsSold: z.int(),
    creditsSpent: z.int(),
    topupsConfirmed: z.int(),
    asOf: Instant,
  })
  .meta({ id: 'Stats' })
type Stats = z.output<typeof Stats>

const DAY_MS = 86_400_000
/** How old the figures may be: counting everything for every visitor would cost too much. */
const KEPT_MS = 60_000

const kept = new WeakMap<App['clock'], Stats>()

export const getStats = defineOperation({
  id: 'getStats',
  method: 'GET',
  path: '/stats',
  scope: 'none',
  rate: 'public',
  status: 200,
  output: Stats,
  handle: async ({ app }) => {
    const now = app.clock.now()
    const last = kept.get(app.clock)
    if (last !== undefined && now.getTime() - last.asOf.getTime() < KEPT_MS) return last
    const stats = await countAll(app, now)
    kept.set(app.clock, stats)
    return stats
  },
})

async function countAll(app: App, now: Date): Promise<Stats> {
  const since = new Date(now.getTime() - DAY_MS)
  const [billing, watchesActive, alerts24h, { sent, delivered, failed }] = await Promise.all([
    getBillingTotals(app.db),
    countActiveWatches(app.db),
    countRecent(app.db, since),
    countDeliveries(app.db, since),
  ])
  const finished = delivered + failed
  return {
    wallets: billing.wallets,
    watchesActive,
    alerts24h,
    deliveries24h: sent,
    deliverySuccessRate24h: finished === 0 ? null : delivered / finished,
    creditsSold: billing.creditsSold,
    creditsSpent: billing.creditsSpent,
    topupsConfirmed: billing.topups,
    asOf: now,
  }
}
