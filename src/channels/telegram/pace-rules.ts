/** Decides when a bot may send its next message by the limits of Telegram. Pure. */

/** Limits that hold for all processes with one bot token. */
export interface PaceLimits {
  /** Minimum time between two messages of the bot. */
  readonly allMs: number
  /** Minimum time between two messages to one chat. */
  readonly chatMs: number
  /** Maximum number of messages to a group in a time window. */
  readonly groupWindow: { readonly count: number; readonly ms: number }
}

/** Sending state of a chat, or of the bot as a whole. Times in milliseconds. */
export interface Pace {
  /** Earliest time of the next message. */
  readonly nextAt: number
  /** Times of the last messages, oldest first; of groups only. */
  readonly sentAt: readonly number[]
  /** Time at which the pace was written. */
  readonly at: number
}

/**
 * Time until the message may be sent. The message is not counted if this time is longer than the patience,
 * or the chat is not ready.
 */
export type PaceTurn =
  | { readonly isTaken: true; readonly waitMs: number; readonly bot: Pace; readonly chat: Pace }
  | { readonly isTaken: false; readonly waitMs: number }

/**
 * Urgency of a reply: a person waits for it, and the number of presses is limited. Alerts have 1 to
 * 4.
 */
export const REPLY_URGENCY = 5

/** Turns of one bot, in all processes. */
export interface SharedPaces {
  /**
   * Takes a turn, unless the chat is not ready or the turn is further away than the patience.
   *
   * @param chatId undefined for a call that counts for the bot only
   * @returns the time until the turn, or until it is worth asking again
   */
  take(
    chatId: number | undefined,
    request: { readonly patienceMs: number; readonly isGroup: boolean },
  ): Promise<{ readonly isTaken: boolean; readonly waitMs: number }>
  /** Blocks a chat after a response 429; blocks the whole bot after such responses for many chats. */
  flood(chatId: number, ms: number): Promise<void>
}

/** If this many chats got a response 429 within this time, the whole bot is blocked. */
export const FLOODS_OF_BOT = { chats: 3, withinMs: 10_000 } as const

/**
 * Takes the next turn. A chat that is not ready takes no turn, so that other chats can send meanwhile.
 *
 * @param chat undefined for a call that counts for the bot only, such as the change of a message
 */
export function takeTurn(
  { bot, chat }: { readonly bot: Pace; readonly chat: Pace | undefined },
  request: { readonly now: number; readonly patienceMs: number; readonly isGroup: boolean },
  { allMs, chatMs, groupWindow }: PaceLimits,
): PaceTurn {
  const { now, patienceMs, isGroup } = request
  const all = asOf(bot, now)
  const own = chat === undefined ? NEVER_SENT : asOf(chat, now)
  const first = isGroup ? own.sentAt.at(-groupWindow.count) : undefined
  const chatAt = Math.max(own.nextAt, first === undefined ? 0 : first + groupWindow.ms)
  if (chatAt > now) return { isTaken: false, waitMs: chatAt - now }
  const turnAt = Math.max(all.nextAt, now)
  if (turnAt - now > patienceMs) return { isTaken: false, waitMs: turnAt - now }
  const sentAt = isGroup ? [...own.sentAt, turnAt].slice(-groupWindow.count) : []
  return {
    isTaken: true,
    waitMs: turnAt - now,
    bot: { nextAt: turnAt + allMs, sentAt: [], at: now },
    chat: { nextAt: turnAt + chatMs, sentAt, at: now },
  }
}

/** Blocks a chat or the bot for `ms` milliseconds. */
export function holdFor(pace: Pace, now: number, ms: number): Pace {
  const known = asOf(pace, now)
  return { ...known, nextAt: Math.max(known.nextAt, now + ms), at: now }
}

/**
 * End of the bot's wait, if enough chats got a response 429 to show that the limit of the bot was reached.
 * It is the shortest of the chats' waits, because a busy group may have a longer wait for itself.
 *
 * @param ends ends of the waits of chats that got a response 429 in the last ten seconds
 */
export function botFloodEnd(ends: readonly number[]): number | undefined {
  return ends.length < FLOODS_OF_BOT.chats ? undefined : Math.min(...ends)
}

export const NEVER_SENT: Pace = { nextAt: 0, sentAt: [], at: 0 }

/** Adapts a pace to `now`: a pace that was written before the clock was set back keeps its intervals. */
function asOf(pace: Pace, now: number): Pace {
  const ahead = Math.max(0, pace.at - now)
  if (ahead === 0) return pace
  return {
    nextAt: pace.nextAt - ahead,
    sentAt: pace.sentAt.map((at) => at - ahead),
    at: now,
  }
}
