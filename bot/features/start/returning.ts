/** Handles the return of a chat that blocked or removed the bot. */

import { packed } from '#src/actions/codec.ts'
import type { Missed } from '#src/alerts/summaries/missed.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { getDestination } from '#src/operations/chat/destinations.ts'
import { unblockChat } from '#src/recipients/chats.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { ask, send } from '../../core/show.ts'
import { listData, USUAL_FILTER } from '../../views/alert-list.ts'
import { act, screen, type View } from '../../views/view.ts'
import { endRetainedQuestions, follow } from '../recipients/follow.ts'
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

/** Tells a chat that it returned: with the question about retained alerts, if there are any. */
export async function greetReturned(ctx: BotContext, were: readonly Membership[]): Promise<void> {
  const isAsked = await askRetained(ctx, were, ctx.t.html('bot:home.again'))
  if (!isAsked) await send(ctx, await returningScreen(ctx))
}

/**
 * Asks about retained alerts, of the first of these links that has retained alerts. The question is a
 * separate message, so that it keeps its buttons when another screen follows. It replaces earlier questions.
 *
 * @returns false if there are none, and in a group that may change nothing: its owner is asked in the private chat
 */
export async function askRetained(
  ctx: BotContext,
  links: readonly Membership[],
  again = '',
): Promise<boolean> {
  const { reader, t } = ctx
  for (const link of links) {
    const { recipientId: id, scopes } = link
    const canWrite = scopes.includes('write')
    if (reader.isGroup && !canWrite) continue
    const { missed } = await ctx.call(getDestination, { body: { id } }, link)
    if (missed.count + missed.over === 0) continue
    await endRetainedQuestions(ctx, id)
    const view = screen(missedLines(t, missed, again), canWrite ? retainedRows(t, id, missed) : [])
    const messageId = await ask(ctx, view)
    await follow(ctx, id, messageId, 'retained')
    return true
  }
  return false
}

/** What a chat missed, as HTML: the alerts that are over in one line, and the question about the others. */
function missedLines(t: Translate, { count, over }: Missed, again: string): readonly string[] {
  if (over === 0) return [`${again} ${t.html('bot:home.kept', { count })}`.trim()]
  return [
    ...(again === '' ? [] : [again]),
    t.html('messages:missed.over', { count: over }),
    ...(count === 0 ? [] : [t.html('bot:home.keptMore', { count })]),
  ]
}

function retainedRows(t: Translate, id: number, { count }: Missed): Rows {
  const first =
    count === 0
      ? act(t('bot:button.alerts'), listData(USUAL_FILTER))
      : act(t('bot:button.sendRetained', { count }), packed('rec.kept', { id }), 'primary')
  return [[first, act(t('bot:button.dropRetained'), packed('rec.keptDrop', { id }))]]
}
