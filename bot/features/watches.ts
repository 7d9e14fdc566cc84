import { Composer } from 'grammy'
import { typed } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { deleteWatch, updateWatch } from '#src/operations/watches.ts'
import type { Watch } from '#src/watches/model.ts'
import type { BotContext, Membership } from '../context.ts'
import { cardOf, findWatch, homeScreen, showCard, showList } from '../screens.ts'
import { send, show } from '../show.ts'
import { deleteQuestion } from '../views/watch-card.ts'
import { defineFeature, onPress } from './define.ts'

const composer = new Composer<BotContext>()

composer.command('watches', async (ctx) => {
  if (ctx.links.length === 0) return send(ctx, await homeScreen(ctx))
  const id = /^\d{1,9}$/.exec(ctx.match.trim())?.[0]
  if (id !== undefined && Number(id) > 0) return showCard(ctx, Number(id))
  const notice = ctx.isAnonymous ? { notice: ctx.t.html('bot:group.anonymous') } : {}
  await showList(ctx, { page: 1, ...notice })
})

onPress(composer, 'none', (ctx) => ctx.answer())
onPress(composer, 'watch.list', (ctx, { page }) => showList(ctx, { page }))
onPress(composer, 'watch.card', (ctx, { id }) => showCard(ctx, id))
onPress(composer, 'watch.pause', (ctx, { id }) => setStatus(ctx, id, 'paused'))
onPress(composer, 'watch.resume', (ctx, { id }) => setStatus(ctx, id, 'active'))

onPress(composer, 'watch.delete', (ctx, { id }) =>
  withManaged(ctx, id, async (watch) => {
    await show(ctx, deleteQuestion(ctx.reader, watch))
  }),
)

onPress(composer, 'watch.deleteYes', async (ctx, { id }) => {
  try {
    await withManaged(ctx, id, async (watch, link) => {
      await ctx.call(deleteWatch, { params: { id: String(id) } }, link)
      await showDeleted(ctx, watch.label)
    })
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
    const label = labelInQuestion(ctx)
    if (label !== undefined) await showDeleted(ctx, label)
  }
})

async function showDeleted(ctx: BotContext, label: string): Promise<void> {
  const done = ctx.t.html('bot:delete.done', { label: typed(label) })
  await showList(ctx, { page: 1, notice: `✓ ${done}` })
}

/**
 * The name in the question whose button was pressed, for a second press that finds nothing left to
 * delete; undefined when the message has gone on to something else.
 */
function labelInQuestion({ callbackQuery: query }: BotContext): string | undefined {
  const { text, entities, reply_markup: markup } = query?.message ?? {}
  const buttons = markup?.inline_keyboard.flat() ?? []
  const isAsked = buttons.some((one) => 'callback_data' in one && one.callback_data === query?.data)
  const bold = entities?.find(({ type }) => type === 'bold')
  if (!isAsked || bold === undefined) return undefined
  return text?.slice(bold.offset, bold.offset + bold.length).replace(ISOLATES, '')
}

/** What stands around a typed name in a text. */
const ISOLATES = /^\u2068|\u2069$/g

async function setStatus(ctx: BotContext, id: number, status: 'active' | 'paused'): Promise<void> {
  await withManaged(ctx, id, async (_watch, link) => {
    const params = { id: String(id) }
    const watch = await ctx.call(updateWatch, { params, body: { status } }, link)
    const key = status === 'paused' ? 'bot:watch.nowPaused' : 'bot:watch.nowActive'
    await show(ctx, cardOf(ctx, watch, link, `✓ ${ctx.t.html(key)}`))
  })
}

/**
 * Does something about a watch as its wallet; who did not link that wallet to the group is told so.
 *
 * @throws AppError not_found
 */
async function withManaged(
  ctx: BotContext,
  id: number,
  act: (watch: Watch, link: Membership) => Promise<void>,
): Promise<void> {
  const { watch, link } = await findWatch(ctx, id)
  if (link.manages) return act(watch, link)
  await ctx.answer(ctx.t('bot:group.linkersOnly'), { box: true })
}

export const watchesFeature = defineFeature({
  commands: [{ name: 'watches', menus: ['private', 'group', 'administrators'] }],
  composer,
})
