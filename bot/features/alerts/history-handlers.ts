import { Composer, InputFile } from 'grammy'
import type { AlertFilter } from '#src/actions/verbs.ts'
import type { BoundedCount } from '#src/alerts/history/parts.ts'
import { formatTime } from '#src/i18n/format.ts'
import { AppError } from '#src/kernel/errors.ts'
import {
  countAlertLines,
  countOlderAlerts,
  deleteOlderAlerts,
  listAlertLines,
} from '#src/operations/chat/alerts.ts'
import { listDestinations } from '#src/operations/chat/destinations.ts'
import { deleteAlert, exportAlerts } from '#src/operations/rest/alerts.ts'
import { hasButtons } from '../../core/chat.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { nextAllowedAt } from '../../core/error-sentences.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { allWatches, findWatch } from '../../core/watches.ts'
import { USUAL_FILTER } from '../../views/alert-list.ts'
import { destinationName } from '../../views/destination.ts'
import { deepLink, type Reader } from '../../views/view.ts'
import { sortWatches } from '../../views/watch-state.ts'
import { type FoundAlert, getAlertOfChat, showAlert } from './alert-lookup.ts'
import { deleteAlertQuestion, deliveriesCard } from './card-view.ts'
import {
  alertFilterScreen,
  alertsDeletionView,
  filterInput,
  filterStart,
  numberAsked,
} from './filter-view.ts'
import { ALERTS_PAGE, alertList } from './list-view.ts'
import { ALERT_CARDS } from './live.ts'

const composer = new Composer<BotContext>()

onCommand(composer, 'alerts', async (ctx, text) => {
  const id = /^#?(\d{1,9})$/.exec(text)?.[1]
  if (id !== undefined && Number(id) > 0) return showAlert(ctx, Number(id))
  const notice = ctx.isAnonymous ? { notice: ctx.t.html('bot:group.anonymous') } : {}
  await showList(ctx, USUAL_FILTER, notice)
})

onPress(composer, 'alert.list', (ctx, { filter, cursor }) => showList(ctx, filter, { cursor }))
onPress(composer, 'alert.card', (ctx, { id }) => showAlert(ctx, id))

/** The wallet of a filter: the chat's first wallet, unless the filter names a watch of another wallet. */
async function chosen(
  ctx: BotContext,
  { watchId }: AlertFilter,
): Promise<{ readonly link: Membership | undefined; readonly watch: string | undefined }> {
  if (watchId === undefined) return { link: ctx.links[0], watch: undefined }
  try {
    const { watch, link } = await findWatch(ctx, watchId)
    return { link, watch: watch.label }
  } catch (error) {
    // The watch was deleted; the history of its alerts still exists.
    if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
    return { link: ctx.links[0], watch: `#${watchId}` }
  }
}

async function showList(
  ctx: BotContext,
  filter: AlertFilter,
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
    canWrite: link?.manages === true && link.caller.scopes.includes('write'),
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

onPress(composer, 'alert.filter', async (ctx, { filter }) => {
  const { link, watch } = await chosen(ctx, filter)
  const [counted, watches] = await Promise.all([
    ctx.call(countAlertLines, { body: filterInput(ctx.reader, filter) }, link),
    allWatches(ctx, link),
  ])
  const watchIds = sortWatches(watches, ctx.app.clock.now()).map(({ id }) => id)
  await show(ctx, alertFilterScreen(ctx.reader, filter, { watch, watchIds, counted }))
})

onPress(composer, 'alert.clear', (ctx, { filter }) => askToClear(ctx, filter))

async function askToClear(ctx: BotContext, filter: AlertFilter): Promise<void> {
  const { link, watch } = await chosen(ctx, filter)
  if (link?.manages !== true) return refuse(ctx)
  const counted = await ctx.call(countOlderAlerts, { body: filterInput(ctx.reader, filter) }, link)
  if (isNone(counted)) {
    const notice = ctx.t.html(`bot:alerts.nothingOlder.${filter.time}`)
    return showList(ctx, filter, { notice })
  }
  await show(ctx, alertsDeletionView(ctx.reader, filter, { watch, counted }))
}

function isNone({ count, isAll }: BoundedCount): boolean {
  return count === 0 && isAll
}

onPress(composer, 'alert.clearYes', async (ctx, { filter, index: expected }) => {
  const { link } = await chosen(ctx, filter)
  if (link?.manages !== true) return refuse(ctx)
  const body = filterInput(ctx.reader, filter)
  const counted = await ctx.call(countOlderAlerts, { body }, link)
  // The number of alerts changed since the question was shown.
  if (!isNone(counted) && numberAsked(counted) !== expected) return askToClear(ctx, filter)
  const { deleted } = isNone(counted)
    ? { deleted: 0 }
    : await ctx.call(deleteOlderAlerts, { body }, link)
  const count = counted.isAll ? counted.count : deleted
  const notice = `✓ ${ctx.t.html('bot:alerts.cleared', { count })}`
  await showList(ctx, filter, { notice })
})

onPress(composer, 'alert.delete', (ctx, { id }) =>
  withManaged(ctx, id, ({ card }) => show(ctx, deleteAlertQuestion(ctx.reader, card))),
)

onPress(composer, 'alert.deleteYes', (ctx, { id }) =>
  withManaged(ctx, id, async ({ card, link }) => {
    await ctx.call(deleteAlert, { params: { id: String(id) } }, link)
    const { title } = card.alert.rendered
    const notice = `✓ ${ctx.t.html('bot:alerts.deleted', { title })}`
    await showList(ctx, USUAL_FILTER, { notice })
  }),
)

async function withManaged(
  ctx: BotContext,
  id: number,
  run: (found: FoundAlert) => Promise<unknown>,
): Promise<void> {
  const found = await getAlertOfChat(ctx, id)
  if (found.link.manages) await run(found)
  else await refuse(ctx)
}

function refuse(ctx: BotContext): Promise<void> {
  return ctx.answer(ctx.t('bot:group.linkersOnly'), { box: true })
}

onPress(composer, 'alert.deliveries', async (ctx, { id }) => {
  // In a group recipients are not listed.
  if (ctx.reader.isGroup) return ctx.answer(undefined, { url: deepLink(ctx.reader, `a${id}`) })
  const { card, link } = await getAlertOfChat(ctx, id)
  const { recipientId: hereId, caller } = link
  const all = await ctx.call(listDestinations, {}, link)
  const names = new Map(
    all.map((destination) => [destination.id, destinationName(ctx.t, destination, hereId)]),
  )
  const rights = { scopes: caller.scopes, hereId }
  await show(ctx, deliveriesCard(ctx.reader, card, names, { now: ctx.app.clock.now(), rights }))
})

/** Maximum size of a file that is sent to a chat. */
const FILE_BYTES_MAX = 20_000_000

onPress(composer, 'alert.csv', { privately: 'menu' }, async (ctx, { filter }) => {
  const { t, app, reader, knownChat, msg } = ctx
  const { link } = await chosen(ctx, filter)
  if (link === undefined) return
  const now = app.clock.now()
  const file = await exported(ctx, link, exportQuery(reader, filter, now))
  if (file instanceof Date) {
    const time = formatTime(file, t.locale, reader.timezone, { offset: true })
    return ctx.answer(t('bot:toast.exports', { time }), { box: true })
  }
  if (file === undefined) return ctx.answer(t('bot:toast.exportTooLarge'), { box: true })
  const name = `alerts-${now.toISOString().slice(0, 10)}.csv`
  await ctx.api.sendDocument(knownChat.id, new InputFile(file, name), {
    ...(msg?.is_topic_message === true &&
      msg.message_thread_id !== undefined && { message_thread_id: msg.message_thread_id }),
  })
})

/**
 * The history as a file; undefined when it is too large, and the time of the next allowed export when the
 * rate limit is exceeded.
 */
async function exported(ctx: BotContext, link: Membership, query: object) {
  try {
    const limitKey = `chats of ${link.wallet}`
    return await fileOf(await ctx.call(exportAlerts, { query, limitKey }, link))
  } catch (error) {
    const nextAt = nextAllowedAt(ctx, error)
    if (nextAt === undefined) throw error
    return nextAt
  }
}

function exportQuery(reader: Reader, filter: AlertFilter, now: Date) {
  const { hours: _, isGroup: _private, watchId, ...wanted } = filterInput(reader, filter)
  const from = filterStart(filter, now)?.toISOString()
  return {
    ...wanted,
    ...(watchId !== undefined && { watchId: String(watchId) }),
    ...(from !== undefined && { from }),
  }
}

/** Joins the pieces into one file; undefined beyond the maximum size. */
async function fileOf(pieces: AsyncIterable<string>): Promise<Buffer | undefined> {
  const kept: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece)
    size += bytes.length
    if (size > FILE_BYTES_MAX) return undefined
    kept.push(bytes)
  }
  return Buffer.concat(kept)
}

export const alertsFeature = defineFeature({
  commands: [{ name: 'alerts', menus: ['private', 'group', 'administrators'] }],
  composer,
  live: ALERT_CARDS,
})
