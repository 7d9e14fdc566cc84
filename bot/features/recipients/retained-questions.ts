import type { BotContext } from '../../core/context.ts'
import { leave } from '../../core/show.ts'
import { takeFollowUps } from './follow-up-store.ts'

/**
 * Removes the chat's questions about a recipient's retained alerts, which were answered or are asked again.
 * The pressed question stays, because it shows the answer.
 */
export async function endRetainedQuestions(ctx: BotContext, recipientId: number): Promise<void> {
  const { app, callbackQuery, knownChat } = ctx
  const of = { chatId: knownChat.id, recipientId, kind: 'retained' }
  for (const { messageId } of await takeFollowUps(app.db, of)) {
    if (messageId !== callbackQuery?.message?.message_id) await leave(ctx, messageId)
  }
}
