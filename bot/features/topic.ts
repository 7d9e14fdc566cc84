import { Composer, GrammyError } from 'grammy'
import { withoutIsolates } from '#src/i18n/isolates.ts'
import { updateChat } from '#src/operations/chat.ts'
import type { BotContext } from '../context.ts'
import { identifyAgain } from '../middleware/identify.ts'
import { comeBack } from '../returning.ts'
import { topicOf } from '../screens.ts'
import { send, show } from '../show.ts'
import { refusal } from '../views/notices.ts'
import { topicChoice } from '../views/topic.ts'
import { defineFeature, onPress } from './define.ts'

const composer = new Composer<BotContext>()

composer.command('here', async (ctx) => {
  const { reader, t, links } = ctx
  if (!reader.isGroup || links.length === 0) return
  const key = ctx.isAnonymous ? 'bot:group.anonymous' : 'bot:group.linkersOnly'
  if (!links.some(({ manages }) => manages)) {
    await send(ctx, refusal(reader, t(key), { buttons: false }))
    return
  }
  await comeBack(ctx)
  await setTopic(ctx, topicOf(ctx) ?? null)
  await send(ctx, { html: t.html('bot:topic.now'), rows: [] })
})

onPress(composer, 'group.topic', async (ctx, { choice }) => {
  if (ctx.chat?.is_forum !== true) return ctx.answer(ctx.t('bot:topic.none'), { box: true })
  switch (choice) {
    case 'gen':
      return setAndShow(ctx, null)
    case 'her':
      return setAndShow(ctx, topicOf(ctx) ?? null)
    case 'new': {
      const made = await makeTopic(ctx)
      if (made !== undefined) await setAndShow(ctx, made)
      return
    }
    default:
      return showChoice(ctx)
  }
})

async function setTopic(ctx: BotContext, threadId: number | null): Promise<void> {
  await ctx.call(updateChat, { body: { chatId: ctx.known.id, threadId } })
  await identifyAgain(ctx)
}

async function setAndShow(ctx: BotContext, threadId: number | null): Promise<void> {
  await setTopic(ctx, threadId)
  await showChoice(ctx, `✓ ${ctx.t.html('bot:topic.set')}`)
}

async function showChoice(ctx: BotContext, notice?: string): Promise<void> {
  const options = { current: ctx.links[0]?.threadId ?? null, here: topicOf(ctx) }
  const line = notice === undefined ? {} : { notice }
  await show(ctx, topicChoice(ctx.reader, { ...options, ...line }))
}

/** Opens a topic for the alerts; undefined where the bot may not, which is said. */
async function makeTopic(ctx: BotContext): Promise<number | undefined> {
  try {
    const topic = await ctx.createForumTopic(withoutIsolates(ctx.t('bot:topic.name')))
    return topic.message_thread_id
  } catch (error) {
    if (!(error instanceof GrammyError) || ![400, 403].includes(error.error_code)) throw error
    await ctx.answer(ctx.t('bot:topic.noRights'), { box: true })
    return undefined
  }
}

export const topicFeature = defineFeature({ commands: [], composer })
