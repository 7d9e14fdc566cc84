/** Settings of a linked group, for its administrators. */
import { Composer } from 'grammy'
import { updateGroup } from '#src/operations/chat/chat.ts'
import { changeDestination } from '#src/operations/chat/destinations.ts'
import { forumTopicOf } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { show } from '../../core/show.ts'
import { deepLink } from '../../views/view.ts'
import { SEVERITY_BY_CODE } from '../recipients/edit-view.ts'
import { sendHome } from '../start/home.ts'
import { groupHearing, groupSettings } from './view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'group.settings', (ctx) => showSettings(ctx))

onPress(composer, 'group.members', async (ctx, { on: membersAcknowledge }) => {
  const body = { chatId: ctx.knownChat.id, membersAcknowledge }
  // The screen speaks of the group: of all its wallets that the person manages.
  for (const link of ctx.links.filter(({ manages }) => manages)) {
    await ctx.call(updateGroup, { body }, link)
  }
  await identifyAgain(ctx)
  await showSettings(ctx)
})

onPress(composer, 'group.hear', async (ctx, { level }) => {
  const [link] = ctx.links
  if (link === undefined || !ctx.reader.isGroup) return sendHome(ctx)
  const id = link.recipientId
  const minSeverity = SEVERITY_BY_CODE[level]
  if (minSeverity !== undefined) {
    await ctx.call(changeDestination, { body: { id, changes: { minSeverity } } }, link)
  }
  const url = deepLink(ctx.reader, `h${id}`)
  await show(ctx, groupHearing(ctx.reader, minSeverity ?? link.minSeverity, url))
})

async function showSettings(ctx: BotContext): Promise<void> {
  const { chat, knownChat, links, reader } = ctx
  const [link, ...others] = links
  if (link === undefined || !reader.isGroup) return sendHome(ctx)
  const topic = { current: link.threadId, here: forumTopicOf(ctx) }
  const view = groupSettings(reader, {
    title: knownChat.title,
    topic: chat?.is_forum === true ? topic : undefined,
    chosen: others.length === 0 ? undefined : link.wallet,
    membersAcknowledge: membersMay(links),
  })
  await show(ctx, view)
}

/** Whether members may acknowledge alerts of every wallet that the group may manage; undefined if there is none. */
function membersMay(links: BotContext['links']): boolean | undefined {
  const managed = links.filter(({ scopes }) => scopes.includes('write'))
  return managed.length === 0
    ? undefined
    : managed.every(({ membersAcknowledge }) => membersAcknowledge)
}

export const groupFeature = defineFeature({ commands: [], composer })
