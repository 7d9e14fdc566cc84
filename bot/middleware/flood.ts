import type { Middleware } from 'grammy'
import type { BotContext } from '../context.ts'

/** So many presses in so short a time are too many. */
const PRESSES_MAX = 30
const WINDOW_MS = 10_000
/** For this long afterwards one press in so many milliseconds counts. */
const PENALTY_MS = 60_000
const PACE_MS = 2000
/** Chats remembered before those that are quiet again are forgotten. */
const CHATS_KEPT = 1000

interface Presses {
  readonly times: readonly number[]
  readonly slowUntil: number
}

/** Slows a chat down that presses faster than anybody reads. Each process counts for itself. */
export function flood(): Middleware<BotContext> {
  const chats = new Map<number, Presses>()
  return async (ctx, next) => {
    if (ctx.callbackQuery === undefined) return next()
    const now = ctx.app.clock.now().getTime()
    if (chats.size > CHATS_KEPT) forgetQuiet(chats, now)
    const before = chats.get(ctx.known.id) ?? { times: [], slowUntil: 0 }
    const { isTaken, presses } = judgePress(before, now)
    chats.set(ctx.known.id, presses)
    if (isTaken) return next()
    await ctx.answer(ctx.t('bot:toast.slower'))
  }
}

/** Whether a press at `now` is taken, and what to remember. */
export function judgePress(
  before: Presses,
  now: number,
): { readonly isTaken: boolean; readonly presses: Presses } {
  const times = before.times.filter((time) => time > now - WINDOW_MS)
  const last = times.at(-1) ?? Number.NEGATIVE_INFINITY
  if (now < before.slowUntil && now - last < PACE_MS) {
    return { isTaken: false, presses: { ...before, times } }
  }
  if (times.length >= PRESSES_MAX) {
    return { isTaken: false, presses: { times, slowUntil: now + PENALTY_MS } }
  }
  return { isTaken: true, presses: { times: [...times, now], slowUntil: before.slowUntil } }
}

function forgetQuiet(chats: Map<number, Presses>, now: number): void {
  for (const [id, { times, slowUntil }] of chats) {
    if (slowUntil < now && (times.at(-1) ?? 0) < now - WINDOW_MS) chats.delete(id)
  }
}
