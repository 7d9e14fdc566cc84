import type { Clock } from '#src/kernel/clock.ts'
import { tooManyRequests } from './refusal.ts'

/** A limit of messages. Telegram publishes round numbers only, which are used here. */
interface Limit {
  readonly burst: number
  readonly perSecond: number
}

const PER_CHAT: Limit = { burst: 3, perSecond: 1 }
const PER_GROUP: Limit = { burst: 20, perSecond: 20 / 60 }
const OVERALL: Limit = { burst: 30, perSecond: 30 }

/** Counts messages against the flood limits. */
export interface FloodLimits {
  /**
   * Counts a message.
   * @throws BotApiRefusal 429 with `retry_after` when the chat, the group or the bot sends too fast
   */
  spend(chat: { readonly id: number; readonly type: string }): void
}

/**
 * Creates limits on the given clock: 1 message per second in a chat, 20 per minute in a group, 30 per second
 * in total, with short bursts.
 */
export function createFloodLimits(clock: Clock): FloodLimits {
  const buckets = new Map<string, { level: number; at: number }>()
  const level = (key: string, limit: Limit, now: number) => {
    const bucket = buckets.get(key) ?? { level: limit.burst, at: now }
    const refilled = bucket.level + ((now - bucket.at) / 1000) * limit.perSecond
    return Math.min(limit.burst, refilled)
  }
  return {
    spend(chat) {
      const now = clock.now().getTime()
      const limits: readonly (readonly [string, Limit])[] = [
        ['all', OVERALL],
        [`chat ${chat.id}`, PER_CHAT],
        ...(chat.type === 'private' ? [] : [[`group ${chat.id}`, PER_GROUP] as const]),
      ]
      const waits = limits.map(([key, limit]) => (1 - level(key, limit, now)) / limit.perSecond)
      const waitSeconds = Math.max(...waits)
      if (waitSeconds > 1e-9) throw tooManyRequests(Math.ceil(waitSeconds))
      for (const [key, limit] of limits) {
        buckets.set(key, { level: level(key, limit, now) - 1, at: now })
      }
    },
  }
}
