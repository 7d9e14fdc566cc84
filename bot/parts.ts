import type { BotParts } from './core/feature.ts'
import { channelUpdates } from './features/channel/handlers.ts'
import { REGISTRY } from './features/index.ts'
import { inlineQueries } from './features/inline/handlers.ts'

/** What the service's bot consists of. */
export const BOT_PARTS: BotParts = { features: REGISTRY, inlineQueries, channelUpdates }
