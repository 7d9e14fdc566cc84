import { Composer } from 'grammy'
import type { BotContext } from '../context.ts'
import { identifyAgain } from '../middleware/identify.ts'
import { allWatches, homeScreen } from '../screens.ts'
import { show } from '../show.ts'
import { changeChat } from '../store.ts'
import { walletsScreen } from '../views/wallets.ts'
import { defineFeature, onPress } from './define.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'wallet.list', showWallets)

async function showWallets(ctx: BotContext): Promise<void> {
  const [chosen] = ctx.links
  const wallets = await Promise.all(
    ctx.links.map(async (link) => ({
      recipientId: link.recipientId,
      address: link.wallet,
      scopes: link.caller.scopes,
      watches: (await allWatches(ctx, link)).length,
      isChosen: link === chosen,
    })),
  )
  // The newest first, whichever is chosen: a button stays where it was.
  const inOrder = wallets.toSorted((a, b) => b.recipientId - a.recipientId)
  await show(ctx, walletsScreen(ctx.reader, inOrder))
}

onPress(composer, 'wallet.use', async (ctx, { id }) => {
  const link = ctx.links.find(({ recipientId }) => recipientId === id)
  if (link === undefined) return showWallets(ctx)
  await changeChat(ctx.app.db, ctx.known.id, { wallet: link.wallet }, ctx.app.clock.now())
  await identifyAgain(ctx)
  await show(ctx, await homeScreen(ctx))
})

export const walletsFeature = defineFeature({ commands: [], composer })
