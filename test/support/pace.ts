import { createTelegramPace, paceLimits, type TelegramPace } from '#src/channels/telegram/pace.ts'
import {
  botFloodEnd,
  FLOODS_OF_BOT,
  holdFor,
  NEVER_SENT,
  type Pace,
  type PaceLimits,
  type SharedPaces,
  takeTurn,
} from '#src/channels/telegram/pace-rules.ts'

/** No limits, for tests that do not check the pace: messages follow each other at once, also in groups. */
export const NO_PACE = { allMs: 0, chatMs: 0, groupWindow: { count: 10_000, ms: 1 } } as const

/** Creates the pace of a bot that has one process and stores nothing in a database. */
export function ownPace(over: Parameters<typeof paceLimits>[0] = {}): TelegramPace {
  const limits = paceLimits(over)
  return createTelegramPace(createOwnPaces(limits), limits)
}

function createOwnPaces(limits: PaceLimits): SharedPaces {
  const chats = new Map<number, Pace>()
  const floods = new Map<number, number>()
  let bot = NEVER_SENT
  return {
    async take(chatId, wish) {
      const chat = chatId === undefined ? undefined : (chats.get(chatId) ?? NEVER_SENT)
      const turn = takeTurn({ bot, chat }, { ...wish, now: performance.now() }, limits)
      if (!turn.isTaken) return turn
      bot = turn.bot
      if (chatId !== undefined) chats.set(chatId, turn.chat)
      return turn
    },
    async flood(chatId, ms) {
      const now = performance.now()
      for (const [other, at] of floods) if (now - at > FLOODS_OF_BOT.withinMs) floods.delete(other)
      floods.set(chatId, now)
      chats.set(chatId, holdFor(chats.get(chatId) ?? NEVER_SENT, now, ms))
      const ends = [...floods.keys()].map((chatId) => chats.get(chatId)?.nextAt ?? now)
      const end = botFloodEnd(ends)
      if (end !== undefined) bot = holdFor(bot, now, end - now)
    },
  }
}
