import type { Middleware } from 'grammy'
import { unlinked } from '../../views/refusals.ts'
import { deepLink } from '../../views/view.ts'
import type { BotContext } from '../context.ts'
import { show } from '../show.ts'
import { rightsTo } from '../verb-rights.ts'
import { mayAcknowledge } from './identify.ts'

/**
 * Checks the right to a press. If the verb has no other rights (`PressRights`), only administrators who linked
 * a wallet may press in a group, and nobody in an unlinked chat. Presses about private data are refused in
 * groups.
 */
export const guard: Middleware<BotContext> = async (ctx, next) => {
  if (ctx.callbackQuery === undefined) return next()
  const { press } = ctx
  const rights = press && rightsTo(press.verb)
  const isLinked = ctx.links.length > 0
  if (ctx.reader.isGroup && rights?.members !== 'all') {
    if (rights?.members === 'acknowledging' && ctx.links.some(mayAcknowledge)) return next()
    const isForAll = rights?.members === 'administrators'
    const isAllowed = isForAll || !isLinked || ctx.links.some(({ manages }) => manages)
    if (!ctx.isAdministrator || !isAllowed) {
      const key = isForAll ? 'bot:group.adminsOnly' : 'bot:group.linkersOnly'
      return ctx.answer(ctx.t(key), { box: true })
    }
    const payload = press && rights?.privately(press)
    if (payload !== undefined) return ctx.answer(undefined, { url: deepLink(ctx.reader, payload) })
  }
  if (!isLinked && press !== undefined && rights?.unlinked !== true) {
    await show(ctx, unlinked(ctx.reader))
    return
  }
  await next()
}
