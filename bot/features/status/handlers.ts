import { Composer } from 'grammy'
import { isRefused } from '#src/telegram/errors.ts'
import { anonymousNotice, hasButtons } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { followSubject } from '../../core/live-messages.ts'
import { deleteLive, findLive } from '../../core/live-store.ts'
import { send, show } from '../../core/show.ts'
import { homeScreen } from '../start/home.ts'
import { OVERVIEW_POLL_MS, PINNED_OVERVIEW } from './live.ts'
import { OVERVIEW_KIND, readOverview } from './overview.ts'
import { type Overview, overviewKey, statusScreen } from './view.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'status', showStatus)

/** Shows the overview. If it replaces a pinned overview, a job goes on updating the message. */
export async function showStatus(ctx: BotContext): Promise<void> {
  await drawOverview(ctx, await isPinned(ctx))
}

async function isPinned(ctx: BotContext): Promise<boolean> {
  const messageId = ctx.callbackQuery?.message?.message_id
  if (messageId === undefined) return false
  const live = await findLive(ctx.app.db, { chatId: ctx.knownChat.id, messageId })
  return live?.kind === OVERVIEW_KIND
}

/**
 * Shows the overview.
 * @param pinned whether the message is pinned, and a job updates it from now on
 */
async function drawOverview(ctx: BotContext, pinned: boolean): Promise<void> {
  const { app, reader, links } = ctx
  const [link] = links
  if (link === undefined) {
    await send(ctx, await homeScreen(ctx))
    return
  }
  const now = app.clock.now()
  const of = { ...link, isGroup: reader.isGroup }
  const overview = await readOverview((operation, input) => ctx.call(operation, input), of)
  const options = {
    now,
    buttons: hasButtons(ctx),
    isPinned: pinned,
    notice: anonymousNotice(ctx),
  }
  const messageId = await show(ctx, statusScreen(reader, overview, options), 'status')
  if (pinned) await follow(ctx, messageId, overview)
}

async function follow(
  { app, knownChat }: BotContext,
  messageId: number,
  overview: Overview,
): Promise<void> {
  const message = { chatId: knownChat.id, messageId }
  await followSubject(app, message, {
    kind: OVERVIEW_KIND,
    wallet: overview.wallet,
    shown: overviewKey(overview, app.clock.now()),
    checkAfterMs: OVERVIEW_POLL_MS,
    expiresAt: null,
  })
}

onPress(composer, 'status.pin', async (ctx, { on }) => {
  const messageId = ctx.callbackQuery?.message?.message_id
  if (messageId === undefined) return
  const chatId = ctx.knownChat.id
  const isDone = await allowed(() =>
    on
      ? ctx.api.pinChatMessage(chatId, messageId, { disable_notification: true })
      : ctx.api.unpinChatMessage(chatId, messageId),
  )
  if (!isDone) return ctx.answer(ctx.t('bot:overview.noRight'))
  if (!on) await deleteLive(ctx.app.db, { chatId, messageId })
  await ctx.answer(ctx.t(on ? 'bot:overview.pinned' : 'bot:overview.unpinned'))
  await drawOverview(ctx, on)
})

/** Pins or unpins a message by the given call. @returns false when Telegram refuses it */
async function allowed(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    if (isRefused(error, 400)) return false
    throw error
  }
}

export const statusFeature = defineFeature({ commands: [], composer, live: PINNED_OVERVIEW })
