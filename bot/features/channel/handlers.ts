/** Channels of Telegram: the bot is made their administrator, and a person with a wallet links them in the private chat. */
import { Composer, type Middleware } from 'grammy'
import type { ChatMember, ChatMemberUpdated } from 'grammy/types'
import { typed } from '#src/i18n/translate.ts'
import { linkChannel } from '#src/operations/chat/chat.ts'
import type { App } from '#src/operations/define.ts'
import { blockChat, listChatLinks, unblockChat } from '#src/recipients/chats.ts'
import { isSilencedReason } from '#src/recipients/model.ts'
import { isRefused } from '#src/telegram/errors.ts'
import { post } from '#src/telegram/send.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { privateState } from '../../core/middleware/identify.ts'
import { contentOf, show } from '../../core/show.ts'
import { findChat, upsertChat } from '../../core/store.ts'
import { WARNING } from '../../views/refusals.ts'
import { menuButton, screen } from '../../views/view.ts'
import { notifyLinked } from '../recipients/follow.ts'
import { memberOf } from '../recipients/group.ts'
import { showWatchSelection } from '../recipients/watch-selection.ts'
import { channelOffer } from './view.ts'

/**
 * Handles what happens to the bot in channels. Nobody manages anything there: everybody may press below a post, so posts
 * have links only, and a press with forged data ends here.
 */
export function channelUpdates(app: App): Middleware<BotContext> {
  return async (ctx, next) => {
    if (ctx.chat?.type !== 'channel') return next()
    const { myChatMember } = ctx
    if (myChatMember !== undefined) return changeAccess(app, ctx, myChatMember)
    if (ctx.callbackQuery !== undefined) await ctx.answer()
  }
}

async function changeAccess(app: App, ctx: BotContext, change: ChatMemberUpdated): Promise<void> {
  const { id } = change.chat
  const now = app.clock.now()
  const access = accessOf(change.new_chat_member)
  if (access === 'out') return blockChat(app, id, now)
  if (access === 'silent') return blockChat(app, id, now, 'no_rights')
  const links = await listChatLinks(app, id)
  const silenced = links.filter(({ statusReason }) => isSilencedReason(statusReason))
  // A channel that kept the bot need not agree again; one that had removed it is asked.
  if (silenced.length > 0) return unblockChat(app.db, id, now)
  if (links.some(({ status }) => status === 'active')) return
  await offer(app, ctx, change)
}

/** What the bot, or a person, may do in a channel. */
function accessOf(member: ChatMember): 'out' | 'silent' | 'writes' {
  if (member.status === 'left' || member.status === 'kicked') return 'out'
  if (member.status === 'creator') return 'writes'
  return member.status === 'administrator' && member.can_post_messages === true
    ? 'writes'
    : 'silent'
}

/** Asks the person who made the bot an administrator, if the person's private chat manages a wallet. */
async function offer(app: App, ctx: BotContext, { chat, from }: ChatMemberUpdated): Promise<void> {
  const known = await findChat(app.db, from.id)
  if (known === undefined) return
  const { reader, links } = await privateState(app, known, ctx.me.username)
  const link = links.find(({ scopes }) => scopes.includes('write'))
  if (link === undefined) return
  const title = chat.title ?? ''
  const { locale } = known
  await upsertChat(app.db, { id: chat.id, kind: 'channel', title, locale }, app.clock.now())
  const view = channelOffer(reader, { chatId: chat.id, title, wallet: link.wallet })
  try {
    await post(ctx.api, { chatId: from.id, content: () => contentOf(view, locale) })
  } catch (error) {
    // The person has stopped the bot since.
    if (!isRefused(error, 400, 403)) throw error
  }
}

const composer = new Composer<BotContext>()

onPress(composer, 'rec.channel', { privately: 'menu' }, async (ctx, { chat: chatId }) => {
  const { app, from, knownChat, t } = ctx
  const link = ctx.links.find(({ scopes }) => scopes.includes('write'))
  const channel = await findChat(app.db, chatId)
  const member = channel?.kind === 'channel' ? await memberOf(ctx, chatId) : undefined
  // The alerts are posts with words of the person, such as the names of watches.
  const isAllowed = member !== undefined && accessOf(member) === 'writes'
  if (!isAllowed || from === undefined || channel === undefined || link === undefined) {
    const refused = `${WARNING} ${t.html('bot:channelLink.admins')}`
    await show(ctx, screen([refused], [[menuButton(t)]]))
    return
  }
  const chat = { id: chatId, title: channel.title }
  const body = { chat, by: { id: from.id }, locale: knownChat.locale }
  const { recipient, wallet } = await ctx.call(linkChannel, { body }, link)
  const notice = `✅ ${t.html('bot:channelLink.done', { name: typed(channel.title) })}`
  await showWatchSelection(ctx, recipient.id, { notice })
  await notifyLinked(ctx, wallet)
})

export const channelFeature = defineFeature({ commands: [], composer })
