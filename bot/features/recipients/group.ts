/** Sets up a group from the private chat, to which the greeting of the group links. */
import { Composer } from 'grammy'
import type { ChatMember } from 'grammy/types'
import { packed } from '#src/actions/codec.ts'
import { translator } from '#src/i18n/translate.ts'
import { createGroupLink, peekTelegramLink } from '#src/operations/chat/chat.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { isRefused } from '#src/telegram/errors.ts'
import type { GroupPlace } from '#src/telegram/links.ts'
import { post } from '#src/telegram/send.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { contentOf, removeMessage, show } from '../../core/show.ts'
import { findChat, type KnownChat } from '../../core/store.ts'
import { WARNING } from '../../views/refusals.ts'
import { screen } from '../../views/view.ts'
import { showConnect } from '../connect/handlers.ts'
import { linkCard } from '../start/link-view.ts'
import { askChatRights, showChatLink } from './add.ts'
import { followChatLink } from './follow.ts'
import { backToList, GROUP_RIGHTS, type GroupRights, groupAsked, groupRights } from './list-view.ts'

const composer = new Composer<BotContext>()

onPress(
  composer,
  'rec.group',
  { privately: 'menu', unlinked: true },
  (ctx, { chat, topic, rights }) =>
    setUpGroup(
      ctx,
      { chatId: chat, threadId: topic },
      GROUP_RIGHTS.find((choice) => choice === rights),
    ),
)

/**
 * Asks for the rights of a group, and then for the consent of an administrator in the group. A chat without a wallet
 * connects one first.
 *
 * @param rights what the group may do; undefined asks for that
 */
export async function setUpGroup(
  ctx: BotContext,
  place: GroupPlace,
  rights?: GroupRights,
): Promise<void> {
  const { app, links, reader } = ctx
  const data = (choice?: GroupRights) =>
    packed('rec.group', { chat: place.chatId, topic: place.threadId, rights: choice })
  if (links.length === 0) return showConnect(ctx, { goesOn: data() })
  const group = await findChat(app.db, place.chatId)
  // A group that became a supergroup has another id.
  if (group === undefined) return askChatRights(ctx)
  if (!(await isAdministratorOf(ctx, group.id))) {
    const refused = `${WARNING} ${reader.t.html('bot:rec.groupAdmins')}`
    await show(ctx, screen([refused], [[backToList(reader.t)]]))
    return
  }
  if (rights === undefined) await show(ctx, groupRights(reader, group.title, data))
  else await askInGroup(ctx, { group, topic: place.threadId, rights })
}

async function isAdministratorOf(ctx: BotContext, chatId: number): Promise<boolean> {
  const member = await memberOf(ctx, chatId)
  return member?.status === 'creator' || member?.status === 'administrator'
}

/** What the person is in a group or channel; undefined if Telegram does not tell. */
export async function memberOf(
  { api, from }: BotContext,
  chatId: number,
): Promise<ChatMember | undefined> {
  if (from === undefined) return undefined
  try {
    return await api.getChatMember(chatId, from.id)
  } catch (error) {
    if (isRefused(error, 400, 403)) return undefined
    throw error
  }
}

/** Shows the card of a new link in the group, and in the private chat what is left to do. */
async function askInGroup(
  ctx: BotContext,
  asked: {
    readonly group: KnownChat
    readonly topic: number | undefined
    readonly rights: GroupRights
  },
): Promise<void> {
  const { group, rights } = asked
  const [membership] = ctx.links
  if (membership === undefined) return
  const scopes = rights === 'rec' ? ['read'] : ['read', 'write']
  const body = { scopes, membersAcknowledge: rights === 'all' }
  const link = await ctx.call(createGroupLink, { body })
  if (!(await postCard(ctx, asked, new URL(link.groupUrl).searchParams.get('startgroup') ?? ''))) {
    return showChatLink(ctx, link)
  }
  const now = ctx.app.clock.now()
  const messageId = await show(ctx, groupAsked(ctx.reader, { ...link, title: group.title }, now))
  await followChatLink(ctx, { messageId, expiresAt: link.expiresAt })
}

/** @returns false if the bot may not write in the group */
async function postCard(
  ctx: BotContext,
  { group, topic }: { readonly group: KnownChat; readonly topic: number | undefined },
  code: string,
): Promise<boolean> {
  const { api, app } = ctx
  const offer = await ctx.call(peekTelegramLink, { body: { code, chat: { id: group.id } } })
  const reader = { ...ctx.reader, t: translator(group.locale), isGroup: true }
  try {
    const { is_forum: isForum } = await api.getChat(group.id)
    const inGroup = isForum === true ? (topic === undefined ? 'forum' : 'topic') : 'group'
    const asked = { title: group.title, username: undefined, place: inGroup } as const
    const content = contentOf(linkCard(reader, offer, asked, code), group.locale)
    await post(api, { chatId: group.id, topic, content: () => content })
  } catch (error) {
    if (!isRefused(error, 400, 403)) throw error
    return false
  }
  const greeting = group.currentMessages.navigation
  const isGreeting = greeting !== null && (await listChatLinks(app, group.id)).length === 0
  if (isGreeting) await removeMessage(ctx, greeting, group.id)
  return true
}

export const groupSetupFeature = defineFeature({ commands: [], composer })
