/** Settings of a linked group, for its administrators. */
import { Composer } from 'grammy'
import { forumTopicOf } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { sendHome } from '../start/home.ts'
import { groupSettings } from './view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'group.settings', async (ctx) => {
  const { chat, knownChat, links, reader } = ctx
  const [link, ...others] = links
  if (link === undefined || !reader.isGroup) return sendHome(ctx)
  const topic = { current: link.threadId, here: forumTopicOf(ctx) }
  const view = groupSettings(reader, {
    title: knownChat.title,
    topic: chat?.is_forum === true ? topic : undefined,
    chosen: others.length === 0 ? undefined : link.wallet,
  })
  await show(ctx, view)
})

export const groupFeature = defineFeature({ commands: [], composer })
