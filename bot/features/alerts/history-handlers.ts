import { Composer } from 'grammy'
import type { AlertFilter } from '#src/actions/verbs.ts'
import { AppError } from '#src/kernel/errors.ts'
import { listAlertLines } from '#src/operations/chat/alerts.ts'
import { hasButtons } from '../../core/chat.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { findWatch } from '../../core/watches.ts'
import { USUAL_FILTER } from '../../views/alert-list.ts'
import { showAlert } from './alert-lookup.ts'
import { ALERTS_PAGE, alertList, type ChosenWatch, filterInput } from './list-view.ts'
import { ALERT_CARDS } from './live.ts'

const composer = new Composer<BotContext>()

onCommand(composer, 'alerts', async (ctx, text) => {
  const number = /^#?(\d{1,9})$/.exec(text)?.[1]
  if (number !== undefined && Number(number) > 0) return showIncident(ctx, Number(number))
  const notice = ctx.isAnonymous ? { notice: ctx.t.html('bot:group.anonymous') } : {}
  await showAlerts(ctx, USUAL_FILTER, notice)
})

onPress(composer, 'alert.list', (ctx, { filter, cursor }) => showAlerts(ctx, filter, { cursor }))
onPress(composer, 'alert.card', (ctx, { id }) => showAlert(ctx, id))

/**
 * Shows an incident by the number that messages and lists name. Each wallet counts its own: of a chat with several
 * wallets all that have the number are listed.
 *
 * @throws AppError not_found
 */
async function showIncident(ctx: BotContext, incidentId: number): Promise<void> {
  const { t, reader } = ctx
  const linesOf = async (isGroup: boolean) => {
    const wanted = { incidentId, isGroup }
    const body = { wanted, limit: 1, reader: { locale: t.locale, timezone: reader.timezone } }
    const pages = await Promise.all(
      ctx.links.map((link) => ctx.call(listAlertLines, { body }, link)),
    )
    return pages.flatMap(({ data }) => data)
  }
  const visible = await linesOf(reader.isGroup)
  // What a group must not see is opened all the same: the answer then says where it can be read.
  const lines = visible.length > 0 ? visible : await linesOf(false)
  const [first, ...others] = lines
  if (first === undefined) throw new AppError('not_found', 'not_found')
  if (others.length === 0) return await showAlert(ctx, first.id)
  const page = { lines, nextCursor: null, searchedTo: null, isOlder: false }
  const filter = { ...USUAL_FILTER, time: 'all' } as const
  const options = { now: ctx.app.clock.now(), watch: undefined, buttons: hasButtons(ctx) }
  await show(ctx, alertList(reader, page, filter, options))
}

/** The wallet of a filter, and its watch: the chat's first wallet, unless the filter names a watch of another wallet. */
async function chosen(
  ctx: BotContext,
  { watchId }: AlertFilter,
): Promise<{ readonly link: Membership | undefined; readonly watch: ChosenWatch | undefined }> {
  if (watchId === undefined) return { link: ctx.links[0], watch: undefined }
  try {
    const { watch, link } = await findWatch(ctx, watchId)
    return { link, watch: { id: watchId, label: watch.label, isGone: false } }
  } catch (error) {
    // The watch was deleted; the history of its alerts still exists.
    if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
    return { link: ctx.links[0], watch: { id: watchId, label: `#${watchId}`, isGone: true } }
  }
}

/** Shows a list of alerts. */
export async function showAlerts(
  ctx: BotContext,
  filter: AlertFilter = USUAL_FILTER,
  options: { readonly cursor?: string | undefined; readonly notice?: string } = {},
): Promise<void> {
  const { notice } = options
  const { link, watch } = await chosen(ctx, filter)
  const { page, cursor } = await pageOf(ctx, filter, link, options.cursor)
  const shown = {
    ...{ lines: page.data, nextCursor: page.nextCursor, searchedTo: page.searchedTo },
    isOlder: cursor !== undefined,
  }
  const view = alertList(ctx.reader, shown, filter, {
    now: ctx.app.clock.now(),
    watch,
    buttons: hasButtons(ctx),
    ...(notice !== undefined && { notice }),
  })
  await show(ctx, view)
}

/** A page of the list; the first page if the cursor is of another list. */
async function pageOf(
  ctx: BotContext,
  filter: AlertFilter,
  link: Membership | undefined,
  cursor: string | undefined,
) {
  const { t, reader } = ctx
  const body = {
    wanted: filterInput(ctx.reader, filter),
    limit: ALERTS_PAGE,
    reader: { locale: t.locale, timezone: reader.timezone },
  }
  try {
    const place = cursor === undefined ? {} : { cursor }
    return { page: await ctx.call(listAlertLines, { body: { ...body, ...place } }, link), cursor }
  } catch (error) {
    if (cursor === undefined || !(error instanceof AppError) || error.kind !== 'invalid')
      throw error
    return { page: await ctx.call(listAlertLines, { body }, link), cursor: undefined }
  }
}

export const alertsFeature = defineFeature({
  commands: [{ name: 'alerts', menus: ['private', 'group', 'administrators'] }],
  composer,
  live: ALERT_CARDS,
})
