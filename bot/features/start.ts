import { Composer } from 'grammy'
import { AppError } from '#src/kernel/errors.ts'
import {
  claimTelegramLink,
  LinkCode,
  peekTelegramLink,
  refuseTelegramLink,
} from '#src/operations/chat.ts'
import { unblockChat } from '#src/recipients/chats.ts'
import type { BotContext } from '../context.ts'
import { identifyAgain } from '../middleware/identify.ts'
import { homeScreen, showCard } from '../screens.ts'
import { ask, send, show } from '../show.ts'
import { changeChat } from '../store.ts'
import { linkCard, linkOver, linkRefused, rightsText } from '../views/link-card.ts'
import { defineFeature, onPress } from './define.ts'

const composer = new Composer<BotContext>()

composer.command('start', async (ctx) => {
  const payload = ctx.match.trim()
  if (LinkCode.safeParse(payload).success) return offerLink(ctx, payload)
  // Who writes does not block us any more, whatever was heard before.
  if (ctx.links.some(({ status }) => status === 'blocked')) {
    await unblockChat(ctx.app.db, ctx.known.id, ctx.app.clock.now())
  }
  const watchId = /^w(\d{1,9})$/.exec(payload)?.[1]
  if (watchId !== undefined && ctx.links.length > 0) return showCard(ctx, Number(watchId))
  const notice = watchId === undefined ? undefined : ctx.t.html('bot:start.needsLink')
  await send(ctx, await homeScreen(ctx, notice))
})

onPress(composer, 'home', async (ctx) => show(ctx, await homeScreen(ctx)))

onPress(composer, 'link.yes', async (ctx, { code }) => {
  const { known } = ctx
  const { msg, from } = ctx
  if (from === undefined) return
  const threadId = msg?.is_topic_message === true ? msg.message_thread_id : undefined
  const chat = { id: known.id, title: known.title, ...(threadId !== undefined && { threadId }) }
  const body = { code, chat, by: { id: from.id }, locale: known.locale }
  const linked = await whileValid(ctx, () => ctx.call(claimTelegramLink, { body }))
  if (linked === undefined) return
  await changeChat(ctx.app.db, known.id, { wallet: linked.wallet }, ctx.app.clock.now())
  await identifyAgain(ctx)
  const rights = rightsText(ctx.t, linked.scopes)
  const key = linked.again ? 'bot:link.again' : 'bot:link.done'
  await show(ctx, await homeScreen(ctx, `✅ ${ctx.t.html(key, { rights })}`))
})

onPress(composer, 'link.no', async (ctx, { code }) => {
  await ctx.call(refuseTelegramLink, { body: { code } })
  await show(ctx, linkRefused(ctx.reader, { isLinked: ctx.links.length > 0 }))
})

/** Shows whose alerts a code would bring here. */
async function offerLink(ctx: BotContext, code: string): Promise<void> {
  const offer = await whileValid(ctx, () => ctx.call(peekTelegramLink, { body: { code } }))
  if (offer === undefined) return
  const { msg, chat, known } = ctx
  const isTopic = msg?.is_topic_message === true
  const inGroup = chat?.is_forum === true ? (isTopic ? 'topic' : 'forum') : 'group'
  const asked = {
    title: known.title,
    username: chat?.type === 'private' ? chat.username : undefined,
    place: known.kind === 'private' ? 'private' : inGroup,
  } as const
  await ask(ctx, linkCard(ctx.reader, offer, asked, code))
}

/** Runs a step with a link code. One that is used, over or unknown is told so; then undefined. */
async function whileValid<T>(ctx: BotContext, step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'link_not_valid') throw error
    await show(ctx, linkOver(ctx.reader, { isLinked: ctx.links.length > 0 }))
    return undefined
  }
}

export const startFeature = defineFeature({ commands: [], composer })
