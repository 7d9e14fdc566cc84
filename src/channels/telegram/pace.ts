/**
 * The pace of a bot. Before a process sends a message, it takes a turn in a table that all processes share: the job
 * `deliver-by-one` for alerts, the job of pictures, the bot for its replies. Within a process the most urgent message
 * goes first.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Db } from '#src/db/connection.ts'
import { deleteInBatches } from '#src/db/delete-in-batches.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import { ALL_MS, CHAT_MS, GROUP_WINDOW } from '#src/telegram/limits.ts'
import { createRateLimiter } from '../requests/rate-limiter.ts'
import type { PaceLimits, SharedPaces } from './pace-rules.ts'
import { createStoredPaces, deletePaces } from './pace-store.ts'

/** Spaces the messages of a bot, as one process sees it. */
export interface TelegramPace {
  /**
   * Waits until the next message may be sent, to a chat or by the bot as a whole.
   *
   * @param chatId undefined for a call that counts for the bot only
   * @returns milliseconds until the turn if it is further away than `patienceMs` (no turn is taken then);
   * undefined when it is the turn
   * @throws the signal's reason, or an `AbortError` with it as the cause, when the signal is aborted; database errors
   */
  turn(
    chatId: number | undefined,
    request: {
      readonly patienceMs: number
      readonly urgency: number
      readonly signal: AbortSignal
    },
  ): Promise<number | undefined>
  /** Blocks the chat for the time of a response 429; blocks the whole bot after such responses for many chats. */
  flooded(chatId: number, ms: number): Promise<void>
}

/** The limits of Telegram, with those in `over` in their place. */
export function paceLimits(over: Partial<PaceLimits> = {}): PaceLimits {
  return { allMs: ALL_MS, chatMs: CHAT_MS, groupWindow: GROUP_WINDOW, ...over }
}

/** Creates the pace of this process from turns that all processes share. */
export function createTelegramPace(shared: SharedPaces, { allMs }: PaceLimits): TelegramPace {
  const now = () => performance.now()
  // Orders the messages of this process by urgency. The shared turns apply the limits of chats.
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
          // The next message takes its turn only once this one is sent, so that few turns are taken ahead of time.
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

/** Creates the pace of a bot from turns in the database, which all its processes share. */
export function createSharedPace(db: Db, botId: number, limits: PaceLimits): TelegramPace {
  return createTelegramPace(createStoredPaces(db, botId, limits), limits)
}

/** Deletes the paces of chats to which the bot could send again more than an hour ago. */
export async function prunePaces({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): Promise<void> {
  const before = new Date(clock.now().getTime() - HOUR_MS)
  await deleteInBatches((limit) => deletePaces(db, before, limit))
}
