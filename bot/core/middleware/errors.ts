import { GrammyError, type Middleware } from 'grammy'
import { AppError } from '#src/kernel/errors.ts'
import { blockChat } from '#src/recipients/chats.ts'
import { describe, verdictOf } from '#src/telegram/errors.ts'
import { gone, notAllowed, refusalScreen } from '../../views/refusals.ts'
import { linkToPrivateChat } from '../chat.ts'
import type { BotContext } from '../context.ts'
import { sentenceOf } from '../error-sentences.ts'
import { send, show, showAbove } from '../show.ts'
import { PrivateOnly } from '../watches.ts'

/**
 * Turns an AppError into one sentence in the reader's language, and ends updates whose chat cannot be
 * written to. Other errors go to the inbox, which tries again.
 */
export const errors: Middleware<BotContext> = async (ctx, next) => {
  try {
    await withRefusals(ctx, next)
  } catch (error) {
    if (!(error instanceof GrammyError) || !(await handleClosedChat(ctx, error))) throw error
    const fields = { updateId: ctx.update.update_id, error: describe(error) }
    ctx.app.log.info(fields, 'chat cannot be reached')
  }
}

/**
 * Handles an error that says that the chat accepts no messages: it moved, is closed to the bot, or refuses what the bot
 * wants to do there. Blocks the links of a chat that is closed to the bot.
 *
 * @returns whether the update ends; false for any other error
 */
async function handleClosedChat(ctx: BotContext, error: GrammyError): Promise<boolean> {
  const verdict = verdictOf(error)
  // The links stay: alerts may go to another topic, and delivery finds out by itself.
  if (verdict.kind === 'send_to' || verdict.kind === 'send_without_thread') return true
  if (verdict.kind !== 'fail') return false
  const { permanent, reason } = verdict.error
  if (permanent) await blockChat(ctx.app, ctx.knownChat.id, ctx.app.clock.now(), reason)
  return permanent || reason === 'not_allowed'
}

async function withRefusals(ctx: BotContext, next: () => Promise<void>): Promise<void> {
  try {
    await next()
  } catch (error) {
    if (error instanceof PrivateOnly) return linkToPrivateChat(ctx, error.payload)
    if (!(error instanceof AppError)) throw error
    await showRefusal(ctx, error)
  }
}

async function showRefusal(ctx: BotContext, error: AppError): Promise<void> {
  const { reader, t } = ctx
  const isPress = ctx.callbackQuery !== undefined
  const options = { buttons: !reader.isGroup }
  if (error.code === 'rate_limited' && isPress) {
    const seconds = error.details.retryAfterSeconds ?? 1
    return ctx.answer(t('bot:toast.wait', { seconds }))
  }
  if (error.kind === 'not_found') {
    await show(ctx, gone(reader, options))
    return
  }
  if (error.code === 'insufficient_scope' && !reader.isGroup) {
    const { sentence, button } = notAllowed(reader, error.details.values?.['scope'] === 'spend')
    if (isPress && (await showAbove(ctx, sentence, button))) return
    await send(ctx, refusalScreen(reader, sentence, { ...options, button }))
    return
  }
  const sentence = sentenceOf(t, error)
  if (isPress && (await showAbove(ctx, sentence))) return
  await send(ctx, refusalScreen(reader, sentence, options))
}
