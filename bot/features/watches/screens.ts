import type { Watch } from '#src/watches/model.ts'
import { hasButtons } from '../../core/chat.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { send, show } from '../../core/show.ts'
import { allWatches, findWatch } from '../../core/watches.ts'
import { readFunds } from '../../views/wallet.ts'
import { watchCard } from './card-view.ts'
import { watchList } from './list-view.ts'
import { followWatch } from './live.ts'
import { cardRights, loadCard } from './load-card.ts'

/** Shows a page of the wallet's watches. */
export async function showList(
  ctx: BotContext,
  options: { readonly page: number; readonly notice?: string },
): Promise<void> {
  const watches = await allWatches(ctx)
  const now = ctx.app.clock.now()
  const isPrivate = !ctx.reader.isGroup
  const canCreate = isPrivate && ctx.links[0]?.caller.scopes.includes('write') === true
  const slots = isPrivate ? (await readFunds(ctx.call)).slots : undefined
  const shown = { ...options, slots, now, canCreate, hasButtons: hasButtons(ctx) }
  await show(ctx, watchList(ctx.reader, watches, shown))
}

/**
 * Shows a watch of one of the chat's wallets.
 * @throws AppError not_found
 */
export async function showCard(ctx: BotContext, id: number, notice?: string): Promise<void> {
  const { watch, link } = await findWatch(ctx, id)
  await showWatch(ctx, watch, link, notice)
}

/** Shows the card of a watch. @param notice HTML @returns the message's id */
export async function showWatch(
  ctx: BotContext,
  watch: Watch,
  link: Membership,
  notice?: string,
): Promise<number> {
  return await putCard(ctx, { watch, link, ...(notice !== undefined && { notice }) }, show)
}

/**
 * Sends the card of a watch of one of the chat's wallets as a new message.
 * @throws AppError not_found
 */
export async function sendCard(ctx: BotContext, id: number): Promise<void> {
  await putCard(ctx, await findWatch(ctx, id), send)
}

/** Puts a card into the chat, with the buttons that the person may use. While the watch fires, the card follows it. */
async function putCard(
  ctx: BotContext,
  card: { readonly watch: Watch; readonly link: Membership; readonly notice?: string },
  put: typeof show | typeof send,
): Promise<number> {
  const { watch, link, notice } = card
  const data = await loadCard(ctx, watch, link)
  const view = watchCard(ctx.reader, data, {
    now: ctx.app.clock.now(),
    rights: cardRights(link),
    ...(notice !== undefined && { notice }),
  })
  const messageId = await put(ctx, view)
  await followWatch(ctx, messageId, { data, link })
  return messageId
}
