import { Composer } from 'grammy'
import type { MuteDuration } from '#src/actions/codec.ts'
import { withoutIsolates } from '#src/i18n/isolates.ts'
import { typed } from '#src/i18n/translate.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { deleteWatch } from '#src/operations/rest/watches.ts'
import { digestPeriodAt } from '#src/recipients/timing.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { allWatches } from '../../core/watches.ts'
import { nearTime } from '../../views/time.ts'
import { moreCard, ruleCard } from './card-view.ts'
import { WATCH_CARDS } from './live.ts'
import { changeWatch, withManaged } from './managed-watch.ts'
import { deleteQuestion, muteChoice } from './question-view.ts'
import { showCard, showList, showWatch } from './screens.ts'

const composer = new Composer<BotContext>()

onCommand(composer, 'watches', async (ctx, text) => {
  const id = /^\d{1,9}$/.exec(text)?.[0]
  if (id !== undefined && Number(id) > 0) return showCard(ctx, Number(id))
  const notice = ctx.isAnonymous ? { notice: ctx.t.html('bot:group.anonymous') } : {}
  await showList(ctx, { page: 1, ...notice })
})

onPress(composer, 'none', { members: 'all', unlinked: true }, (ctx) => ctx.answer())
onPress(composer, 'watch.list', (ctx, { page }) => showList(ctx, { page }))
onPress(composer, 'watch.card', (ctx, { id }) => showCard(ctx, id))

onPress(composer, 'watch.pause', (ctx, { id }) => setStatus(ctx, id, 'paused'))
onPress(composer, 'watch.resume', (ctx, { id }) => setStatus(ctx, id, 'active'))

async function setStatus(ctx: BotContext, id: number, status: 'active' | 'paused'): Promise<void> {
  const key = status === 'paused' ? 'bot:watch.nowPaused' : 'bot:watch.nowActive'
  await change(ctx, id, { status }, ctx.t.html(key))
}

/** Changes a watch and shows its card with a line about it. */
async function change(
  ctx: BotContext,
  id: number,
  changes: Readonly<Record<string, unknown>>,
  done: string,
): Promise<void> {
  await withManaged(ctx, id, (before, link) =>
    changeWatch(ctx, { watch: before, link }, changes, async (watch) =>
      showWatch(ctx, watch, link, `✓ ${done}`),
    ),
  )
}

onPress(composer, 'watch.mute', (ctx, { id }) =>
  withManaged(ctx, id, (watch) => show(ctx, muteChoice(ctx.reader, watch))),
)

onPress(composer, 'watch.muteFor', async (ctx, { id, duration }) => {
  const now = ctx.app.clock.now()
  const until = muteEnd(duration, ctx.reader.timezone, now)
  if (until === undefined) return unmute(ctx, id)
  const done = ctx.t.html('bot:watch.nowMuted', { until: nearTime(ctx.reader, until, now) })
  await change(ctx, id, { mutedUntil: until.toISOString() }, done)
})

/** Unmutes a watch and shows its card. */
export async function unmute(ctx: BotContext, id: number): Promise<void> {
  await change(ctx, id, { mutedUntil: null }, ctx.t.html('bot:watch.nowHeard'))
}

/** End of a mute; undefined if the duration is `0` (unmute), or `rec` (until the alert recovers). */
export function muteEnd(duration: MuteDuration, timezone: string, now: Date): Date | undefined {
  const after = (hours: number) => new Date(now.getTime() + hours * HOUR_MS)
  switch (duration) {
    case '1h':
      return after(1)
    case '8h':
      return after(8)
    case '24h':
      return after(24)
    case '7d':
      return after(7 * 24)
    case '8am':
      return digestPeriodAt('daily', '08:00', timezone, now).to
    case 'rec':
    case '0':
      return undefined
    default:
      return duration satisfies never
  }
}

onPress(composer, 'watch.more', (ctx, { id }) =>
  withManaged(ctx, id, (watch) =>
    show(ctx, moreCard(ctx.reader, watch, { now: ctx.app.clock.now() })),
  ),
)

onPress(composer, 'watch.rule', (ctx, { id }) =>
  withManaged(ctx, id, (watch) => show(ctx, ruleCard(ctx.reader, watch))),
)

onPress(composer, 'watch.delete', (ctx, { id }) =>
  withManaged(ctx, id, (watch) => show(ctx, deleteQuestion(ctx.reader, watch))),
)

onPress(composer, 'watch.deleteYes', async (ctx, { id }) => {
  try {
    await withManaged(ctx, id, async (watch, link) => {
      const waiting = (await allWatches(ctx, link)).filter(({ status }) => status === 'suspended')
      await ctx.call(deleteWatch, { params: { id: String(id) } }, link)
      const after = await allWatches(ctx, link)
      const resumed = waiting.find((watch) =>
        after.some((other) => other.id === watch.id && other.status !== 'suspended'),
      )
      await showDeleted(ctx, watch.label, resumed?.label)
    })
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
    const label = labelInQuestion(ctx)
    if (label !== undefined) await showDeleted(ctx, label)
  }
})

/**
 * Shows the screen after a deletion.
 * @param resumed label of a watch that resumed in the slot
 */
async function showDeleted(ctx: BotContext, label: string, resumed?: string): Promise<void> {
  const done =
    resumed === undefined
      ? ctx.t.html('bot:delete.done', { label: typed(label) })
      : ctx.t.html('bot:delete.doneNext', { label: typed(label), next: typed(resumed) })
  await showList(ctx, { page: 1, notice: `✓ ${done}` })
}

/**
 * The watch's name, read from the message of the delete question: after a second press the watch no longer
 * exists. Undefined if the message shows something else.
 */
function labelInQuestion({ callbackQuery: query }: BotContext): string | undefined {
  const { text, entities, reply_markup: markup } = query?.message ?? {}
  const buttons = markup?.inline_keyboard.flat() ?? []
  const hasPressedButton = buttons.some(
    (button) => 'callback_data' in button && button.callback_data === query?.data,
  )
  const bold = entities?.find(({ type }) => type === 'bold')
  if (!hasPressedButton || bold === undefined) return undefined
  return text && withoutIsolates(text.slice(bold.offset, bold.offset + bold.length))
}

export const watchesFeature = defineFeature({
  commands: [{ name: 'watches', menus: ['private', 'group', 'administrators'] }],
  composer,
  live: WATCH_CARDS,
})
