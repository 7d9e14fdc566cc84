/** What the usual watch of each data provider would have sent, for its public page. */
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import { NewWatch } from '../model.ts'
import type { BacktestOutcome, Backtests, PastIncident } from './backtest.ts'

/** Days of a backtest. */
const DAYS = 7
/** Time for which a count is shown, before the next reader has it made again. */
const FRESH_MS = 6 * HOUR_MS
/** The same for the incidents of a feed, whose readers come again by themselves. */
const FEED_FRESH_MS = HOUR_MS
/** Maximum time for which a reader of a feed waits. */
const FEED_WAIT_MS = 10_000
/** Number of providers whose results are kept, and of those that wait for theirs. */
const KEPT_MAX = 300
const WAITING_MAX = 20
/** Number of incidents of a provider that are kept. */
const INCIDENTS_MAX = 25

/** Alerts that a watch with the default signals would have sent. */
export interface UsualAlerts {
  readonly alerts: number
  /** Whole days of which rounds are stored, at most seven. */
  readonly days: number
}

/** Results by provider. */
export interface UsualBacktests {
  /**
   * The count for a provider; undefined while there is none. Where it is missing or old, one is made after this
   * call, so that no reader waits: one provider at a time in this process.
   */
  find(provider: Address): UsualAlerts | undefined
  /**
   * The incidents of the last days, newest first, at most 25; undefined if there are none yet and their making takes
   * longer than ten seconds. An incident has the same beginning whenever it is asked for.
   */
  incidents(provider: Address): Promise<readonly PastIncident[] | undefined>
}

interface Deps {
  readonly backtests: Backtests
  readonly clock: Clock
  readonly log: Logger
}

interface Kept {
  readonly at: number
  readonly counted: UsualAlerts | undefined
  readonly incidents: readonly PastIncident[]
}

export function createUsualBacktests({ backtests, clock, log }: Deps): UsualBacktests {
  const kept = new Map<Address, Kept>()
  const waiting = new Map<Address, Promise<void>>()
  let last: Promise<void> = Promise.resolve()

  async function make(provider: Address): Promise<void> {
    try {
      const watch = NewWatch.parse({ type: 'provider-fsp', target: { provider } })
      const caller = { wallet: ZERO_ADDRESS, scopes: [], via: 'page' } as const
      const outcome = await backtests.run(caller, {
        ...{ watch, days: DAYS, canonicalTarget: { provider } },
      })
      kept.delete(provider)
      kept.set(provider, {
        at: clock.now().getTime(),
        counted: countOf(outcome),
        incidents: steadyIncidents(outcome),
      })
      const [oldest] = kept.keys()
      if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
    } catch (error) {
      // The next reader has it tried again.
      if (!(error instanceof AppError)) log.warn({ err: error, provider }, 'no usual backtest')
    } finally {
      waiting.delete(provider)
    }
  }

  /** Has a result made if the known one is older than `freshMs`. @returns its making, if there is one */
  function renew(provider: Address, freshMs: number): Promise<void> | undefined {
    const known = kept.get(provider)
    const isFresh = known !== undefined && clock.now().getTime() - known.at < freshMs
    if (!isFresh && !waiting.has(provider) && waiting.size < WAITING_MAX) {
      last = last.then(() => make(provider))
      waiting.set(provider, last)
    }
    return isFresh ? undefined : waiting.get(provider)
  }

  return {
    find(provider) {
      renew(provider, FRESH_MS)
      return kept.get(provider)?.counted
    },
    async incidents(provider) {
      await endsWithin(renew(provider, FEED_FRESH_MS), FEED_WAIT_MS)
      return kept.get(provider)?.incidents
    },
  }
}

function countOf({ covered, counts }: BacktestOutcome): UsualAlerts | undefined {
  const days = covered === null ? 0 : Math.floor((+covered.to - +covered.from) / DAY_MS + 0.01)
  const alerts = counts.critical + counts.warning + counts.info
  return days < 1 ? undefined : { alerts, days }
}

/**
 * The incidents whose beginning was seen. At the start of the days a watch judges without a past: what it finds then
 * began at another time, and each later backtest would find another beginning. Where the stored rounds begin
 * later than that, the start stays the same.
 */
function steadyIncidents({ covered, gaps, incidents }: BacktestOutcome): readonly PastIncident[] {
  if (covered === null) return []
  const since = gaps.includes('starts_later') ? covered.from : new Date(+covered.from + DAY_MS)
  return incidents.filter(({ startedAt }) => startedAt >= since).slice(0, INCIDENTS_MAX)
}
