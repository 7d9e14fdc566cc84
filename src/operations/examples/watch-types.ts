import type { JsonObject } from '#src/kernel/units.ts'
import { PROVIDER, WALLET } from './story.ts'

const provider = { target: { provider: PROVIDER } }

/**
 * One body of `POST /watches` for every watch type, by name. Settings that are not required are left out.
 */
export const WATCH_TYPE_EXAMPLES: Readonly<Record<string, JsonObject>> = {
  'wallet-balance': { target: { address: WALLET, asset: 'FLR' }, settings: { threshold: '100' } },
  'feed-move': { target: { feed: 'FLR/USD' }, settings: { percent: 5, windowSeconds: 3600 } },
  'provider-eligibility': provider,
  'credits-balance': { target: {}, settings: { limit: 1000 } },
  'reward-signing': provider,
  'provider-fsp': provider,
}
