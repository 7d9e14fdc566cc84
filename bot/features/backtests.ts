import type { BacktestReaders } from '../core/backtests.ts'
import { readDraftBacktest } from './new/backtest.ts'
import { readValuesBacktest } from './watches/values.ts'

/** What makes the screens that wait for backtests, by the kind of their message. */
export const BACKTEST_READERS: BacktestReaders = {
  'backtest-draft': readDraftBacktest,
  'backtest-values': readValuesBacktest,
}
