import type { Middleware } from 'grammy'
import { translator } from '#src/i18n/translate.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { localeOfTag } from '#src/kernel/locale.ts'
import type { BotContext } from '../context.ts'

/** Maximum number of updates of one kind by a person in one chat in the window. */
const UPDATES_MAX = 30
const WINDOW_MS = 10_000
/** Duration of the penalty, in which one update is accepted in each `PACE_MS`. */
const PENALTY_MS = 60_000
const PACE_MS = 2000
/** Number of entries in memory beyond which entries without recent updates are removed. */
const CLEAN_UP_ABOVE_ENTRIES = 1000

/** The updates of one kind by a person in one chat. Times in milliseconds since 1970. */
interface UpdateTimes {
  readonly times: readonly number[]
  readonly slowUntil: number
}

/**
 * Limits a person who presses, writes or sends inline queries faster than a person reads: further updates
 * are dropped before any lookup, and the person is notified. Each process counts separately. Not done with
 * rate-limiter-flexible, because its fixed windows would allow 60 updates in ten seconds across two
 * windows.
 */
export function flood({ clock }: { readonly clock: Clock }): Middleware<BotContext> {
  const updatesByKey = new Map<string, UpdateTimes>()
  return async (ctx, next) => {
    const { from, chat } = ctx
    // Service messages, such as the migration of a group, have no person.
    const kind = kindOf(ctx)
    if (from === undefined || kind === undefined) return next()
    const now = clock.now().getTime()
    if (updatesByKey.size > CLEAN_UP_ABOVE_ENTRIES) forgetQuiet(updatesByKey, now)
    // Counted per chat, because all anonymous administrators share one account.
    const key = `${kind} ${chat?.id ?? ''} ${from.id}`
    const before = updatesByKey.get(key) ?? { times: [], slowUntil: 0 }
    const { isTaken, updates } = judgeUpdate(before, now)
    updatesByKey.set(key, updates)
    if (isTaken) return next()
    const t = translator(localeOfTag(from.language_code) ?? 'en')
    if (ctx.callbackQuery !== undefined) return ctx.answer(t('bot:toast.slower'))
    const isFirst = updates.slowUntil > before.slowUntil
    if (isFirst && ctx.message?.chat.type === 'private') await ctx.reply(t('bot:toast.slower'))
  }
}

/** Kind of update; undefined if the update is not counted. */
function kindOf({ callbackQuery, inlineQuery, message }: BotContext): string | undefined {
  if (callbackQuery !== undefined) return 'press'
  if (inlineQuery !== undefined) return 'inline'
  return message?.text === undefined ? undefined : 'message'
}

/** Whether an update at `now` is accepted, and the new state. */
export function judgeUpdate(
  before: UpdateTimes,
  now: number,
): { readonly isTaken: boolean; readonly updates: UpdateTimes } {
  const times = before.times.filter((time) => time > now - WINDOW_MS)
  const last = times.at(-1) ?? Number.NEGATIVE_INFINITY
  if (now < before.slowUntil && now - last < PACE_MS) {
    return { isTaken: false, updates: { ...before, times } }
  }
  if (times.length >= UPDATES_MAX) {
    return { isTaken: false, updates: { times, slowUntil: now + PENALTY_MS } }
  }
  return { isTaken: true, updates: { times: [...times, now], slowUntil: before.slowUntil } }
}

function forgetQuiet(updatesByKey: Map<string, UpdateTimes>, now: number): void {
  for (const [key, { times, slowUntil }] of updatesByKey) {
    if (slowUntil < now && (times.at(-1) ?? 0) < now - WINDOW_MS) updatesByKey.delete(key)
  }
}
