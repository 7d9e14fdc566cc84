/** Choice of the watches that notify a recipient: asked when it is added, and changed later. */
import { Composer } from 'grammy'
import { AppError } from '#src/kernel/errors.ts'
import { changeDestination, listDestinations } from '#src/operations/chat-destinations.ts'
import { updateWatch } from '#src/operations/watches.ts'
import type { Watch } from '#src/watches/model.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import { allWatches } from '../../views/screens.ts'
import { type Hearing, hearingScreen, hearsOf, namedAfter, pageOf } from './hearing-view.ts'
import { type FoundRecipient, findRecipient, showRecipient } from './recipients.ts'

const composer = new Composer<BotContext>()

onPress(composer, 'rec.hear', (ctx, { id, page }) => showHearing(ctx, id, { page }))

onPress(composer, 'rec.hearAll', async (ctx, { id }) => {
  const hearing = await hearingOf(ctx, await findRecipient(ctx, id))
  await setDefault(ctx, hearing, true)
  await setAll(ctx, hearing, () => true)
  await showHearing(ctx, id)
})

onPress(composer, 'rec.hearSome', async (ctx, { id }) => {
  const hearing = await hearingOf(ctx, await findRecipient(ctx, id))
  if (hearing.destination.default) await setDefault(ctx, hearing, false)
  await showHearing(ctx, id)
})

onPress(composer, 'rec.hearType', async (ctx, { id, type }) => {
  const hearing = await hearingOf(ctx, await findRecipient(ctx, id))
  await setAll(ctx, hearing, (watch) => watch.type === type)
  await showHearing(ctx, id)
})

onPress(composer, 'rec.hearFlip', async (ctx, { id, watch: watchId }) => {
  const hearing = await hearingOf(ctx, await findRecipient(ctx, id))
  const at = hearing.watches.findIndex((watch) => watch.id === watchId)
  const watch = hearing.watches[at]
  if (watch === undefined) throw new AppError('not_found', 'not_found')
  const isAdded = !hearsOf(hearing, watch)
  await setOne(ctx, hearing, watch, isAdded)
  const isLast = !isAdded && namedAfter(hearing, watch, false) === null
  const notice = isLast ? { notice: `⚠️ ${ctx.t.html('bot:people.last')}` } : {}
  await showHearing(ctx, id, { page: pageOf(at), ...notice })
})

/**
 * Asks which watches notify a recipient. A chat that may change nothing sees its card.
 * @param notice HTML
 */
export async function showHearing(
  ctx: BotContext,
  id: number,
  options: { readonly page?: number; readonly notice?: string } = {},
): Promise<void> {
  const found = await findRecipient(ctx, id)
  if (!found.link.caller.scopes.includes('write')) return showRecipient(ctx, id, options.notice)
  const hearing = await hearingOf(ctx, found)
  await show(ctx, hearingScreen(ctx.reader, hearing, { page: 1, ...options }))
}

interface FoundHearing extends Hearing {
  readonly watches: readonly Watch[]
  readonly link: FoundRecipient['link']
}

async function hearingOf(ctx: BotContext, found: FoundRecipient): Promise<FoundHearing> {
  const { destination, link, hereId } = found
  const [watches, destinations] = await Promise.all([
    allWatches(ctx, link),
    ctx.call(listDestinations, {}, link),
  ])
  return { destination, link, hereId, watches, destinations }
}

async function setDefault(ctx: BotContext, hearing: FoundHearing, isOn: boolean): Promise<void> {
  const { destination, link } = hearing
  const body = { id: destination.id, changes: { default: isOn } }
  await ctx.call(changeDestination, { body }, link)
}

/** Adds the recipient to the wanted watches that do not notify it. */
async function setAll(
  ctx: BotContext,
  hearing: FoundHearing,
  isWanted: (watch: Watch) => boolean,
): Promise<void> {
  const { destination } = await findRecipient(ctx, hearing.destination.id)
  const now = { ...hearing, destination }
  for (const watch of hearing.watches.filter(isWanted)) {
    if (!hearsOf(now, watch)) await setOne(ctx, now, watch, true)
  }
}

/** A watch that changed meanwhile is not overwritten: the screen then shows it as it is. */
async function setOne(
  ctx: BotContext,
  hearing: FoundHearing,
  watch: Watch,
  isAdded: boolean,
): Promise<void> {
  const input = {
    params: { id: String(watch.id) },
    body: { recipientIds: namedAfter(hearing, watch, isAdded) },
    ifMatch: updateWatch.etag?.(watch),
  }
  try {
    await ctx.call(updateWatch, input, hearing.link)
  } catch (error) {
    const isOvertaken = error instanceof AppError && ['stale', 'not_found'].includes(error.kind)
    if (!isOvertaken) throw error
  }
}

export const recipientHearingFeature = defineFeature({ commands: [], composer })
