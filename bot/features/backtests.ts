import type { BacktestReaders } from '../core/backtests.ts'
import { readDraftBacktest } from './new/backtest.ts'
import { readValuesBacktest } from './watches/values.ts'

/** Builders of the screens that wait for a backtest, by message kind. */
export const BACKTEST_READERS: BacktestReaders = {
  'backtest-draft': readDraftBacktest,
  'backtest-values': readValuesBacktest,
}
