import { Composer } from 'grammy'
import type { ChatMember } from 'grammy/types'
import { blockChat, moveChat } from '#src/recipients/chats.ts'
import { blockedLinks, silencedLinks } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature } from '../../core/feature.ts'
import { moveKnownChat } from '../../core/store.ts'
import { sendHome } from '../start/home.ts'
import { askRetained, comeBack, greetReturned } from '../start/returning.ts'

const composer = new Composer<BotContext>()

/**
 * Handles changes of what the bot may do: started or blocked in a private chat, added to or removed from a group,
 * allowed or forbidden to write there.
 */
composer.on('my_chat_member', async (ctx) => {
  const member = ctx.myChatMember.new_chat_member
  const before = accessOf(ctx.myChatMember.old_chat_member)
  const after = accessOf(member)
  const { app, knownChat, reader } = ctx
  // An administrator may write even where the permissions of all members forbid it.
  if (before === 'writes' && member.status === 'administrator') return resumeSilenced(ctx)
  if (before === after) return
  const now = app.clock.now()
  if (after === 'out') return blockChat(app, knownChat.id, now)
  if (after === 'silent') return blockChat(app, knownChat.id, now, 'no_rights')
  if (before === 'silent') return resumeSilenced(ctx)
  const blocked = blockedLinks(ctx)
  // The person who added the bot may lack the right to configure the alerts.
  if (reader.isGroup) {
    if (blocked.length > 0 || ctx.links.length === 0) await sendHome(ctx)
    return
  }
  await comeBack(ctx)
  if (blocked.length === 0) return askWhatIsOwed(ctx)
  await greetReturned(ctx, blocked)
})

/** Handles a group that opens a topic again, so that the bot may write there. */
composer.on('message:forum_topic_reopened', async (ctx) => {
  const silenced = silencedLinks(ctx)
  if (silenced.length === 0) return
  if (silenced.every(({ statusReason }) => statusReason === 'topic_closed')) {
    await resumeSilenced(ctx)
  }
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

/**
 * Switches the alerts of a group on again that lets the bot write again. Nobody has to agree, because the group kept
 * the bot. A group that had removed the bot before it let the bot write is asked.
 */
async function resumeSilenced(ctx: BotContext): Promise<void> {
  const blocked = blockedLinks(ctx)
  const silenced = silencedLinks(ctx)
  if (blocked.length > silenced.length) return sendHome(ctx)
  if (silenced.length === 0) return askWhatIsOwed(ctx)
  await comeBack(ctx)
  await greetReturned(ctx, silenced)
}

/** If the process died after the chat was switched on, the repeated update finds it on, without the question. */
async function askWhatIsOwed(ctx: BotContext): Promise<void> {
  await askRetained(ctx, ctx.links, ctx.t.html('bot:home.again'))
}

/** What the bot may do in a chat. */
function accessOf(member: ChatMember): 'out' | 'silent' | 'writes' {
  if (member.status === 'left' || member.status === 'kicked') return 'out'
  if (member.status !== 'restricted') return 'writes'
  if (!member.is_member) return 'out'
  return member.can_send_messages ? 'writes' : 'silent'
}

export const membershipFeature = defineFeature({ commands: [], composer })
