import { Composer } from 'grammy'
import { z } from 'zod'
import { type ButtonData, packed, unpacked } from '#src/actions/codec.ts'
import { isOpenLink } from '#src/channels/card/wording.ts'
import { formatDate } from '#src/i18n/format.ts'
import { AppError } from '#src/kernel/errors.ts'
import { type Address, Units } from '#src/kernel/units.ts'
import { createConnectCode } from '#src/operations/chat/chat.ts'
import { resolveTarget } from '#src/operations/chat/previews.ts'
import { getWalletStatus } from '#src/operations/chat/status.ts'
import { acceptTerms } from '#src/operations/rest/account.ts'
import { startTrial } from '#src/operations/rest/subscriptions.ts'
import { createWatch } from '#src/operations/rest/watches.ts'
import type { BotContext } from '../../core/context.ts'
import { sentenceOf } from '../../core/error-sentences.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { rewrite, show } from '../../core/show.ts'
import { continueDraft, openFeed, openType, openWizard } from '../new/handlers.ts'
import { isInWizard } from '../new/origin.ts'
import { GUIDED_TYPES, watchCreated } from '../new/view.ts'
import { connectAgainData, originOfSpendRequest } from './connect-again.ts'
import { CONNECT_MESSAGES, followCode, followOutcome } from './live.ts'
import { orderLines } from './order.ts'
import { suggestedThreshold } from './threshold.ts'
import { readTrialOffer } from './trial.ts'
import { connectReplaced, connectScreen, trialTerms } from './view.ts'

/**
 * Rights to the connect buttons: allowed without a linked wallet; groups get a deep link to the private
 * chat.
 */
const CONNECT = { privately: 'connect', unlinked: true } as const

const composer = new Composer<BotContext>()

onCommand(composer, 'connect', (ctx) => showConnect(ctx), CONNECT)
onPress(composer, 'connect', CONNECT, (ctx, { spend }) => showConnect(ctx, { spend }))
onPress(composer, 'connect.watch', CONNECT, (ctx, { type, address }) =>
  openWatch(ctx, type, address),
)
onPress(composer, 'feed.watch', CONNECT, async (ctx, { feed }) => {
  if (ctx.links.length > 0) return openFeed(ctx, feed)
  await showConnect(ctx, { goesOn: packed('feed.watch', { feed }) })
})
onPress(composer, 'slots.allow', { privately: 'slots' }, (ctx, quote) =>
  showConnect(ctx, { spend: true, goesOn: packed('slots.quote', quote) }),
)
onPress(composer, 'wizard.allow', { privately: 'new' }, (ctx, quote) =>
  showConnect(ctx, {
    spend: true,
    goesOn: packed('slots.quote', quote),
    origin: packed('new.start'),
    again: packed('wizard.allow', quote),
  }),
)

/** Starts a watch of a type on an address. A chat without a wallet connects one first. */
export async function openWatch(ctx: BotContext, type: string, address: Address): Promise<void> {
  if (ctx.links.length > 0) return openType(ctx, type, address)
  const isKnown = GUIDED_TYPES.includes(type)
  await showConnect(ctx, isKnown ? { goesOn: packed('connect.watch', { type, address }) } : {})
}

/** Shows a new code for the sign-in page, and invalidates the previous one. */
export async function showConnect(
  ctx: BotContext,
  asked: {
    /** Whether the right to spend is requested, too. */
    readonly spend?: boolean
    /** Button data of the step to continue with once the wallet is connected, or the chat may spend. */
    readonly goesOn?: ButtonData
    /** Button data of the screen before, if `goesOn` does not name it. */
    readonly origin?: ButtonData
    /** Button data for a new code with the same `origin`. */
    readonly again?: ButtonData
  } = {},
): Promise<void> {
  const { spend = false, goesOn } = asked
  const { knownChat, reader, chat, from: asker } = ctx
  if (asker === undefined || knownChat.kind !== 'private') return
  const username = chat?.type === 'private' ? chat.username : undefined
  const wallet = ctx.links[0]?.wallet
  // Read before the new code is stored, which invalidates the code that the chat shows.
  const order = await orderLines(ctx, goesOn)
  const code = await ctx.call(createConnectCode, {
    body: {
      chat: {
        id: knownChat.id,
        title: knownChat.title,
        ...(username !== undefined && { username }),
      },
      by: { id: asker.id },
      locale: knownChat.locale,
      spend,
      ...(wallet !== undefined && { wallet }),
      ...(goesOn !== undefined && { goesOn }),
    },
  })
  await followOutcome(ctx, code)
  const { again = connectAgainData({ spend, goesOn }), origin = originOfSpendRequest(goesOn) } =
    asked
  const isOpen = isOpenLink(code.url)
  const isForRecipient = goesOn !== undefined && unpacked(goesOn)?.verb === 'rec.card'
  const shown = { spend, isOpen, wallet, again, origin, order, isForRecipient }
  const view = connectScreen(reader, code, shown)
  // The message of the wizard stays its message, so that the way back leads into the wizard.
  const messageId = await show(ctx, view, isInWizard(ctx) ? 'wizard' : 'navigation')
  for (const replaced of await followCode(ctx, messageId, code)) {
    await rewrite(ctx, replaced, connectReplaced(reader))
  }
}

onPress(composer, 'trial.start', { privately: 'slots' }, async (ctx, { next, terms }) => {
  // The button below the shown terms accepts them.
  const isShowing = next === 'wallet' || next === 'choose' || next === 'agreed'
  const started = await trialStarted(ctx, {
    accepted: isShowing ? terms : undefined,
    again: (termsCode) =>
      packed('trial.start', { next: isShowing ? next : 'agreed', terms: termsCode }),
    goOn: () => showDraftOrTypes(ctx),
  })
  if (started === undefined) return
  if (next === 'wallet' && (await watchOwnWallet(ctx, started))) return
  await ctx.answer(ctx.t('bot:trial.started', started))
  await (next === 'choose' ? openWizard(ctx, '') : showDraftOrTypes(ctx))
})

onPress(composer, 'free', { privately: 'slots' }, (ctx, { type, address, terms }) =>
  startWatching(ctx, {
    accepted: terms,
    again: (termsCode) => packed('free', { type, address, terms: termsCode }),
    goOn: () => openType(ctx, type, address),
  }),
)

onPress(composer, 'trial.feed', { privately: 'slots' }, (ctx, { feed, terms }) =>
  startWatching(ctx, {
    accepted: terms,
    again: (termsCode) => packed('trial.feed', { feed, terms: termsCode }),
    goOn: () => openFeed(ctx, feed),
  }),
)

/** Starts the trial, and goes on with the watch for which the chat was connected. */
async function startWatching(ctx: BotContext, start: TrialStart): Promise<void> {
  const started = await trialStarted(ctx, start)
  if (started === undefined) return
  await ctx.answer(ctx.t('bot:trial.started', started))
  await start.goOn()
}

interface TrialStart {
  /** Short code of the terms that the pressed button accepts. */
  readonly accepted: string | undefined
  /** Data of a button that accepts other terms. */
  readonly again: (termsCode: string) => ButtonData
  /** What follows if the trial was used meanwhile. */
  readonly goOn: () => Promise<void>
}

async function showDraftOrTypes(ctx: BotContext): Promise<void> {
  if (!(await continueDraft(ctx))) await openWizard(ctx, '')
}

/**
 * Starts the trial.
 *
 * @returns values of the text about the trial; undefined if its terms are shown first, or it was used
 */
async function trialStarted(
  ctx: BotContext,
  options: TrialStart,
): Promise<{ readonly date: string; readonly count: number } | undefined> {
  const offer = readTrialOffer(ctx.app)
  const { hasAcceptedTerms: accepted } = await ctx.call(getWalletStatus)
  if (!accepted && options.accepted !== offer.termsCode) {
    await show(ctx, trialTerms(ctx.reader, offer, options.again(offer.termsCode)))
    return undefined
  }
  if (!accepted) await ctx.call(acceptTerms, { body: { version: offer.terms.version } })
  try {
    const { endsAt, slots } = await ctx.call(startTrial)
    return { date: formatDate(endsAt, ctx.t.locale, ctx.reader.timezone), count: slots }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'trial_already_used') throw error
    await ctx.answer(sentenceOf(ctx.t, error), { box: true })
    await options.goOn()
    return undefined
  }
}

const Seen = z.object({ balanceUnits: Units, decimals: z.int() })

/**
 * Creates a watch on the balance of the wallet itself.
 *
 * @returns false when that is impossible right now
 */
async function watchOwnWallet(
  ctx: BotContext,
  trial: { readonly date: string; readonly count: number },
): Promise<boolean> {
  const type = 'wallet-balance'
  const target = { address: ctx.links[0]?.wallet, asset: 'FLR' }
  try {
    const { observation } = await ctx.call(resolveTarget, { body: { type, target } })
    const seen = Seen.safeParse(observation).data
    const threshold = seen ? suggestedThreshold(seen.balanceUnits, seen.decimals) : '1'
    const settings = { threshold, direction: 'any' }
    const label = ctx.t('bot:new.myWallet')
    const watch = await ctx.call(createWatch, { body: { type, target, settings, label } })
    const note = ctx.t.html('bot:trial.started', trial)
    const now = ctx.app.clock.now()
    // This chat was just linked, so it is a default recipient.
    await show(
      ctx,
      watchCreated(ctx.reader, watch, { now, seen: observation, isNotified: true, note }),
    )
    return true
  } catch (error) {
    // The trial runs nevertheless; the wizard explains the problem.
    if (error instanceof AppError && error.kind !== 'internal') return false
    throw error
  }
}

export const connectFeature = defineFeature({
  commands: [],
  composer,
  live: CONNECT_MESSAGES,
})
