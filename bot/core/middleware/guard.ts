import type { Middleware } from 'grammy'
import { argumentsOf, type Press, type Verb } from '#src/actions/codec.ts'
import { unlinked } from '../../views/notices.ts'
import { deepLink } from '../../views/view.ts'
import type { BotContext } from '../context.ts'
import { show } from '../show.ts'

/** Presses that every member of a group may make: they change nothing. */
const EVERYBODY: ReadonlySet<Verb> = new Set(['none', 'alert.help'])

/** Presses that any administrator of a group may make, whoever linked the wallet. */
const ADMINISTRATORS: ReadonlySet<Verb> = new Set([
  'link.yes',
  'link.no',
  'settings.lang',
  'settings.langSet',
])

/** Presses that need no link. */
const UNLINKED: ReadonlySet<Verb> = new Set([
  'home',
  'none',
  'close',
  'demo',
  'connect',
  'link.yes',
  'link.no',
  'settings.lang',
  'settings.langSet',
  'help',
  'stop',
  'stop.data',
  'stop.dataYes',
])

/** Screens that are never shown in a group, with the payload of the deep link to the private chat. */
const PRIVATE: readonly (readonly [RegExp, string])[] = [
  [/^topup(?:\.|$)/, 'topup'],
  [/^(?:slots(?:\.|$)|trial\.|terms\.)/, 'slots'],
  [/^new\./, 'new'],
  [/^connect$/, 'connect'],
  [/^(?:rec\.(?!revive)|settings$|settings\.(?!lang)|stop\.data|alert\.csv$)/, 'menu'],
]

/** Recipients of a watch. */
const OF_A_WATCH = /^watch\.(?:who|esc)/

function privatePayload(press: Press | undefined): string | undefined {
  if (press === undefined) return undefined
  if (OF_A_WATCH.test(press.verb)) {
    return `w${argumentsOf<'watch.card'>({ verb: 'watch.card', args: press.args }).id}`
  }
  return PRIVATE.find(([pattern]) => pattern.test(press.verb))?.[1]
}

/**
 * Checks the right to a press: in groups only administrators, and for the wallet only those who linked it;
 * nothing private in groups; nothing about a wallet in an unlinked chat.
 */
export const guard: Middleware<BotContext> = async (ctx, next) => {
  if (ctx.callbackQuery === undefined) return next()
  const verb = ctx.press?.verb
  const isLinked = ctx.links.length > 0
  if (ctx.reader.isGroup && !(verb !== undefined && EVERYBODY.has(verb))) {
    const isForAll = verb !== undefined && ADMINISTRATORS.has(verb)
    const isAllowed = isForAll || !isLinked || ctx.links.some(({ manages }) => manages)
    if (!ctx.isAdministrator || !isAllowed) {
      const key = isForAll ? 'bot:group.adminsOnly' : 'bot:group.linkersOnly'
      return ctx.answer(ctx.t(key), { box: true })
    }
    const payload = privatePayload(ctx.press)
    if (payload !== undefined) return ctx.answer(undefined, { url: deepLink(ctx.reader, payload) })
  }
  if (!isLinked && verb !== undefined && !UNLINKED.has(verb)) {
    await show(ctx, unlinked(ctx.reader))
    return
  }
  await next()
}
