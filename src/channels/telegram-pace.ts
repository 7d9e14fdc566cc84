/**
 * The pace of a bot. Every process takes a turn in a common table before it sends a message: the
 * elected sender of deliveries, the sender of pictures, the bot with its replies. Within a process
 * the most urgent message goes first.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Db } from '#src/db/connection.ts'
import { deleteInBatches } from '#src/db/delete-in-batches.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import { ALL_MS, CHAT_MS, GROUP_WINDOW } from '#src/telegram/limits.ts'
import type { PaceLimits, SharedPaces } from './pace-rules.ts'
import { createStoredPaces, deletePaces } from './pace-store.ts'
import { createRateLimiter } from './rate-limiter.ts'

/** The pace of a bot in this process. */
export interface TelegramPace {
  /**
   * Waits for a turn.
   *
   * @param chatId undefined for a call that counts for the bot only
   * @returns milliseconds until the turn if it is further away than `patienceMs` (no turn is taken then);
   * undefined when it is the turn
   * @throws the signal's reason when it is aborted; database errors
   */
  turn(
    chatId: number | undefined,
    request: {
      readonly patienceMs: number
      readonly urgency: number
      readonly signal: AbortSignal
    },
  ): Promise<number | undefined>
  /** Applies the wait of a response 429, to the chat or to all chats. */
  flooded(chatId: number, ms: number): Promise<void>
}

/** The limits of Telegram, some of them replaced. */
export function paceLimits(over: Partial<PaceLimits> = {}): PaceLimits {
  return { allMs: ALL_MS, chatMs: CHAT_MS, groupWindow: GROUP_WINDOW, ...over }
}

/** Creates the pace of this process over turns that it shares with others. */
export function createTelegramPace(shared: SharedPaces, { allMs }: PaceLimits): TelegramPace {
  const now = () => performance.now()
  // Puts this process's messages in order; the shared turns know the limits of chats.
  const order = createRateLimiter({ allMs, keyMs: 0, now })
  return {
    async turn(chatId, { patienceMs, urgency, signal }) {
      const key = String(chatId ?? 'bot')
      const until = now() + patienceMs
      for (;;) {
        const leftMs = () => Math.max(0, until - now())
        const earlyMs = await order.turn(key, { patienceMs: leftMs(), urgency, signal })
        if (earlyMs !== undefined) return earlyMs
        const isGroup = chatId !== undefined && isGroupId(chatId)
        const { isTaken, waitMs } = await shared.take(chatId, { patienceMs: leftMs(), isGroup })
        if (isTaken) {
          // The next message takes its turn only after this message, so that few turns are taken in
          // advance.
          order.holdAll(waitMs)
          if (waitMs > 0) await wait(waitMs, undefined, { signal })
          return undefined
        }
        if (waitMs > leftMs()) return waitMs
        order.hold(key, waitMs)
      }
    },
    flooded: (chatId, ms) => shared.flood(chatId, ms),
  }
}

/** Creates the pace of a bot over turns that all processes on the database share. */
export function createSharedPace(db: Db, botId: number, limits: PaceLimits): TelegramPace {
  return createTelegramPace(createStoredPaces(db, botId, limits), limits)
}

/** Deletes the paces of chats whose wait ended more than an hour ago. */
export async function prunePaces({
  db,
  deliveryClock,
}: {
  readonly db: Db
  readonly deliveryClock: Clock
}): Promise<void> {
  const before = new Date(deliveryClock.now().getTime() - HOUR_MS)
  await deleteInBatches((limit) => deletePaces(db, before, limit))
}
