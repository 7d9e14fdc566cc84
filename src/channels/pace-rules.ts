/** When a bot may send its next message, by the limits of Telegram. Pure. */

/** Limits that hold for all processes with one bot token. */
export interface PaceLimits {
  /** Least time between two messages of the bot, in milliseconds. */
  readonly allMs: number
  /** Least time between two messages to one chat. */
  readonly chatMs: number
  /** Most messages to a group in a time. */
  readonly groupWindow: { readonly count: number; readonly ms: number }
}

/** Sending state of a chat, or of the bot as a whole. Times in milliseconds. */
export interface Pace {
  /** Time of the next message at the earliest. */
  readonly nextAt: number
  /** Times of the last messages, oldest first; of groups only. */
  readonly sentAt: readonly number[]
  /** Time at which it was written. */
  readonly at: number
}

/** `waitMs` until the message may go; it is not counted where that is longer than the patience, or the chat is not ready. */
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
   * @param chatId undefined: a call that counts for the bot only
   * @returns the time until the turn, or until it is worth asking again
   */
  take(
    chatId: number | undefined,
    request: { readonly patienceMs: number; readonly isGroup: boolean },
  ): Promise<{ readonly isTaken: boolean; readonly waitMs: number }>
  /** Blocks a chat after an answer 429; after answers to many chats, blocks the bot. */
  flood(chatId: number, ms: number): Promise<void>
}

/**
 * Number of chats with an answer 429 within this time from which on the limit counts as the bot's.
 */
export const FLOODS_OF_BOT = { chats: 3, withinMs: 10_000 } as const

/**
 * Takes the next turn. A chat that is not ready takes none: others may send meanwhile.
 *
 * @param chat undefined: a call that counts for the bot only, such as the change of a message
 */
export function takeTurn(
  { bot, chat }: { readonly bot: Pace; readonly chat: Pace | undefined },
  request: { readonly now: number; readonly patienceMs: number; readonly isGroup: boolean },
  { allMs, chatMs, groupWindow }: PaceLimits,
): PaceTurn {
  const { now, patienceMs, isGroup } = request
  const all = asOf(bot, now)
  const own = chat === undefined ? NEVER : asOf(chat, now)
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
 * End of the bot's wait, if enough chats got an answer 429 for the limit to be the bot's: the
 * shortest of their waits, because a busy group may have a longer one of its own.
 *
 * @param ends of the waits of chats that got an answer 429 in the last ten seconds
 */
export function botFloodEnd(ends: readonly number[]): number | undefined {
  return ends.length < FLOODS_OF_BOT.chats ? undefined : Math.min(...ends)
}

export const NEVER: Pace = { nextAt: 0, sentAt: [], at: 0 }

/** The pace relative to `now`: a pace written before the clock was set back keeps its intervals. */
function asOf(pace: Pace, now: number): Pace {
  const ahead = Math.max(0, pace.at - now)
  if (ahead === 0) return pace
  return {
    nextAt: pace.nextAt - ahead,
    sentAt: pace.sentAt.map((at) => at - ahead),
    at: now,
  }
}
