/** Handles the return of a chat that blocked or removed the bot. */

import { packed } from '#src/actions/codec.ts'
import { getDestination } from '#src/operations/chat-destinations.ts'
import { unblockChat } from '#src/recipients/chats.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { ask, send } from '../../core/show.ts'
import { act, screen, type View } from '../../views/view.ts'
import { follow } from '../recipients/follow.ts'
import { endRetainedQuestions } from '../recipients/retained-questions.ts'
import { homeScreen } from './home.ts'

/** Switches the chat's alerts on again. */
export async function comeBack(ctx: BotContext): Promise<void> {
  await unblockChat(ctx.app.db, ctx.knownChat.id, ctx.app.clock.now())
  await identifyAgain(ctx)
}

/** Home screen of a chat that returned. */
export function returningScreen(ctx: BotContext): Promise<View> {
  return homeScreen(ctx, ctx.t.html('bot:home.again'))
}

/** Tells a private chat that it returned: with the question about retained alerts, if there are any. */
export async function greetReturned(ctx: BotContext, were: readonly Membership[]): Promise<void> {
  const isAsked = await askRetained(ctx, were, ctx.t.html('bot:home.again'))
  if (!isAsked) await send(ctx, await returningScreen(ctx))
}

/**
 * Asks about retained alerts, of the first of these links that has retained alerts. The question is a
 * separate message, so that it keeps its buttons when another screen follows. It replaces earlier questions.
 *
 * @returns false if there are none, and in groups, where recipients are private
 */
export async function askRetained(
  ctx: BotContext,
  links: readonly Membership[],
  again = '',
): Promise<boolean> {
  const { reader, t } = ctx
  if (reader.isGroup) return false
  for (const link of links) {
    const id = link.recipientId
    const { retained } = await ctx.call(getDestination, { body: { id } }, link)
    if (retained === 0) continue
    const text = `${again} ${t.html('bot:home.kept', { count: retained })}`.trim()
    const canWrite = link.caller.scopes.includes('write')
    await endRetainedQuestions(ctx, id)
    const messageId = await ask(
      ctx,
      screen([text], canWrite ? retainedRows(ctx, id, retained) : []),
    )
    await follow(ctx, id, messageId, 'retained')
    return true
  }
  return false
}

function retainedRows({ t }: BotContext, id: number, count: number): Rows {
  return [
    [
      act(t('bot:button.sendRetained', { count }), packed('rec.kept', { id }), 'primary'),
      act(t('bot:button.dropRetained'), packed('rec.keptDrop', { id })),
    ],
  ]
}
