import { Composer } from 'grammy'
import type { ChatMember } from 'grammy/types'
import { blockChat, moveChat } from '#src/recipients/chats.ts'
import { blockedLinks } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature } from '../../core/feature.ts'
import { moveKnownChat } from '../../core/store.ts'
import { sendHome } from '../start/home.ts'
import { comeBack, greetReturned } from '../start/returning.ts'

const composer = new Composer<BotContext>()

/**
 * Handles changes of the bot's membership: started or blocked in a private chat, added to or removed from a
 * group.
 */
composer.on('my_chat_member', async (ctx) => {
  const { old_chat_member: before, new_chat_member: after } = ctx.myChatMember
  const isIn = isInside(after)
  if (isInside(before) === isIn) return
  const now = ctx.app.clock.now()
  if (!isIn) return blockChat(ctx.app, ctx.knownChat.id, now)
  const blocked = blockedLinks(ctx)
  // The person who added the bot may lack the right to configure the alerts.
  if (ctx.reader.isGroup) {
    if (blocked.length > 0 || ctx.links.length === 0) await sendHome(ctx)
    return
  }
  await comeBack(ctx)
  if (blocked.length > 0) await greetReturned(ctx, blocked)
})

/** Handles a group that becomes a supergroup, which Telegram gives another chat id. */
composer.on('message:migrate_to_chat_id', (ctx) =>
  follow(ctx, ctx.knownChat.id, ctx.message.migrate_to_chat_id),
)
composer.on('message:migrate_from_chat_id', (ctx) =>
  follow(ctx, ctx.message.migrate_from_chat_id, ctx.knownChat.id),
)

async function follow({ app }: BotContext, from: number, to: number): Promise<void> {
  await moveChat(app, { from, to })
  await moveKnownChat(app.db, from, to, app.clock.now())
}

function isInside(member: ChatMember): boolean {
  return member.status !== 'left' && member.status !== 'kicked'
}

export const membershipFeature = defineFeature({ commands: [], composer })
