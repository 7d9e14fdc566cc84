import { Composer } from 'grammy'
import { z } from 'zod'
import { packed } from '#src/actions/codec.ts'
import { id as bare, typed } from '#src/i18n/translate.ts'
import { modernZone } from '#src/i18n/zones.ts'
import { localeName } from '#src/kernel/locale.ts'
import {
  changeDestination,
  listDestinations,
  removeDestination,
} from '#src/operations/chat/destinations.ts'
import type { RecipientChanges } from '#src/recipients/model.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { defineQuestion } from '../../core/session.ts'
import { show } from '../../core/show.ts'
import { allWatches } from '../../core/watches.ts'
import { destinationName } from '../../views/destination.ts'
import { cut } from '../../views/fields.ts'
import { inRows } from '../../views/view.ts'
import { zoneButton, zonesFor } from '../../views/zones.ts'
import { showConnect } from '../connect/handlers.ts'
import { showStop } from '../stop/handlers.ts'
import { recipientMore } from './card-view.ts'
import {
  deleteRecipient,
  languageOf,
  nameQuestion,
  SEVERITY_BY_CODE,
  severityChoice,
  zoneOf,
} from './edit-view.ts'
import { recipientList } from './list-view.ts'
import { RECIPIENT_MESSAGES } from './live.ts'
import { findRecipient, isShown, type LinkedDestination, showRecipient } from './recipients.ts'

/** Presses that are refused in groups, with the payload of the link into the private chat. */
const PRIVATE = { privately: 'menu' } as const

const composer = new Composer<BotContext>()

onCommand(composer, 'recipients', (ctx) => showRecipients(ctx), { privately: 'menu' })
onPress(composer, 'rec.list', PRIVATE, (ctx) => showRecipients(ctx))
onPress(composer, 'rec.page', PRIVATE, (ctx, { page }) => showRecipients(ctx, { page }))
onPress(composer, 'rec.card', { ...PRIVATE, unlinked: true }, (ctx, { id }) =>
  openRecipient(ctx, id),
)

onPress(composer, 'rec.more', PRIVATE, async (ctx, { id }) => {
  await show(ctx, recipientMore(ctx.reader, await findRecipient(ctx, id)))
})

/** Shows the card of a recipient. A chat without a wallet connects one first. */
export async function openRecipient(ctx: BotContext, id: number): Promise<void> {
  await (ctx.links.length > 0
    ? showRecipient(ctx, id)
    : showConnect(ctx, { goesOn: packed('rec.card', { id }) }))
}

/** Shows the recipients of the chat's first wallet. */
export async function showRecipients(
  ctx: BotContext,
  options: { readonly page?: number; readonly notice?: string } = {},
): Promise<void> {
  const [link] = ctx.links
  const [destinations, watches] = await Promise.all([ctx.call(listDestinations), allWatches(ctx)])
  const all = destinations.filter(({ id }) => link !== undefined && isShown(link, id))
  const view = recipientList(ctx.reader, all, {
    page: 1,
    ...options,
    now: ctx.app.clock.now(),
    hereId: link?.recipientId,
    watches,
    canWrite: link?.caller.scopes.includes('write') === true,
  })
  await show(ctx, view)
}

/**
 * Changes a destination and shows its card with a line about the change.
 * @param done HTML
 */
async function change(
  ctx: BotContext,
  { destination: { id }, link }: LinkedDestination,
  changes: RecipientChanges,
  done: string,
): Promise<void> {
  await ctx.call(changeDestination, { body: { id, changes } }, link)
  await showRecipient(ctx, id, `✓ ${done}`)
}

onPress(composer, 'rec.sev', PRIVATE, async (ctx, { id, level }) => {
  const recipient = await findRecipient(ctx, id)
  const minSeverity = SEVERITY_BY_CODE[level]
  if (minSeverity === undefined) {
    await show(ctx, severityChoice(ctx.reader, recipient))
    return
  }
  const severity = ctx.t(`bot:severity.${minSeverity}`)
  await change(ctx, recipient, { minSeverity }, ctx.t.html('bot:rec.severity', { severity }))
})

onPress(composer, 'rec.lang', PRIVATE, async (ctx, { id }) => {
  await show(ctx, languageOf(ctx.reader, await findRecipient(ctx, id)))
})

onPress(composer, 'rec.langSet', PRIVATE, async (ctx, { id, locale }) => {
  const done = ctx.t.html('bot:rec.languageSet', { language: localeName(locale) })
  await change(ctx, await findRecipient(ctx, id), { locale }, done)
})

const about = z.object({ id: z.int() })

/** Question for the time zone of a destination. */
const zoneQuestion = defineQuestion({
  kind: 'rec.zone',
  about,
  ask: async (ctx, { id }) => {
    const options = { now: ctx.app.clock.now() }
    return zoneOf(ctx.reader, await findRecipient(ctx, id), options)
  },
  answer: async (ctx, { id }, text) => {
    const [zone, ...others] = zonesFor(text)
    if (zone === undefined) {
      return { html: ctx.t.html('bot:zone.unknown', { input: typed(cut(text)) }) }
    }
    if (others.length === 0) {
      await setZone(ctx, id, zone)
      return undefined
    }
    const now = ctx.app.clock.now()
    const buttons = [zone, ...others].map((zoneName) =>
      zoneButton(ctx.reader, zoneName, now, packed('rec.zoneSet', { id, zone: zoneName })),
    )
    return { html: ctx.t.html('bot:zone.several'), rows: inRows(buttons, 2) }
  },
  cancel: (ctx, { id }) => showRecipient(ctx, id),
})

onPress(composer, 'rec.zone', PRIVATE, (ctx, { id }) => zoneQuestion.open(ctx, { id }))
onPress(composer, 'rec.zoneSet', PRIVATE, (ctx, { id, zone }) => setZone(ctx, id, zone))

async function setZone(ctx: BotContext, id: number, timezone: string): Promise<void> {
  const done = ctx.t.html('bot:rec.zoneSet', { zone: bare(modernZone(timezone)) })
  await change(ctx, await findRecipient(ctx, id), { timezone }, done)
}

/** Question for the name of a destination. */
const renameQuestion = defineQuestion({
  kind: 'rec.name',
  about,
  ask: async (ctx, { id }) => nameQuestion(ctx.reader, await findRecipient(ctx, id)),
  answer: async (ctx, { id }, text) => {
    const done = ctx.t.html('bot:edit.renamed', { label: typed(text) })
    await change(ctx, await findRecipient(ctx, id), { name: text }, done)
    return undefined
  },
  cancel: (ctx, { id }) => showRecipient(ctx, id),
})

onPress(composer, 'rec.ask', PRIVATE, (ctx, { id }) => renameQuestion.open(ctx, { id }))

onPress(composer, 'rec.delete', PRIVATE, async (ctx, { id }) => {
  const recipient = await findRecipient(ctx, id)
  // Removing the chat itself is the screen of leaving, which explains the effects.
  if (id === recipient.hereId) return showStop(ctx)
  const watches = await allWatches(ctx, recipient.link)
  const alone = watches.filter(
    ({ recipientIds }) => recipientIds?.length === 1 && recipientIds[0] === id,
  ).length
  await show(ctx, deleteRecipient(ctx.reader, recipient, { alone }))
})

onPress(composer, 'rec.deleteYes', PRIVATE, async (ctx, { id }) => {
  const { destination, link, hereId } = await findRecipient(ctx, id)
  await ctx.call(removeDestination, { body: { id } }, link)
  const name = typed(destinationName(ctx.t, destination, hereId))
  const notice = `✓ ${ctx.t.html('bot:rec.deleted', { name })}`
  await showRecipients(ctx, { notice })
})

export const recipientsFeature = defineFeature({
  commands: [{ name: 'recipients', menus: ['private'] }],
  composer,
  questions: [zoneQuestion, renameQuestion],
  live: RECIPIENT_MESSAGES,
})
