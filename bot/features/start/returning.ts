/** Return of a chat that blocked or removed the bot. */

import { packed } from '#src/actions/codec.ts'
import { getDestination } from '#src/operations/chat-destinations.ts'
import { unblockChat } from '#src/recipients/chats.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { homeScreen } from '../../views/screens.ts'
import { act, type View } from '../../views/view.ts'

/** Switches the chat's alerts on again. */
export async function comeBack(ctx: BotContext): Promise<void> {
  await unblockChat(ctx.app.db, ctx.known.id, ctx.app.clock.now())
  await identifyAgain(ctx)
}

/**
 * Home screen of a chat that returned, with the number of retained alerts.
 *
 * @param were the links that had been blocked
 */
export async function returningScreen(ctx: BotContext, were: readonly Membership[]): Promise<View> {
  const { reader, t } = ctx
  const again = t.html('bot:home.again')
  // In a group recipients are private.
  if (reader.isGroup) return homeScreen(ctx, again)
  for (const link of were) {
    const id = link.recipientId
    const { retained } = await ctx.call(getDestination, { body: { id } }, link)
    if (retained === 0) continue
    const notice = `${again} ${t.html('bot:home.kept', { count: retained })}`
    return homeScreen(
      ctx,
      notice,
      link.caller.scopes.includes('write') ? retainedRows(ctx, id, retained) : [],
    )
  }
  return homeScreen(ctx, again)
}

function retainedRows({ t }: BotContext, id: number, count: number): Rows {
  return [
    [
      act(t('bot:button.sendRetained', { count }), packed('rec.kept', { id }), 'primary'),
      act(t('bot:button.dropRetained'), packed('rec.keptDrop', { id })),
    ],
  ]
}
