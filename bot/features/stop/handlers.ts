import { Composer } from 'grammy'
import { deleteChatData, unlinkChat } from '#src/operations/chat/chat.ts'
import { listDestinations } from '#src/operations/chat/destinations.ts'
import { hasButtons } from '../../core/chat.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { leave, send, show } from '../../core/show.ts'
import { forgetChat } from '../../core/store.ts'
import { allWatches } from '../../core/watches.ts'
import { isOn } from '../../views/destination.ts'
import { actorName } from '../alerts/action-handlers.ts'
import { endFollowing } from '../follow/handlers.ts'
import { homeScreen } from '../start/home.ts'
import { dataDeleted, dataQuestion, type LeavingWallet, stopScreen, walletLeft } from './view.ts'

const composer = new Composer<BotContext>()

onCommand(composer, 'stop', (ctx) => stopHere(ctx), { unlinked: true })
onPress(composer, 'stop', { unlinked: true }, (ctx) => showStop(ctx))

/** Ends what the chat follows, and shows the effects of leaving its wallets. */
export async function stopHere(ctx: BotContext): Promise<void> {
  if (!(await endFollowing(ctx))) await showStop(ctx)
}

/** Shows the effects of leaving. */
export async function showStop(ctx: BotContext): Promise<void> {
  const { links, reader, isAnonymous, t } = ctx
  if (reader.isGroup && links.length === 0) {
    await show(ctx, await homeScreen(ctx))
    return
  }
  const own = links.filter(({ manages }) => manages)
  const shown = own.length > 0 ? own : links
  const wallets = await Promise.all(shown.map((link) => leaving(ctx, link)))
  const whyNot = isAnonymous ? 'bot:group.anonymous' : 'bot:group.linkersOnly'
  // A screen without buttons says who may press them.
  const notice = own.length > 0 && !isAnonymous ? {} : { notice: t.html(whyNot) }
  await show(ctx, stopScreen(reader, wallets, { buttons: hasButtons(ctx), ...notice }))
}

async function leaving(ctx: BotContext, link: Membership): Promise<LeavingWallet> {
  const [watches, all] = await Promise.all([
    allWatches(ctx, link),
    ctx.call(listDestinations, {}, link),
  ])
  const others = all.filter(
    (destination) => destination.id !== link.recipientId && isOn(destination),
  )
  return {
    recipientId: link.recipientId,
    address: link.wallet,
    watches: watches.length,
    isLast: others.length === 0,
  }
}

onPress(composer, 'stop.unlink', async (ctx, { id }) => {
  const link = ctx.links.find(({ recipientId }) => recipientId === id)
  if (link === undefined) return showStop(ctx)
  if (!link.manages) return ctx.answer(ctx.t('bot:group.linkersOnly'), { box: true })
  const { reader } = ctx
  await ctx.call(unlinkChat, { body: { chatId: ctx.knownChat.id } }, link)
  await identifyAgain(ctx)
  await show(ctx, walletLeft(reader, { address: link.wallet, isLinked: ctx.links.length > 0 }))
})

onPress(composer, 'stop.data', { privately: 'menu', unlinked: true }, async (ctx) => {
  await show(ctx, dataQuestion(ctx.reader))
})

onPress(composer, 'stop.dataYes', { privately: 'menu', unlinked: true }, async (ctx) => {
  const { from, knownChat, reader, app } = ctx
  if (from === undefined || reader.isGroup) return
  const who = { chatId: knownChat.id, personId: from.id }
  await ctx.call(deleteChatData, { body: { ...who, name: actorName(ctx) } })
  const messageId = ctx.callbackQuery?.message?.message_id
  if (messageId !== undefined) await leave(ctx, messageId)
  await send(ctx, dataDeleted(reader))
  await forgetChat(app.db, who)
})

export const stopFeature = defineFeature({
  commands: [{ name: 'stop', menus: ['private', 'administrators'] }],
  composer,
})
