import type { BotParts } from './core/feature.ts'
import { BACKTEST_SCREENS } from './features/backtests.ts'
import { notifyConnectOutcomes } from './features/connect/notifications.ts'
import { REGISTRY } from './features/index.ts'
import { inlineQueries } from './features/inline/handlers.ts'
import { followUp } from './features/recipients/follow-ups.ts'

/** What the service's bot consists of. */
export const BOT_PARTS: BotParts = {
  features: REGISTRY,
  inlineQueries,
  backtests: BACKTEST_SCREENS,
  followUp,
  notifyConnectOutcomes,
}
