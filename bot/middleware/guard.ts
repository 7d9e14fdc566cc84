import type { Middleware } from 'grammy'
import type { Verb } from '../callback-data.ts'
import type { BotContext } from '../context.ts'
import { show } from '../show.ts'
import { unlinked } from '../views/notices.ts'

/** Presses that any administrator of a group may make, whoever linked the wallet. */
const ADMINISTRATORS: ReadonlySet<Verb> = new Set([
  'link.yes',
  'link.no',
  'settings.lang',
  'settings.langSet',
])

/**
 * Lets a press through to where it is handled: in groups only those of administrators, and of those
 * who linked the wallet where it is about the wallet; nowhere those about watches of an unlinked chat.
 */
export const guard: Middleware<BotContext> = async (ctx, next) => {
  if (ctx.callbackQuery === undefined) return next()
  const verb = ctx.press?.verb
  const isLinked = ctx.links.length > 0
  if (ctx.reader.isGroup) {
    const isForAll = verb !== undefined && ADMINISTRATORS.has(verb)
    const isAllowed = isForAll || !isLinked || ctx.links.some(({ manages }) => manages)
    if (!ctx.isAdministrator || !isAllowed) {
      const key = isForAll ? 'bot:group.adminsOnly' : 'bot:group.linkersOnly'
      return ctx.answer(ctx.t(key), { box: true })
    }
  }
  if (!isLinked && verb?.startsWith('watch.')) return show(ctx, unlinked(ctx.reader))
  await next()
}
