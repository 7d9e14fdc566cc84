import { Composer } from 'grammy'
import type { ArgumentsOf } from '#src/actions/codec.ts'
import { SLOTS_MAX } from '#src/billing/price-list.ts'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import { priceSlots, slotQuote } from '#src/billing/subscriptions/rules.ts'
import { id as bare } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { getWalletStatus, isTrialAvailable } from '#src/operations/chat/status.ts'
import {
  createSubscription,
  quoteRenewal,
  renewSubscription,
  updateSubscriptions,
} from '#src/operations/rest/subscriptions.ts'
import type { BotContext } from '../../core/context.ts'
import { sentenceOf } from '../../core/error-sentences.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { show } from '../../core/show.ts'
import type { Task } from '../../core/store.ts'
import { waitingLabels } from '../../core/watches.ts'
import { textHtml } from '../../views/markup.ts'
import { freeOfCharge } from '../../views/refusals.ts'
import { isDraftRecent } from '../new/draft.ts'
import { continueDraft, waitingDraft } from '../new/handlers.ts'
import { isInWizard } from '../new/origin.ts'
import { readSlotUse } from '../new/wizard.ts'
import { hasTerms, isTermsRefusal, showTerms } from '../terms/card.ts'
import { termsCode } from '../terms/terms.ts'
import { requireOrder } from './order.ts'
import {
  boughtScreen,
  boughtValues,
  quoteScreen,
  renewalScreen,
  slotsScreen,
  subscriptionList,
} from './view.ts'

/** Presses that are refused in groups, with the payload of the link into the private chat. */
const PRIVATE = { privately: 'slots' } as const

const composer = new Composer<BotContext>()

onPress(composer, 'slots', PRIVATE, showSlots)

/** Shows the wallet's slots and subscriptions. */
export async function showSlots(ctx: BotContext): Promise<void> {
  if (!ctx.app.billing.enabled) {
    await show(ctx, freeOfCharge(ctx.reader))
    return
  }
  const rights = rightsOf(ctx)
  const walletStatus = await ctx.call(getWalletStatus)
  const mayStart =
    rights.canWrite && walletStatus.trialEndsAt === null && (await ctx.call(isTrialAvailable))
  const view = slotsScreen(ctx.reader, walletStatus, {
    ...rights,
    mayStartTrial: mayStart,
    terms: termsCode(ctx.app.billing.terms.version),
    now: ctx.app.clock.now(),
    waiting: await waitingLabels(ctx),
  })
  await show(ctx, view)
}

function rightsOf({ links: [link] }: BotContext) {
  const scopes = link?.caller.scopes ?? []
  return { canSpend: scopes.includes('spend'), canWrite: scopes.includes('write') }
}

onPress(composer, 'slots.quote', PRIVATE, async (ctx, asked) => {
  // A person who cannot buy here need not accept terms first.
  if (!rightsOf(ctx).canSpend || (await hasTerms(ctx, asked))) await showQuote(ctx, asked)
})

type Asked = ArgumentsOf<'slots.quote'>

/** Shows the price of slots. A number above the limit is reduced to the limit. */
export async function showQuote(ctx: BotContext, asked: Asked, notice?: string): Promise<void> {
  const { slots, balanceCredits } = await ctx.call(getWalletStatus)
  const room = Math.max(0, SLOTS_MAX - slots.purchased - slots.trial)
  const quantity = Math.max(1, Math.min(asked.quantity, room))
  requireOrder({ ...asked, quantity })
  const quote = slotQuote({ ...asked, quantity }, { balanceCredits, now: ctx.app.clock.now() })
  const view = quoteScreen(ctx.reader, quote, {
    ...rightsOf(ctx),
    renew: asked.renew,
    room,
    max: SLOTS_MAX,
    waiting: await waitingLabels(ctx),
    isFromWizard: isInWizard(ctx),
    ...(notice !== undefined && { notice }),
  })
  await show(ctx, view, taskOf(ctx))
}

/** The task of the message: slots for which the wizard waits are bought in its message, which then continues. */
function taskOf(ctx: BotContext): Task {
  return isInWizard(ctx) ? 'wizard' : 'navigation'
}

onPress(composer, 'slots.buy', PRIVATE, async (ctx, { credits, ...asked }) => {
  const idempotencyKey = purchaseKey(ctx)
  if (idempotencyKey === undefined) return showSlots(ctx)
  const waiting = await waitingLabels(ctx)
  const { quantity, periods, renew } = asked
  const body = { quantity, periods, autoRenew: renew, expectedCredits: credits }
  try {
    const bought = await ctx.call(createSubscription, { body, idempotencyKey })
    const { balanceCredits } = await ctx.call(getWalletStatus)
    const values = boughtValues(ctx.reader, { ...bought, balanceCredits })
    await ctx.answer(ctx.t('bot:slots.bought', values))
    if (await isContinued(ctx)) return
    const resuming = waiting.slice(0, quantity)
    const open = await waitingDraft(ctx)
    const next = {
      draft: open && { type: open.values.type, rev: open.rev },
      hasSlot: (await readSlotUse(ctx)).free > 0,
    }
    const view = boughtScreen(ctx.reader, bought, { balanceCredits, resuming, ...next })
    await show(ctx, view)
  } catch (error) {
    if (isTermsRefusal(error)) return showTerms(ctx, asked)
    if (!(error instanceof AppError) || !REDRAWN.has(error.code)) throw error
    const why = error.code === 'price_changed' ? priceNow(ctx, asked) : sentenceOf(ctx.t, error)
    await showQuote(ctx, asked, `⚠️ ${textHtml(why)}`)
  }
})

/**
 * Shows the step of the watch for which the slots were bought: of the wizard whose message offered them, or
 * of a draft that the person changed in the last hour.
 *
 * @returns false if there is no such watch, or no slot for it
 */
async function isContinued(ctx: BotContext): Promise<boolean> {
  const [link] = ctx.links
  const isWaited =
    isInWizard(ctx) || (link !== undefined && (await isDraftRecent(ctx, link.wallet)))
  return isWaited && (await continueDraft(ctx))
}

/**
 * Idempotency key of a purchase: one for each shown quote, however often its button is pressed; undefined
 * when the message shows another screen.
 */
function purchaseKey({ callbackQuery: query, knownChat }: BotContext): string | undefined {
  const message = query?.message
  const buttons = message?.reply_markup?.inline_keyboard.flat() ?? []
  const isShown = buttons.some(
    (button) => 'callback_data' in button && button.callback_data === query?.data,
  )
  if (message === undefined || !isShown) return undefined
  const shownAt = message.edit_date ?? message.date
  return `telegram ${knownChat.id} ${message.message_id} ${shownAt} ${query?.data}`
}

/** Refusals after which the quote is shown again, updated. */
const REDRAWN: ReadonlySet<string> = new Set([
  'price_changed',
  'insufficient_credits',
  'slot_limit_reached',
])

function priceNow(ctx: BotContext, { quantity, periods }: Asked): string {
  const { totalCredits } = priceSlots(quantity, periods)
  return ctx.t('bot:slots.priceChanged', { credits: creditsWithUsd(ctx.t, totalCredits) })
}

onPress(composer, 'slots.list', PRIVATE, (ctx) => showSubscriptions(ctx))

onPress(composer, 'slots.renew', PRIVATE, async (ctx, { id, on }) => {
  const isAllowed = !on || rightsOf(ctx).canSpend
  if (!isAllowed) return showSubscriptions(ctx, `⚠️ ${ctx.t.html('bot:slots.noSpend')}`)
  await ctx.call(updateSubscriptions, { body: { id, autoRenew: on } })
  const key = on ? 'bot:slots.nowRenews' : 'bot:slots.nowEnds'
  await showSubscriptions(ctx, `✓ ${ctx.t.html(key, { number: bare(id) })}`)
})

onPress(composer, 'slots.renewAll', PRIVATE, async (ctx, { on }) => {
  if (!on || rightsOf(ctx).canSpend)
    await ctx.call(updateSubscriptions, { body: { autoRenew: on } })
  await showSlots(ctx)
})

onPress(composer, 'slots.again', PRIVATE, (ctx, { id }) => showRenewal(ctx, id))

/**
 * Shows what one more term of a subscription costs, and until when its slots last then; the slots for a subscription
 * that has ended.
 */
export async function showRenewal(ctx: BotContext, id: number, notice?: string): Promise<void> {
  const renewal = await unlessEnded(ctx.call(quoteRenewal, { params: { id: String(id) } }))
  if (renewal === undefined) return showSlots(ctx)
  const { canSpend } = rightsOf(ctx)
  const shown = { canSpend, ...(notice !== undefined && { notice }) }
  await show(ctx, renewalScreen(ctx.reader, renewal, shown))
}

/** The answer of a call about a subscription; undefined if it has ended. */
async function unlessEnded<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return undefined
    throw error
  }
}

onPress(composer, 'slots.payTerm', PRIVATE, async (ctx, { id, term, credits }) => {
  const input = { params: { id: String(id) }, body: { term, expectedCredits: credits } }
  try {
    const renewed = await unlessEnded(ctx.call(renewSubscription, input))
    if (renewed === undefined) return showSlots(ctx)
    const { balanceCredits } = await ctx.call(getWalletStatus)
    const values = boughtValues(ctx.reader, { ...renewed, balanceCredits })
    await ctx.answer(ctx.t('bot:slots.bought', values))
    await showSubscriptions(ctx, `✅ ${ctx.t.html('bot:slots.bought', values)}`)
  } catch (error) {
    if (isTermsRefusal(error)) return showTerms(ctx, 'slots')
    if (!(error instanceof AppError) || !REDRAWN.has(error.code)) throw error
    await showRenewal(ctx, id, `⚠️ ${textHtml(sentenceOf(ctx.t, error))}`)
  }
})

export async function showSubscriptions(ctx: BotContext, notice?: string): Promise<void> {
  const { subscriptions } = await ctx.call(getWalletStatus)
  const { canSpend } = rightsOf(ctx)
  const shown = { canSpend, ...(notice !== undefined && { notice }) }
  await show(ctx, subscriptionList(ctx.reader, subscriptions, shown))
}

export const slotsFeature = defineFeature({ commands: [], composer })
