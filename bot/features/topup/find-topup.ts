/** Top-ups of a chat's wallets, by handle. */
import type { Hash } from '#src/kernel/units.ts'
import { getTopupWithPayments } from '#src/operations/chat/status.ts'
import type { BotContext, InvokeOperation, Membership } from '../../core/context.ts'
import { firstLink } from '../../core/first-link.ts'
import type { ShownTopup } from './shown-topup.ts'
import { readTopup } from './shown-topup.ts'

/**
 * A top-up of one of the chat's wallets.
 *
 * @throws AppError not_found
 */
export async function findTopupOfChat(
  ctx: BotContext,
  handle: Hash,
  stage: string | null = null,
): Promise<ShownTopup> {
  const { app, knownChat } = ctx
  const link = await linkOf(ctx, handle)
  return await readTopup(app, askAs(ctx, link), { handle, chatId: knownChat.id, stage })
}

/** Returns a function that runs operations for the wallet of a link. */
function askAs(ctx: BotContext, link: Membership): InvokeOperation {
  return (operation, input) => ctx.call(operation, input, link)
}

/**
 * The link of a top-up's wallet.
 * @throws AppError not_found
 */
async function linkOf(ctx: BotContext, handle: Hash): Promise<Membership> {
  return await firstLink(ctx, async (link) => {
    await ctx.call(getTopupWithPayments, { params: { handle } }, link)
    return link
  })
}
