import type { BacktestScreens } from '../core/backtests.ts'
import { readDraftBacktest } from './new/backtest.ts'
import { readValuesBacktest } from './watches/values.ts'

/** Builders of the screens that wait for a backtest, by message kind. */
export const BACKTEST_SCREENS: BacktestScreens = {
  'backtest-draft': readDraftBacktest,
  'backtest-values': readValuesBacktest,
}
