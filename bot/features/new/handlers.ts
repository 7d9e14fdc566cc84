import { Composer } from 'grammy'
import { z } from 'zod'
import type { ArgumentsOf, Verb } from '#src/actions/codec.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import { createWatch, getWatch } from '#src/operations/rest/watches.ts'
import { getWatchType } from '#src/watches/types/index.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { defineQuestion, type Refusal } from '../../core/session.ts'
import { show } from '../../core/show.ts'
import { isOn } from '../../views/destination.ts'
import { formOf } from '../../views/watch-facts.ts'
import { peopleOf } from '../watches/load-people.ts'
import { notifiedBy } from '../watches/people-view.ts'
import { setDraftTarget, storeTypedAnswer } from './answers.ts'
import { DRAFT_BACKTEST, followDraft } from './backtest.ts'
import {
  beginDraft,
  changeDraft,
  type Draft,
  type DraftValues,
  dropDraft,
  readDraft,
  renewDraft,
  WIZARD_QUESTION,
} from './draft.ts'
import {
  changesOfChoice,
  firstSettings,
  isChosen,
  newWatchBody,
  stepAfter,
  stepBefore,
} from './moves.ts'
import { observeDraftTarget, readTarget, targetOf } from './targets.ts'
import * as views from './view.ts'
import { linkOfDraft, readSlotUse, showNoSlot, stepView } from './wizard.ts'

/** Presses that are refused in groups, with the payload of the link into the private chat. */
const PRIVATE = { privately: 'new' } as const

const composer = new Composer<BotContext>()

onCommand(composer, 'new', openWizard, { privately: 'new' })

composer.command('cancel', async (ctx, next) => {
  const draft = await readDraft(ctx)
  if (draft === undefined || draft.values.watchId !== null) return next()
  await cancel(ctx)
})

onPress(composer, 'new.start', PRIVATE, showTypes)
onPress(composer, 'new.type', PRIVATE, (ctx, { type, address }) => openType(ctx, type, address))

type StepVerb = Exclude<Extract<Verb, `new.${string}`>, 'new.start' | 'new.type'>

const Rev = z.looseObject({ rev: z.int() })

/** Handles a press of the wizard, if the button belongs to the current draft. */
function onStep<V extends StepVerb>(
  verb: V,
  handle: (ctx: BotContext, draft: Draft, args: ArgumentsOf<V>) => Promise<void>,
): void {
  onPress(composer, verb, PRIVATE, async (ctx, args) => {
    const draft = await readDraft(ctx)
    if (draft === undefined) {
      await ctx.answer(ctx.t('bot:new.expired'))
      await showTypes(ctx)
    } else if (draft.rev === Rev.parse(args).rev) {
      await handle(ctx, draft, args)
    } else {
      await ctx.answer(ctx.t('bot:new.replaced'))
      await showStep(ctx, draft)
    }
  })
}

onStep('new.pick', async (ctx, draft, { index }) => {
  const picked = draft.values.offered[index]
  if (picked === undefined) return showStep(ctx, draft)
  const understood = await readTarget(ctx, draft, picked.target)
  if (!understood.ok) return showStep(ctx, draft, understood.refusal)
  await showStep(ctx, await setDraftTarget(ctx, draft, understood.preview))
})

onStep('new.page', async (ctx, draft, { page }) => {
  await showStep(
    ctx,
    await changeDraft(ctx, draft, { page, asking: isChoosing(draft) ? null : 'list' }),
  )
})

onStep('new.set', async (ctx, draft, { field, value }) => set(ctx, draft, field, value))

onStep('new.flip', async (ctx, draft, { signal }) => {
  const definition = getWatchType(draft.values.type).signals.find(({ id }) => id === signal)
  if (definition === undefined) return showStep(ctx, draft)
  const chosen = draft.values.signals.find(({ id }) => id === signal)
  const enabled = !(chosen?.enabled ?? definition.defaultEnabled)
  const others = draft.values.signals.filter(({ id }) => id !== signal)
  await showStep(
    ctx,
    await changeDraft(ctx, draft, { signals: [...others, { id: signal, enabled }] }),
  )
})

onStep('new.who', async (ctx, draft, { id }) => {
  const people = await peopleOf(ctx, linkOfDraft(ctx, draft))
  const isThere = people.recipients.some((recipient) => recipient.id === id)
  if (!isThere) await ctx.answer(ctx.t('bot:error.gone'), { box: true })
  if (!isThere) return showStep(ctx, draft)
  const before =
    draft.values.recipientIds ?? notifiedBy(null, people).flatMap((person) => person.id ?? [])
  const after = before.includes(id)
    ? before.filter((recipientId) => recipientId !== id)
    : [...before, id]
  if (after.length === 0) await ctx.answer(ctx.t('bot:new.whoLast'), { box: true })
  const recipientIds = after.length === 0 ? null : after
  await showStep(ctx, await changeDraft(ctx, draft, { recipientIds }))
})

onStep('new.ask', async (ctx, draft, { field }) => {
  await showStep(ctx, await changeDraft(ctx, draft, { asking: field }))
})

onStep('new.next', async (ctx, draft) => {
  const next = await changeDraft(ctx, draft, stepAfter(draft))
  await (next.values.watchId === null ? showIfSlotFree(ctx, next) : showStep(ctx, next))
})
onStep('new.back', async (ctx, draft) => {
  const before = stepBefore(draft)
  await (before === undefined
    ? showTypes(ctx)
    : showStep(ctx, await changeDraft(ctx, draft, before)))
})
onStep('new.cancel', cancel)
onStep('new.create', create)

/** The pending step of a draft, and the handler of typed input. */
const wizardQuestion = defineQuestion({
  kind: WIZARD_QUESTION,
  task: 'wizard',
  about: z.object({ rev: z.int() }),
  ask: async (ctx) => {
    const draft = await readDraft(ctx)
    return draft === undefined ? views.nothingCreated(ctx.reader) : stepView(ctx, draft)
  },
  shown: followDraft,
  answer: async (ctx, { rev }, text) => {
    const draft = await readDraft(ctx)
    if (draft === undefined || draft.rev !== rev) {
      await showTypes(ctx)
      return undefined
    }
    const read = await storeTypedAnswer(ctx, draft, text)
    if ('refusal' in read) return read.refusal
    await showStep(ctx, read.draft)
    return undefined
  },
  cancel,
})

/** Asks for the type of the watch, or, with a type, its first question. */
export async function openWizard(ctx: BotContext, text: string): Promise<void> {
  const type = views.typeNamed(ctx.t, text)
  await (type === undefined ? showTypes(ctx) : openType(ctx, type))
}

/** Starts a watch of a type on an address, if one is given; without a free slot shows the options. */
export async function openType(ctx: BotContext, type: string, address?: Address): Promise<void> {
  if (!views.GUIDED_TYPES.includes(type)) return showTypes(ctx)
  await begin(ctx, requireLink(ctx), type, {}, address && { address, provider: address })
}

/** Starts a watch on a price feed; without a free slot shows the options. */
export async function openFeed(ctx: BotContext, feed: string): Promise<void> {
  await begin(ctx, requireLink(ctx), 'feed-move', {}, { feed })
}

function requireLink({ links: [link] }: BotContext): Membership {
  if (link === undefined) throw new AppError('unauthenticated', 'missing_token')
  return link
}

/** The person's draft, unless its watch was created. */
export async function waitingDraft(ctx: BotContext): Promise<Draft | undefined> {
  const draft = await readDraft(ctx)
  return draft?.values.watchId === null ? draft : undefined
}

/**
 * Shows the pending step of the person's draft, if there is one, for example after slots were bought.
 * @returns false if there is no draft, or no free slot, because waiting watches may have taken the slots
 */
export async function continueDraft(ctx: BotContext): Promise<boolean> {
  const draft = await waitingDraft(ctx)
  if (draft === undefined || (await readSlotUse(ctx, linkOfDraft(ctx, draft))).free === 0)
    return false
  await showStep(ctx, draft)
  return true
}

async function begin(
  ctx: BotContext,
  link: Membership,
  type: string,
  over: Partial<DraftValues>,
  target?: Readonly<Record<string, unknown>>,
): Promise<void> {
  const hasTarget = (formOf(type)?.target.length ?? 0) > 0
  const settings = firstSettings(type, null)
  const draft = await beginDraft(ctx, link.wallet, { type, step: 'target', settings, ...over })
  const wanted = hasTarget ? target && targetOf(draft, target) : {}
  if (wanted === undefined) return showIfSlotFree(ctx, draft)
  const understood = await readTarget(ctx, draft, wanted)
  if (!understood.ok) return showIfSlotFree(ctx, draft, understood.refusal)
  await showIfSlotFree(ctx, await setDraftTarget(ctx, draft, understood.preview))
}

/** Shows the pending step of a draft or, if no slot is free, the ways to get one. */
async function showIfSlotFree(ctx: BotContext, draft: Draft, refusal?: Refusal): Promise<void> {
  const { free } = await readSlotUse(ctx, linkOfDraft(ctx, draft))
  await (free === 0 ? showNoSlot(ctx, draft) : showStep(ctx, draft, refusal))
}

async function showTypes(ctx: BotContext): Promise<void> {
  const slots = await readSlotUse(ctx)
  const resume = await waitingDraft(ctx)
  if (slots.free === 0) return showNoSlot(ctx, resume)
  await show(ctx, views.typeChoice(ctx.reader, { slots, resume }), 'wizard')
}

function isChoosing({ values }: Draft): boolean {
  return values.step === 'choose'
}

/** Chooses a value. */
async function set(ctx: BotContext, draft: Draft, code: string, value: string): Promise<void> {
  const changes = changesOfChoice(draft, code, value)
  if (changes === undefined) return showStep(ctx, draft)
  // The message already shows the choice, and Telegram refuses an edit without a change.
  if (isTicked(ctx) && isChosen(draft, changes)) return
  await showStep(ctx, await changeDraft(ctx, draft, changes))
}

/** Whether the pressed button has a tick. */
function isTicked({ callbackQuery }: BotContext): boolean {
  const rows = callbackQuery?.message?.reply_markup?.inline_keyboard ?? []
  return rows
    .flat()
    .some(
      (button) =>
        'callback_data' in button &&
        button.callback_data === callbackQuery?.data &&
        button.text.startsWith('✓'),
    )
}

async function cancel(ctx: BotContext): Promise<void> {
  await dropDraft(ctx)
  await show(ctx, views.nothingCreated(ctx.reader), 'wizard')
}

/** Creates the watch. Idempotent: a second press shows the same watch. */
async function create(ctx: BotContext, draft: Draft): Promise<void> {
  const { values } = draft
  const link = linkOfDraft(ctx, draft)
  if (values.step !== 'check' && values.step !== 'done') return showStep(ctx, draft)
  try {
    const { id } = await ctx.call(
      createWatch,
      { body: newWatchBody(ctx.t, draft), idempotencyKey: draft.id },
      link,
    )
    await showCreated(ctx, await changeDraft(ctx, draft, { step: 'done', watchId: id }))
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'no_free_slot') throw error
    await showNoSlot(ctx, await renewDraft(ctx, draft))
  }
}

async function showCreated(ctx: BotContext, draft: Draft): Promise<void> {
  const { watchId } = draft.values
  const link = linkOfDraft(ctx, draft)
  const watch = await ctx.call(getWatch, { params: { id: String(watchId) } }, link)
  const notified = notifiedBy(watch.recipientIds, await peopleOf(ctx, link))
  const view = views.watchCreated(ctx.reader, watch, {
    now: ctx.app.clock.now(),
    seen: await observeDraftTarget(ctx, draft, link),
    isNotified: notified.some(isOn),
  })
  await show(ctx, view, 'wizard')
}

/** Shows the pending step of a draft, and waits for typed input. */
async function showStep(ctx: BotContext, draft: Draft, refusal?: Refusal): Promise<void> {
  if (draft.values.watchId !== null) return showCreated(ctx, draft)
  await wizardQuestion.open(ctx, { rev: draft.rev }, refusal)
}

export const newFeature = defineFeature({
  commands: [{ name: 'new', menus: ['private'] }],
  composer,
  questions: [wizardQuestion],
  live: DRAFT_BACKTEST,
})
