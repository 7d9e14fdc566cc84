import { Composer } from 'grammy'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { show } from '../../core/show.ts'
import { changeChat } from '../../core/store.ts'
import { allWatches } from '../../core/watches.ts'
import { homeScreen } from '../start/home.ts'
import { WALLETS_PER_PAGE, walletsScreen } from './view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'wallet.list', (ctx) => showWallets(ctx))
onPress(composer, 'wallet.page', (ctx, { page }) => showWallets(ctx, page))

/** Shows a page of the chat's wallets, by default the page with the chosen wallet. */
export async function showWallets(ctx: BotContext, asked?: number): Promise<void> {
  // Newest first, whichever wallet is chosen, so that buttons keep their place.
  const isChosen = (link: Membership) => link === ctx.links[0]
  const inOrder = ctx.links.toSorted((a, b) => b.recipientId - a.recipientId)
  const pages = Math.ceil(inOrder.length / WALLETS_PER_PAGE)
  const place = inOrder.findIndex(isChosen)
  const page = Math.min(asked ?? Math.floor(place / WALLETS_PER_PAGE) + 1, pages)
  const wallets = await Promise.all(
    inOrder.slice((page - 1) * WALLETS_PER_PAGE, page * WALLETS_PER_PAGE).map(async (link) => ({
      recipientId: link.recipientId,
      address: link.wallet,
      scopes: link.caller.scopes,
      watches: (await allWatches(ctx, link)).length,
      isChosen: isChosen(link),
    })),
  )
  await show(ctx, walletsScreen(ctx.reader, wallets, { page, pages }))
}

onPress(composer, 'wallet.use', async (ctx, { id }) => {
  const link = ctx.links.find(({ recipientId }) => recipientId === id)
  if (link === undefined) return showWallets(ctx)
  await changeChat(ctx.app.db, ctx.knownChat.id, { wallet: link.wallet }, ctx.app.clock.now())
  await identifyAgain(ctx, { wallet: link.wallet })
  await show(ctx, await homeScreen(ctx))
})

export const walletsFeature = defineFeature({ commands: [], composer })
