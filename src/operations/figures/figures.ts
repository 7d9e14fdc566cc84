/**
 * The public figures. Past hours are counted once and stored as rows; each figure is the sum of three
 * parts: the totals at the last proof of the ledger, the stored hours since then, and a count of the
 * current hour. A job counts every half minute and stores the result in one row, from which readers are
 * served.
 */
import { z } from 'zod'
import { countAlerts } from '#src/alerts/service.ts'
import { settledHour } from '#src/billing/account/proof.ts'
import { type BillingTotals, findBillingBase, sumBilling } from '#src/billing/stats.ts'
import type { Db } from '#src/db/connection.ts'
import { countDeliveries } from '#src/delivery/service.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { Instant } from '#src/kernel/units.ts'
import { countActiveWatches } from '#src/watches/manage/service.ts'
import type { App } from '../define.ts'
import * as store from './store.ts'

/** Response of `GET /stats`. */
export const Stats = z
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
export type Stats = z.output<typeof Stats>

type Deps = Pick<App, 'db' | 'clock'>

const DAY_HOURS = 24
/** Maximum age of shown figures. */
const FRESH_MS = 60_000
/** Retried deliveries change the counts of their hour; after this time the counts are final. */
const RETRIES_SETTLED_HOURS = 2
/**
 * Maximum number of hours that are counted one by one. Earlier hours, for example after weeks without a
 * proof, are counted in one query.
 */
const HOURS_MAX = 168

/** The computation that concurrent readers share. */
interface Shared {
  readonly answer: Promise<Stats>
  /** Epoch milliseconds of the figures; undefined while they are computed. */
  asOfMs: number | undefined
}

const shared = new WeakMap<App['clock'], Shared>()

/**
 * The figures, at most a minute old. Concurrent readers share one computation; an error goes to those who
 * waited for it, and the next reader starts a new one.
 */
export function readStats(app: Deps): Promise<Stats> {
  const last = shared.get(app.clock)
  if (last !== undefined && (last.asOfMs === undefined || isFresh(app, last.asOfMs))) {
    return last.answer
  }
  const next: Shared = { answer: readOrCount(app), asOfMs: undefined }
  shared.set(app.clock, next)
  next.answer.then(
    ({ asOf }) => {
      next.asOfMs = asOf.getTime()
    },
    () => {
      if (shared.get(app.clock) === next) shared.delete(app.clock)
    },
  )
  return next.answer
}

/** Whether figures are recent. */
function isFresh({ clock }: Pick<App, 'clock'>, asOfMs: number): boolean {
  return clock.now().getTime() - asOfMs < FRESH_MS
}

async function readOrCount(app: Deps): Promise<Stats> {
  const storedFigures = await store.findFigures(app.db)
  if (storedFigures !== undefined && isFresh(app, storedFigures.asOf.getTime())) {
    return Stats.parse(storedFigures.figures)
  }
  return refreshStats(app)
}

/** Counts everything since the last count and stores the figures for all processes. */
export async function refreshStats({ db, clock }: Deps): Promise<Stats> {
  const now = clock.now()
  const billing = await billingTotals(db, now)
  const { alerts, sent, delivered, failed } = await lastDay(db, now)
  const finished = delivered + failed
  const stats: Stats = {
    wallets: billing.wallets,
    watchesActive: await countActiveWatches(db),
    alerts24h: alerts,
    deliveries24h: sent,
    deliverySuccessRate24h: finished === 0 ? null : delivered / finished,
    creditsSold: billing.creditsSold,
    creditsSpent: billing.creditsSpent,
    topupsConfirmed: billing.topups,
    asOf: now,
  }
  await store.saveFigures(db, { figures: z.encode(Stats, stats), asOf: now })
  return stats
}

async function billingTotals(db: Db, now: Date): Promise<BillingTotals> {
  const base = await findBillingBase(db)
  if (base === undefined) return sumBilling(db, { since: now, until: undefined })
  const since = await sumHours(db, {
    kind: 'billing',
    counts: BillingCounts,
    from: floorHour(base.until),
    settled: settledHour(now),
    count: (span) => sumBilling(db, span),
  })
  return add(base.totals, since)
}

function lastDay(db: Db, now: Date) {
  return sumHours(db, {
    kind: 'activity',
    counts: ActivityCounts,
    // The current hour and the 23 hours before it.
    from: new Date(floorHour(now).getTime() - (DAY_HOURS - 1) * HOUR_MS),
    settled: new Date(floorHour(now).getTime() - RETRIES_SETTLED_HOURS * HOUR_MS),
    count: async (span) => ({
      alerts: await countAlerts(db, span),
      ...(await countDeliveries(db, span)),
    }),
  })
}

const BillingCounts = z.strictObject({
  wallets: z.int(),
  creditsSold: z.int(),
  creditsSpent: z.int(),
  topups: z.int(),
})

const ActivityCounts = z.strictObject({
  alerts: z.int(),
  sent: z.int(),
  delivered: z.int(),
  failed: z.int(),
})

interface Span {
  readonly since: Date
  readonly until: Date | undefined
}

/**
 * Sums counts over time: full hours from their rows, which are created if missing, and the rest by
 * counting.
 *
 * @param query `from` and `settled` are full hours; counts before `settled` are final
 */
async function sumHours<Counts extends Readonly<Record<string, number>>>(
  db: Db,
  query: {
    readonly kind: string
    readonly counts: z.ZodType<Counts>
    readonly from: Date
    readonly settled: Date
    count(span: Span): Promise<Counts>
  },
): Promise<Counts> {
  const { kind, from, settled } = query
  const counted = new Map<number, Counts>()
  for (const { hour, counts } of await store.listHours(db, kind, from, settled)) {
    const parsed = query.counts.safeParse(counts)
    if (parsed.success) counted.set(hour.getTime(), parsed.data)
  }
  const firstMs = Math.max(from.getTime(), settled.getTime() - HOURS_MAX * HOUR_MS)
  for (let ms = firstMs; ms < settled.getTime(); ms += HOUR_MS) {
    if (counted.has(ms)) continue
    const hour = new Date(ms)
    const counts = await query.count({ since: hour, until: new Date(ms + HOUR_MS) })
    await store.insertHour(db, { kind, hour, counts })
    counted.set(ms, counts)
  }
  await store.deleteHoursOutside(db, kind, { from, until: settled })
  const live = await query.count({ since: settled > from ? settled : from, until: undefined })
  const sums = [...counted].flatMap(([ms, counts]) => (ms < firstMs ? [] : [counts]))
  if (firstMs > from.getTime())
    sums.push(await query.count({ since: from, until: new Date(firstMs) }))
  return sums.reduce(add, live)
}

function add<Counts extends Readonly<Record<string, number>>>(a: Counts, b: Counts): Counts {
  const names = Object.keys(a)
  // Safe: the result has the same keys as `a`.
  return Object.fromEntries(names.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)])) as Counts
}

function floorHour(at: Date): Date {
  return new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS)
}
