import { isSilencedReason } from '#src/recipients/model.ts'
import { onlyInPrivateChat } from '../views/refusals.ts'
import { deepLink } from '../views/view.ts'
import type { BotContext, Membership } from './context.ts'
import { leave, send } from './show.ts'

/** Whether screens have buttons for this person: in private always, in groups for managers. */
export function hasButtons({ reader, links }: BotContext): boolean {
  return !reader.isGroup || links.some(({ manages }) => manages)
}

/** Line about missing buttons for an anonymous administrator: HTML. */
export function anonymousNotice({ isAnonymous, links, t }: BotContext): string | undefined {
  return isAnonymous && links.length > 0 ? t.html('bot:group.anonymous') : undefined
}

/** Links whose alerts are interrupted because the chat blocked or removed the bot, or does not let it write. */
export function blockedLinks({ links }: BotContext): readonly Membership[] {
  return links.filter(({ status }) => status === 'blocked')
}

/** Links whose alerts are interrupted because the group has the bot and does not let it write. */
export function silencedLinks(ctx: BotContext): readonly Membership[] {
  return blockedLinks(ctx).filter(({ statusReason }) => isSilencedReason(statusReason))
}

/** The topic of the update; undefined in General, and where there are no topics. */
export function forumTopicOf({ msg }: BotContext): number | undefined {
  return msg?.is_topic_message === true ? msg.message_thread_id : undefined
}

/**
 * Answers with a link from a group to the private chat.
 * @param payload of the deep link
 */
export async function linkToPrivateChat(ctx: BotContext, payload: string): Promise<void> {
  const url = deepLink(ctx.reader, payload)
  if (ctx.callbackQuery !== undefined) return ctx.answer(undefined, { url })
  await send(ctx, onlyInPrivateChat(ctx.reader, url))
}

/** Whether the chat is linked, and no link may change watches. */
export function isReceiveOnly({ links }: Pick<BotContext, 'links'>): boolean {
  return links.length > 0 && links.every(({ scopes }) => !scopes.includes('write'))
}

/**
 * Deletes the greeting of a group that is not linked, before another message replaces it. It is the only screen of
 * such a group.
 */
export async function leaveGreeting(ctx: BotContext): Promise<void> {
  const { reader, links, knownChat } = ctx
  const greeting =
    reader.isGroup && links.length === 0 ? knownChat.currentMessages.navigation : null
  if (greeting !== null) await leave(ctx, greeting)
}

/** The chat of a greeting, and the topic in which it is greeted. */
export function unlinkedChat(ctx: BotContext) {
  const { id, title } = ctx.knownChat
  return { title, chatId: id, threadId: forumTopicOf(ctx) }
}
