/**
 * Choice of the watches that notify a recipient, which is asked when the recipient is added and can be
 * changed later.
 */
import { Composer } from 'grammy'
import { AppError } from '#src/kernel/errors.ts'
import { changeDestination, listDestinations } from '#src/operations/chat/destinations.ts'
import { updateWatch } from '#src/operations/rest/watches.ts'
import type { Watch } from '#src/watches/model.ts'
import type { BotContext, ChatState } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { allWatches } from '../../core/watches.ts'
import type { View } from '../../views/view.ts'
import { findRecipient, type LinkedDestination, recipientView } from './recipients.ts'
import {
  isNotifiedOf,
  namedAfter,
  pageOf,
  type RecipientWatches,
  watchSelectionScreen,
} from './watch-selection-view.ts'

/** Presses that are refused in groups, with the payload of the link into the private chat. */
const PRIVATE = { privately: 'menu' } as const

const composer = new Composer<BotContext>()

onPress(composer, 'rec.hear', PRIVATE, (ctx, { id, page }) => showWatchSelection(ctx, id, { page }))

onPress(composer, 'rec.hearAll', PRIVATE, async (ctx, { id }) => {
  const selection = await watchSelectionOf(ctx, await findRecipient(ctx, id))
  await setDefault(ctx, selection, true)
  await setAll(ctx, selection, () => true)
  await showWatchSelection(ctx, id)
})

onPress(composer, 'rec.hearSome', PRIVATE, async (ctx, { id }) => {
  const selection = await watchSelectionOf(ctx, await findRecipient(ctx, id))
  if (selection.destination.default) await setDefault(ctx, selection, false)
  await showWatchSelection(ctx, id)
})

onPress(composer, 'rec.hearType', PRIVATE, async (ctx, { id, type }) => {
  const selection = await watchSelectionOf(ctx, await findRecipient(ctx, id))
  await setAll(ctx, selection, (watch) => watch.type === type)
  await showWatchSelection(ctx, id)
})

onPress(composer, 'rec.hearFlip', PRIVATE, async (ctx, { id, watch: watchId }) => {
  const selection = await watchSelectionOf(ctx, await findRecipient(ctx, id))
  const at = selection.watches.findIndex((watch) => watch.id === watchId)
  const watch = selection.watches[at]
  if (watch === undefined) throw new AppError('not_found', 'not_found')
  const isAdded = !isNotifiedOf(selection, watch)
  await setOne(ctx, selection, watch, isAdded)
  const isLast = !isAdded && namedAfter(selection, watch, false) === null
  const notice = isLast ? { notice: `⚠️ ${ctx.t.html('bot:people.last')}` } : {}
  await showWatchSelection(ctx, id, { page: pageOf(at), ...notice })
})

interface WatchSelectionOptions {
  readonly page?: number
  /** Line about the last action: HTML. */
  readonly notice?: string
}

/** Asks which watches notify a recipient. A chat that may change nothing sees the recipient's card. */
export async function showWatchSelection(
  ctx: BotContext,
  id: number,
  options: WatchSelectionOptions = {},
): Promise<void> {
  await show(ctx, await watchSelectionView(ctx, id, options))
}

/**
 * The question which watches notify a recipient, or the recipient's card for a chat that may change
 * nothing.
 */
export async function watchSelectionView(
  ctx: ChatState,
  id: number,
  options: WatchSelectionOptions = {},
): Promise<View> {
  const found = await findRecipient(ctx, id)
  if (!found.link.caller.scopes.includes('write')) return recipientView(ctx, id, options.notice)
  const selection = await watchSelectionOf(ctx, found)
  return watchSelectionScreen(ctx.reader, selection, { page: 1, ...options })
}

interface FoundWatchSelection extends RecipientWatches {
  readonly watches: readonly Watch[]
  readonly link: LinkedDestination['link']
}

async function watchSelectionOf(
  ctx: ChatState,
  found: LinkedDestination,
): Promise<FoundWatchSelection> {
  const { destination, link, hereId } = found
  const [watches, destinations] = await Promise.all([
    allWatches(ctx, link),
    ctx.call(listDestinations, {}, link),
  ])
  return { destination, link, hereId, watches, destinations }
}

async function setDefault(
  ctx: BotContext,
  selection: FoundWatchSelection,
  isOn: boolean,
): Promise<void> {
  const { destination, link } = selection
  const body = { id: destination.id, changes: { default: isOn } }
  await ctx.call(changeDestination, { body }, link)
}

/** Adds the recipient to the wanted watches that do not notify it. */
async function setAll(
  ctx: BotContext,
  selection: FoundWatchSelection,
  isWanted: (watch: Watch) => boolean,
): Promise<void> {
  const { destination } = await findRecipient(ctx, selection.destination.id)
  const now = { ...selection, destination }
  for (const watch of selection.watches.filter(isWanted)) {
    if (!isNotifiedOf(now, watch)) await setOne(ctx, now, watch, true)
  }
}

/**
 * Adds the recipient to a watch or removes it. A watch that changed meanwhile is not overwritten; the
 * screen then shows its current state.
 */
async function setOne(
  ctx: BotContext,
  selection: FoundWatchSelection,
  watch: Watch,
  isAdded: boolean,
): Promise<void> {
  const input = {
    params: { id: String(watch.id) },
    body: { recipientIds: namedAfter(selection, watch, isAdded) },
    ifMatch: updateWatch.etag?.(watch),
  }
  try {
    await ctx.call(updateWatch, input, selection.link)
  } catch (error) {
    const isOvertaken = error instanceof AppError && ['stale', 'not_found'].includes(error.kind)
    if (!isOvertaken) throw error
  }
}

export const watchSelectionFeature = defineFeature({ commands: [], composer })
