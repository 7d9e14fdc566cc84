/** Handles the return of a chat that blocked or removed the bot. */

import { packed } from '#src/actions/codec.ts'
import { getDestination } from '#src/operations/chat-destinations.ts'
import { unblockChat } from '#src/recipients/chats.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { act, type View } from '../../views/view.ts'
import { homeScreen } from './home.ts'

/** Switches the chat's alerts on again. */
export async function comeBack(ctx: BotContext): Promise<void> {
  await unblockChat(ctx.app.db, ctx.knownChat.id, ctx.app.clock.now())
  await identifyAgain(ctx)
}

/**
 * Home screen of a chat that returned, with the number of retained alerts.
 *
 * @param were the links that had been blocked
 */
export async function returningScreen(ctx: BotContext, were: readonly Membership[]): Promise<View> {
  const again = ctx.t.html('bot:home.again')
  return (await retainedScreen(ctx, were, again)) ?? (await homeScreen(ctx, again))
}

/**
 * Home screen that asks about retained alerts, of the first of these links that has retained alerts;
 * undefined if there are none, and in groups, where recipients are private.
 */
export async function retainedScreen(
  ctx: BotContext,
  links: readonly Membership[],
  again = '',
): Promise<View | undefined> {
  const { reader, t } = ctx
  if (reader.isGroup) return undefined
  for (const link of links) {
    const id = link.recipientId
    const { retained } = await ctx.call(getDestination, { body: { id } }, link)
    if (retained === 0) continue
    const notice = `${again} ${t.html('bot:home.kept', { count: retained })}`.trim()
    return homeScreen(
      ctx,
      notice,
      link.caller.scopes.includes('write') ? retainedRows(ctx, id, retained) : [],
    )
  }
  return undefined
}

function retainedRows({ t }: BotContext, id: number, count: number): Rows {
  return [
    [
      act(t('bot:button.sendRetained', { count }), packed('rec.kept', { id }), 'primary'),
      act(t('bot:button.dropRetained'), packed('rec.keptDrop', { id })),
    ],
  ]
}
