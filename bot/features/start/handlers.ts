import { Composer } from 'grammy'
import { AppError } from '#src/kernel/errors.ts'
import {
  claimTelegramLink,
  LinkCode,
  peekTelegramLink,
  refuseTelegramLink,
} from '#src/operations/chat/chat.ts'
import {
  RENEWALS_START,
  readGroupStart,
  readRenewalStart,
  readWatchStart,
} from '#src/telegram/links.ts'
import { anonymousNotice, blockedLinks, isReceiveOnly, leaveGreeting } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { ask, send, show } from '../../core/show.ts'
import { changeChat } from '../../core/store.ts'
import { allWatches } from '../../core/watches.ts'
import { showAlert } from '../alerts/alert-lookup.ts'
import { openWatch, showConnect } from '../connect/handlers.ts'
import { helpMenu } from '../help/view.ts'
import { openWizard } from '../new/handlers.ts'
import { askChatRights } from '../recipients/add.ts'
import { notifyLinked } from '../recipients/follow.ts'
import { setUpGroup } from '../recipients/group.ts'
import { openRecipient } from '../recipients/handlers.ts'
import { showWatchSelection } from '../recipients/watch-selection.ts'
import { showRenewal, showSlots, showSubscriptions } from '../slots/handlers.ts'
import { openTopup } from '../topup/handlers.ts'
import { showCard } from '../watches/screens.ts'
import { homeScreen, sendHome } from './home.ts'
import { linkCard, linkInvalidScreen, linkRefusedScreen, rightsText } from './link-view.ts'
import { askRetained, comeBack, returningScreen } from './returning.ts'

/** Presses that every administrator of a group may make, whoever linked the wallet. */
const ADMINISTRATORS = { members: 'administrators', unlinked: true } as const

const composer = new Composer<BotContext>()

composer.command('start', async (ctx) => {
  const payload = ctx.match.trim()
  if (LinkCode.safeParse(payload).success) return offerLink(ctx, payload)
  if (payload === 'connect') return showConnect(ctx)
  // A person who writes has unblocked the bot, whatever was recorded; in groups anybody may write.
  const blocked = ctx.reader.isGroup ? [] : blockedLinks(ctx)
  if (blocked.length > 0) await comeBack(ctx)
  const isPlain = payload === '' || payload === 'menu'
  if (blocked.length > 0 && !isPlain) await askRetained(ctx, blocked, ctx.t.html('bot:home.again'))
  const watchId = /^w(\d{1,9})$/.exec(payload)?.[1]
  const isLinked = ctx.links.length > 0
  if (watchId !== undefined && isLinked) return showCard(ctx, Number(watchId))
  const alertId = /^a(\d{1,9})$/.exec(payload)?.[1]
  if (alertId !== undefined && isLinked) return showAlert(ctx, Number(alertId))
  const [, about, recipientId] = /^([rh])(\d{1,9})$/.exec(payload) ?? []
  const isPrivate = !ctx.reader.isGroup
  if (recipientId !== undefined && isPrivate) {
    const id = Number(recipientId)
    return about === 'h' && isLinked ? showWatchSelection(ctx, id) : openRecipient(ctx, id)
  }
  if (payload === 'group' && isPrivate) {
    return isLinked ? askChatRights(ctx) : showConnect(ctx)
  }
  const group = readGroupStart(payload)
  if (group !== undefined && isPrivate) return setUpGroup(ctx, group)
  const type = /^new(?:-([a-z-]{1,20}))?$/.exec(payload)
  if (type !== null && isLinked && !ctx.reader.isGroup) return openWizard(ctx, type[1] ?? '')
  const watch = readWatchStart(payload)
  if (watch !== undefined && isPrivate) return openWatch(ctx, watch.type, watch.address)
  if (payload === 'topup' && isLinked && isPrivate) return openTopup(ctx)
  if (payload === 'slots' && isLinked && isPrivate) return showSlots(ctx)
  if (payload === RENEWALS_START && isLinked && isPrivate) return showSubscriptions(ctx)
  const renewed = readRenewalStart(payload)
  if (renewed !== undefined && isLinked && isPrivate) return showRenewal(ctx, renewed)
  if (payload === 'help' && isPrivate) {
    await send(
      ctx,
      helpMenu(ctx.reader, {
        isReceiveOnly: isReceiveOnly(ctx),
        pages: ctx.app.publicUrl,
        support: ctx.app.supportUrl,
      }),
    )
    return
  }
  if (blocked.length > 0) await send(ctx, await returningScreen(ctx))
  else {
    const notice = isPlain || isLinked ? anonymousNotice(ctx) : ctx.t.html('bot:start.needsLink')
    await sendHome(ctx, notice)
  }
  const asked = ctx.links.filter(({ status, manages }) => status === 'active' && manages)
  if (isPlain) await askRetained(ctx, asked)
})

onCommand(composer, 'menu', async (ctx) => {
  await sendHome(ctx, anonymousNotice(ctx))
})

onPress(composer, 'home', { unlinked: true }, async (ctx) => show(ctx, await homeScreen(ctx)))

onPress(composer, 'link.yes', ADMINISTRATORS, async (ctx, { code }) => {
  const { knownChat } = ctx
  const { msg, from } = ctx
  if (from === undefined) return
  const threadId = msg?.is_topic_message === true ? msg.message_thread_id : undefined
  const chat = {
    id: knownChat.id,
    title: knownChat.title,
    ...(threadId !== undefined && { threadId }),
  }
  const body = { code, chat, by: { id: from.id }, locale: knownChat.locale }
  const linked = await whileValid(ctx, () => ctx.call(claimTelegramLink, { body }))
  if (linked === undefined) return
  await changeChat(ctx.app.db, knownChat.id, { wallet: linked.wallet }, ctx.app.clock.now())
  await identifyAgain(ctx, { wallet: linked.wallet })
  const rights = rightsText(ctx.reader, linked.scopes)
  const key = linked.again ? 'bot:link.again' : 'bot:link.done'
  const notice = `✅ ${ctx.t.html(key, { rights })}`
  const { recipient } = linked
  const mayChoose = linked.scopes.includes('write') && !ctx.reader.isGroup
  if (mayChoose && (await allWatches(ctx)).length > 0) {
    await showWatchSelection(ctx, recipient.id, { notice })
    return notifyLinked(ctx, linked.wallet)
  }
  await show(ctx, await homeScreen(ctx, notice))
  await notifyLinked(ctx, linked.wallet)
})

onPress(composer, 'link.no', ADMINISTRATORS, async (ctx, { code }) => {
  await ctx.call(refuseTelegramLink, { body: { code, chat: { id: ctx.knownChat.id } } })
  await show(ctx, linkRefusedScreen(ctx.reader, { isLinked: ctx.links.length > 0 }))
})

/** Shows the wallet of a link code, whose alerts this chat would get. */
async function offerLink(ctx: BotContext, code: string): Promise<void> {
  const { msg, chat, knownChat } = ctx
  const body = { code, chat: { id: knownChat.id } }
  const offer = await whileValid(ctx, () => ctx.call(peekTelegramLink, { body }))
  if (offer === undefined) return
  const isTopic = msg?.is_topic_message === true
  const inGroup = chat?.is_forum === true ? (isTopic ? 'topic' : 'forum') : 'group'
  const asked = {
    title: knownChat.title,
    username: chat?.type === 'private' ? chat.username : undefined,
    place: knownChat.kind === 'private' ? 'private' : inGroup,
  } as const
  await leaveGreeting(ctx)
  await ask(ctx, linkCard(ctx.reader, offer, asked, code))
}

/**
 * Runs a step with a link code. If the code is used, expired or unknown, tells the person and returns
 * undefined.
 */
async function whileValid<T>(ctx: BotContext, step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'link_not_valid') throw error
    await show(ctx, linkInvalidScreen(ctx.reader, { isLinked: ctx.links.length > 0 }))
    return undefined
  }
}

export const startFeature = defineFeature({
  commands: [{ name: 'menu', menus: ['private', 'administrators'] }],
  composer,
})
