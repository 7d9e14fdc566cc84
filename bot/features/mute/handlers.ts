import { Composer } from 'grammy'
import type { MuteDuration } from '#src/actions/codec.ts'
import { formatTime } from '#src/i18n/format.ts'
import { typed } from '#src/i18n/translate.ts'
import { DAY_SECONDS, MINUTE_MS } from '#src/kernel/durations.ts'
import { listMutedAlerts, muteIncident } from '#src/operations/chat/alerts.ts'
import { muteAll } from '#src/operations/chat/chat.ts'
import { hasButtons } from '../../core/chat.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { identifyAgain } from '../../core/middleware/identify.ts'
import { isDelivered, show } from '../../core/show.ts'
import { readDuration } from '../../core/typed-input.ts'
import { allWatches, findWatch } from '../../core/watches.ts'
import { nearTime } from '../../views/time.ts'
import { isMuted } from '../../views/watch-state.ts'
import { getAlertOfChat } from '../alerts/alert-lookup.ts'
import { muteEnd } from '../watches/handlers.ts'
import { changeWatch } from '../watches/managed-watch.ts'
import { muteScreen } from './view.ts'

const composer = new Composer<BotContext>()

onCommand(composer, 'mute', async (ctx, text) => {
  if (ctx.isAnonymous) return showMuted(ctx, ctx.t.html('bot:group.anonymous'))
  if (text === '' || !hasButtons(ctx)) return showMuted(ctx)
  const until = untilOf(ctx, text)
  if (until === undefined) return showMuted(ctx, `⚠️ ${ctx.t.html('bot:muted.notUnderstood')}`)
  await muteAndShow(ctx, until)
})

/** End of a typed duration, at most a day; undefined if it is malformed. */
function untilOf(ctx: BotContext, text: string): Date | undefined {
  const bounds = { min: MINUTE_MS / 1000, max: DAY_SECONDS }
  const read = readDuration(text, bounds, ctx.t.locale)
  if (!read.ok) return undefined
  return new Date(ctx.app.clock.now().getTime() + read.value * 1000)
}

onPress(composer, 'mute.list', (ctx) => showMuted(ctx))

onPress(composer, 'mute.all', async (ctx, { duration }) => {
  const until = chatEnd(ctx, duration)
  // The button belongs to an alert or notice: the press gets an answer, and the message stays as it is.
  if (!(await isDelivered(ctx))) return muteAndShow(ctx, until)
  await setMute(ctx, until)
  const { t, reader } = ctx
  const options = { offset: reader.timezone === 'UTC' }
  await ctx.answer(
    until === undefined
      ? t('bot:toast.chatHeard')
      : t('bot:toast.chatQuiet', {
          until: formatTime(until, t.locale, reader.timezone, options),
        }),
    { box: until !== undefined },
  )
})

/** End of a mute of the chat, at most a day from now. */
function chatEnd(ctx: BotContext, duration: MuteDuration): Date | undefined {
  const now = ctx.app.clock.now()
  const end = muteEnd(duration, ctx.reader.timezone, now)
  const latest = new Date(now.getTime() + DAY_SECONDS * 1000)
  return end !== undefined && end > latest ? latest : end
}

async function setMute(ctx: BotContext, until: Date | undefined): Promise<void> {
  const now = ctx.app.clock.now().getTime()
  const minutes = until === undefined ? 0 : Math.ceil((until.getTime() - now) / MINUTE_MS)
  await ctx.call(muteAll, { body: { chatId: ctx.knownChat.id, minutes } })
  await identifyAgain(ctx)
}

async function muteAndShow(ctx: BotContext, until: Date | undefined): Promise<void> {
  const { t, reader, app } = ctx
  await setMute(ctx, until)
  const done =
    until === undefined
      ? t.html('bot:muted.nowHeard')
      : t.html('bot:muted.nowQuiet', { until: nearTime(reader, until, app.clock.now()) })
  await showMuted(ctx, `✓ ${done}`)
}

onPress(composer, 'mute.off', async (ctx, { kind, id }) => {
  const { t } = ctx
  if (kind === 'w') {
    const { watch, link } = await findWatch(ctx, id)
    if (!link.manages) return ctx.answer(t('bot:group.linkersOnly'), { box: true })
    const notice = `✓ ${t.html('bot:muted.heard', { label: typed(watch.label) })}`
    return changeWatch(ctx, { watch, link }, { mutedUntil: null }, () => showMuted(ctx, notice))
  }
  const { card, link } = await getAlertOfChat(ctx, id)
  if (!link.manages) return ctx.answer(t('bot:group.linkersOnly'), { box: true })
  await ctx.call(muteIncident, { body: { id, muted: false } }, link)
  const label = typed(card.alert.watchLabel)
  await showMuted(ctx, `✓ ${t.html('bot:muted.heard', { label })}`)
})

/** Maximum number of muted alerts that are read. */
const ALERTS_MAX = 10

/**
 * Shows the screen of mutes.
 * @param notice line about the last action: HTML
 */
export async function showMuted(ctx: BotContext, notice?: string): Promise<void> {
  const { app, t, reader, links } = ctx
  const now = app.clock.now()
  const [link] = links
  const [watches, alerts] = await Promise.all([
    allWatches(ctx),
    ctx.call(listMutedAlerts, {
      body: {
        limit: ALERTS_MAX,
        reader: { locale: t.locale, timezone: reader.timezone, isGroup: reader.isGroup },
      },
    }),
  ])
  const ends = links.flatMap(({ mutedUntil }) =>
    mutedUntil !== null && mutedUntil > now ? [mutedUntil] : [],
  )
  const view = muteScreen(
    reader,
    { chatUntil: ends[0], watches: watches.filter((watch) => isMuted(watch, now)), alerts },
    {
      now,
      buttons: hasButtons(ctx),
      canWrite: link?.manages === true && link.caller.scopes.includes('write'),
      ...(notice !== undefined && { notice }),
    },
  )
  await show(ctx, view)
}

export const muteFeature = defineFeature({
  commands: [{ name: 'mute', menus: ['private', 'administrators'] }],
  composer,
})
