/** What the usual watch of each data provider would have sent, for its public page. */
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import { NewWatch } from '../model.ts'
import type { Backtests } from './backtest.ts'

/** Days of a backtest. */
const DAYS = 7
/** Time for which a result is shown, before the next reader has it made again. */
const FRESH_MS = 6 * HOUR_MS
/** Number of providers whose results are kept, and of those that wait for theirs. */
const KEPT_MAX = 300
const WAITING_MAX = 20

/** Alerts that a watch with the default signals would have sent. */
export interface UsualAlerts {
  readonly alerts: number
  /** Whole days of which rounds are stored, at most seven. */
  readonly days: number
}

/** Results by provider. */
export interface UsualBacktests {
  /**
   * The result for a provider; undefined while there is none. Where it is missing or old, one is made after this
   * call, so that no reader waits: one provider at a time in this process.
   */
  find(provider: Address): UsualAlerts | undefined
}

interface Deps {
  readonly backtests: Backtests
  readonly clock: Clock
  readonly log: Logger
}

export function createUsualBacktests({ backtests, clock, log }: Deps): UsualBacktests {
  const kept = new Map<Address, { readonly at: number; readonly result: UsualAlerts | undefined }>()
  const waiting = new Set<Address>()
  let last: Promise<void> = Promise.resolve()

  async function make(provider: Address): Promise<void> {
    try {
      const watch = NewWatch.parse({ type: 'provider-fsp', target: { provider } })
      const caller = { wallet: ZERO_ADDRESS, scopes: [], via: 'page' } as const
      const outcome = await backtests.run(caller, {
        ...{ watch, days: DAYS, canonicalTarget: { provider } },
      })
      const { covered, counts } = outcome
      const days = covered === null ? 0 : Math.floor((+covered.to - +covered.from) / DAY_MS + 0.01)
      const alerts = counts.critical + counts.warning + counts.info
      kept.delete(provider)
      kept.set(provider, {
        at: clock.now().getTime(),
        result: days < 1 ? undefined : { alerts, days },
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

  return {
    find(provider) {
      const known = kept.get(provider)
      const isFresh = known !== undefined && clock.now().getTime() - known.at < FRESH_MS
      if (!isFresh && !waiting.has(provider) && waiting.size < WAITING_MAX) {
        waiting.add(provider)
        last = last.then(() => make(provider))
      }
      return known?.result
    },
  }
}
