/** The members of a group who may press buttons that change something. */
import { listChatLinks } from '#src/recipients/chats.ts'
import { isRefused } from '#src/telegram/errors.ts'
import type { BotContext } from '../../core/context.ts'
import { isLinker } from '../../core/middleware/identify.ts'

/** First names of the group's administrators who are linked to one of its wallets; empty in private. */
export async function managerNames(ctx: BotContext): Promise<readonly string[]> {
  if (!ctx.reader.isGroup || ctx.links.length === 0) return []
  const people = (await administratorsOf(ctx)).filter(({ is_bot: isBot }) => !isBot)
  const names = await Promise.all(
    people.map(async ({ id, first_name: name }) => {
      const own = await listChatLinks(ctx.app, id)
      return ctx.links.some((link) => isLinker(link, id, own)) ? [name] : []
    }),
  )
  return names.flat()
}

async function administratorsOf(ctx: BotContext) {
  try {
    return (await ctx.getChatAdministrators()).map(({ user }) => user)
  } catch (error) {
    // Telegram refuses the list: then no names are shown.
    if (isRefused(error, 400, 403)) return []
    throw error
  }
}
