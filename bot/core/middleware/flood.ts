import type { Middleware } from 'grammy'
import { translator } from '#src/i18n/translate.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { localeOfTag } from '#src/kernel/locale.ts'
import type { BotContext } from '../context.ts'

/** Maximum number of presses and messages in the window. */
const PRESSES_MAX = 30
const WINDOW_MS = 10_000
/** Duration of the penalty, in which one press is accepted in each `PACE_MS`. */
const PENALTY_MS = 60_000
const PACE_MS = 2000
/** Number of people in memory beyond which inactive people are removed. */
const PEOPLE_KEPT = 1000

interface Presses {
  readonly times: readonly number[]
  readonly slowUntil: number
}

/**
 * Limits a person who presses, writes or sends inline queries faster than a person reads: further updates
 * are dropped before any lookup, and the person is notified. Each process counts separately. Not done with
 * rate-limiter-flexible, because its fixed windows would allow 60 presses in ten seconds across two
 * windows.
 */
export function flood({ clock }: { readonly clock: Clock }): Middleware<BotContext> {
  const people = new Map<string, Presses>()
  return async (ctx, next) => {
    const { from, chat } = ctx
    // Service messages, such as the migration of a group, have no person.
    const kind = kindOf(ctx)
    if (from === undefined || kind === undefined) return next()
    const now = clock.now().getTime()
    if (people.size > PEOPLE_KEPT) forgetQuiet(people, now)
    // All anonymous administrators share one account, so updates are counted per chat.
    const key = `${kind} ${chat?.id ?? ''} ${from.id}`
    const before = people.get(key) ?? { times: [], slowUntil: 0 }
    const { isTaken, presses } = judgePress(before, now)
    people.set(key, presses)
    if (isTaken) return next()
    const t = translator(localeOfTag(from.language_code) ?? 'en')
    if (ctx.callbackQuery !== undefined) return ctx.answer(t('bot:toast.slower'))
    const isFirst = presses.slowUntil > before.slowUntil
    if (isFirst && ctx.message?.chat.type === 'private') await ctx.reply(t('bot:toast.slower'))
  }
}

/** Kind of update; undefined if the update is not counted. */
function kindOf({ callbackQuery, inlineQuery, message }: BotContext): string | undefined {
  if (callbackQuery !== undefined) return 'press'
  if (inlineQuery !== undefined) return 'inline'
  return message?.text === undefined ? undefined : 'message'
}

/** Whether a press or message at `now` is accepted, and the new state. */
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

function forgetQuiet(people: Map<string, Presses>, now: number): void {
  for (const [key, { times, slowUntil }] of people) {
    if (slowUntil < now && (times.at(-1) ?? 0) < now - WINDOW_MS) people.delete(key)
  }
}
