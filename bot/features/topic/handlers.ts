import { Composer } from 'grammy'
import type { ForumTopic } from 'grammy/types'
import { withoutIsolates } from '#src/i18n/isolates.ts'
import { updateChat } from '#src/operations/chat/chat.ts'
import { isRefused } from '#src/telegram/errors.ts'
import { forumTopicOf } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { send, show } from '../../core/show.ts'
import { refusalScreen } from '../../views/refusals.ts'
import { comeBack } from '../start/returning.ts'
import { topicChoice } from './view.ts'

const composer = new Composer<BotContext>()

composer.command('here', async (ctx) => {
  const { reader, t, links } = ctx
  if (!reader.isGroup || links.length === 0) return
  const key = ctx.isAnonymous ? 'bot:group.anonymous' : 'bot:group.linkersOnly'
  if (!links.some(({ manages }) => manages)) {
    await send(ctx, refusalScreen(reader, t(key), { buttons: false }))
    return
  }
  if (ctx.chat.is_forum !== true) {
    await send(ctx, { html: t.html('bot:topic.none'), rows: [] })
    return
  }
  await comeBack(ctx)
  await setTopic(ctx, forumTopicOf(ctx) ?? null)
  await send(ctx, { html: t.html('bot:topic.now'), rows: [] })
})

onPress(composer, 'group.topic', async (ctx, { choice }) => {
  if (ctx.chat?.is_forum !== true) return ctx.answer(ctx.t('bot:topic.none'), { box: true })
  switch (choice) {
    // The general topic.
    case 'gen':
      return setAndShow(ctx, null)
    // The topic in which the button was pressed.
    case 'her':
      return setAndShow(ctx, forumTopicOf(ctx) ?? null)
    // A new topic, which the bot creates.
    case 'new': {
      const made = await makeTopic(ctx)
      if (made !== undefined) await setAndShow(ctx, made.message_thread_id, made.name)
      return
    }
    default:
      return showChoice(ctx)
  }
})

async function setTopic(ctx: BotContext, threadId: number | null): Promise<void> {
  await ctx.call(updateChat, { body: { chatId: ctx.knownChat.id, threadId } })
  await identifyAgain(ctx)
}

/**
 * Sets the topic and shows the result.
 * @param made name of a newly created topic
 */
async function setAndShow(ctx: BotContext, threadId: number | null, made?: string): Promise<void> {
  await setTopic(ctx, threadId)
  await showChoice(ctx, { isNew: true, made })
}

async function showChoice(
  ctx: BotContext,
  what: { readonly isNew: boolean; readonly made?: string | undefined } = { isNew: false },
): Promise<void> {
  const place = { current: ctx.links[0]?.threadId ?? null, here: forumTopicOf(ctx) }
  await show(ctx, topicChoice(ctx.reader, { ...place, ...what }))
}

/**
 * Creates a topic for the alerts. If Telegram refuses that, the person is notified.
 *
 * @returns undefined then
 */
async function makeTopic(ctx: BotContext): Promise<ForumTopic | undefined> {
  try {
    return await ctx.createForumTopic(withoutIsolates(ctx.t('bot:topic.name')))
  } catch (error) {
    if (!isRefused(error, 400, 403)) throw error
    await ctx.answer(ctx.t('bot:topic.noRights'), { box: true })
    return undefined
  }
}

export const topicFeature = defineFeature({ commands: [], composer })
