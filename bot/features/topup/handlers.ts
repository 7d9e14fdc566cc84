import { Composer } from 'grammy'
import { parseUnits } from 'viem/utils'
import { z } from 'zod'
import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import { type AssetKey, MIN_TOPUP_CREDITS } from '#src/billing/price-list.ts'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import type { NewPurchase } from '#src/billing/topups/model.ts'
import { formatDecimal, formatNumber } from '#src/i18n/format.ts'
import type { Quantity } from '#src/i18n/parse.ts'
import { typed } from '#src/i18n/translate.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Hash } from '#src/kernel/units.ts'
import { findOpenTopup, getWalletStatus } from '#src/operations/chat/status.ts'
import { createTopup } from '#src/operations/rest/topups.ts'
import type { BotContext } from '../../core/context.ts'
import { sentenceOf } from '../../core/error-sentences.ts'
import { defineFeature, onCommand, onPress } from '../../core/feature.ts'
import { findLive } from '../../core/live-store.ts'
import { defineQuestion, type Refusal } from '../../core/session.ts'
import { show } from '../../core/show.ts'
import { type InputProblem, isSymbol, readNumber } from '../../core/typed-input.ts'
import { waitingLabels } from '../../core/watches.ts'
import { cut, insteadOf, unitText } from '../../views/fields.ts'
import { textHtml } from '../../views/markup.ts'
import { freeOfCharge } from '../../views/refusals.ts'
import type { View } from '../../views/view.ts'
import { showConnect } from '../connect/handlers.ts'
import { isAskedByWizard, isInWizard } from '../new/origin.ts'
import { requireOrder } from '../slots/order.ts'
import { hasTerms, isTermsRefusal, showTerms } from '../terms/card.ts'
import { topupAmountText } from './amount-text.ts'
import { creditsMax, type OfferedAsset } from './asset-view.ts'
import { findAssetKey, offeredAssets } from './assets.ts'
import { amountChoice, assetChoice, capLine, EXAMPLE_CREDITS, onlyReceives } from './choice-view.ts'
import { leftText } from './countdown.ts'
import { findTopupOfChat } from './find-topup.ts'
import { TOPUP_MESSAGES } from './live.ts'
import { followTopup } from './live-schedule.ts'
import type { SlotPurchase } from './purchase-view.ts'
import { WAYS } from './shown-topup.ts'
import { BUTTON_CREDITS_MAX, topupScreen } from './view.ts'

/** Presses that are refused in groups, with the payload of the link into the private chat. */
const PRIVATE = { privately: 'topup' } as const

const composer = new Composer<BotContext>()

onCommand(composer, 'topup', openTopup, PRIVATE)
onPress(composer, 'topup', PRIVATE, (ctx) => openTopup(ctx))

/**
 * Starts a purchase of credits.
 * @param text number of credits, if given
 */
export async function openTopup(ctx: BotContext, text = ''): Promise<void> {
  if (!ctx.app.billing.enabled) {
    await show(ctx, freeOfCharge(ctx.reader))
    return
  }
  if (!has(ctx, 'write')) {
    await show(ctx, onlyReceives(ctx.reader))
    return
  }
  if (!(await hasTerms(ctx, 'topup'))) return
  if (text === '') return showAssets(ctx)
  const amount = readNumber(text, AMOUNT, ctx.t.locale)
  await showAssets(
    ctx,
    amount.ok
      ? { credits: Number(amount.value) }
      : { notice: `⚠️ ${amountProblem(ctx, undefined, amount.reason, text)}` },
  )
}

/** Bounds of a typed number of credits. */
const AMOUNT = {
  unit: 'credits',
  min: String(MIN_TOPUP_CREDITS),
  max: String(BUTTON_CREDITS_MAX),
  decimals: 0,
} as const

/**
 * Asks for the payment asset.
 * @param options `credits`: number of credits, if already chosen
 */
async function showAssets(
  ctx: BotContext,
  options: { readonly credits?: number; readonly notice?: string } = {},
): Promise<void> {
  await show(ctx, await assetsView(ctx, options), 'topup')
}

onPress(composer, 'topup.slots', PRIVATE, async (ctx, asked) => {
  // A chat with `write` accepts the terms first. Another chooses first, and then gets the right to spend.
  if (!has(ctx, 'write') || (await hasTerms(ctx, asked))) await showAssetsFor(ctx, asked)
})

function has({ links: [link] }: BotContext, scope: Scope): boolean {
  return link?.caller.scopes.includes(scope) === true
}

/** Asks for the asset of a top-up that buys slots when it is credited. */
async function showAssetsFor(
  ctx: BotContext,
  then: ArgumentsOf<'topup.slots'>,
  notice?: string,
): Promise<void> {
  const { quantity, periods } = then
  requireOrder(then)
  const { balanceCredits } = await ctx.call(getWalletStatus)
  const { totalCredits } = priceSlots(quantity, periods)
  const credits = Math.max(MIN_TOPUP_CREDITS, totalCredits - balanceCredits)
  const purchase = { ...then, totalCredits, balanceCredits, waiting: await waitingLabels(ctx) }
  const isFromWizard = await isAskedByWizard(ctx)
  const options = { credits, purchase, isFromWizard, ...(notice !== undefined && { notice }) }
  // A purchase that began in the wizard continues there.
  await show(ctx, await assetsView(ctx, options), isInWizard(ctx) ? 'wizard' : 'topup')
}

onPress(composer, 'topup.buy', PRIVATE, async (ctx, { asset, credits, ...asked }) => {
  const key = findAssetKey(asset)
  if (key !== undefined && ctx.knownChat.kind === 'private' && !has(ctx, 'spend')) {
    // After the chat got the right to spend on the connect page, the purchase continues.
    const goesOn = packed('topup.buy', { asset, credits, ...asked })
    return showConnect(ctx, { spend: true, goesOn })
  }
  const { quantity: slots, periods, renew: autoRenew } = asked
  const refusal = key && (await quoted(ctx, key, credits, { slots, periods, autoRenew }))
  if (key === undefined) return showAssetsFor(ctx, asked)
  if (refusal !== undefined) await showAssetsFor(ctx, asked, `⚠️ ${refusal.html}`)
})

async function assetsView(
  ctx: BotContext,
  options: {
    readonly credits?: number
    readonly notice?: string
    readonly purchase?: SlotPurchase
    readonly isFromWizard?: boolean
  },
): Promise<View> {
  const [assets, { balanceCredits }, open] = await Promise.all([
    offeredAssets(ctx),
    ctx.call(getWalletStatus),
    ctx.call(findOpenTopup),
  ])
  const { t } = ctx
  const now = ctx.app.clock.now()
  const quote = open && {
    handle: open.handle,
    amount: topupAmountText(t, open, open.amount),
    left: leftText(t, open, now),
  }
  return assetChoice(ctx.reader, assets, { ...options, balanceCredits, open: quote ?? undefined })
}

onPress(composer, 'topup.asset', PRIVATE, async (ctx, { asset }) => {
  const key = findAssetKey(asset)
  const offered = key && (await openAsset(ctx, key))
  if (offered === undefined) return showAssets(ctx)
  await amountQuestion.open(ctx, { asset: offered.key })
})

/** A payment asset that is available now. */
async function openAsset(ctx: BotContext, key: AssetKey): Promise<OfferedAsset | undefined> {
  const assets = await offeredAssets(ctx)
  return assets.find((asset) => asset.key === key && asset.state === 'open')
}

/** Question for the number of credits, typed or pressed. */
const amountQuestion = defineQuestion({
  kind: 'topup.amount',
  task: 'topup',
  about: z.object({ asset: z.string() }),
  ask: async (ctx, { asset }) => {
    const key = findAssetKey(asset)
    const offered = key && (await openAsset(ctx, key))
    if (offered === undefined) return assetsView(ctx, {})
    return amountChoice(ctx.reader, offered, await neededCredits(ctx))
  },
  answer: async (ctx, { asset }, text) => {
    const key = findAssetKey(asset)
    const offered = key && (await openAsset(ctx, key))
    if (offered === undefined) {
      await showAssets(ctx)
      return undefined
    }
    const read = readNumber(text, AMOUNT, ctx.t.locale)
    const most = creditsMax(offered) ?? BUTTON_CREDITS_MAX
    if (!read.ok) {
      const html = amountProblem(ctx, offered, read.reason, text)
      const instead = read.reason === 'other_unit' && creditsFor(ctx, offered, read.other)
      return instead ? { html: `${html}\n${instead.html}`, rows: instead.rows } : { html }
    }
    if (Number(read.value) > most) return { html: capLine(ctx.t, offered) }
    return quoted(ctx, offered.key, Number(read.value))
  },
  cancel: (ctx) => showAssets(ctx),
})

/** Offers the credits that an amount of the chosen asset pays for. */
function creditsFor({ t }: BotContext, asset: OfferedAsset, { value, unit }: Quantity) {
  const { key, symbol, decimals, per1000Units } = asset
  if (!isSymbol(unit, symbol) || per1000Units === 0n) return undefined
  const credits = Number((parseUnits(value, decimals) * 1000n) / per1000Units)
  const most = creditsMax(asset) ?? BUTTON_CREDITS_MAX
  if (credits < MIN_TOPUP_CREDITS || credits > most) return undefined
  const before = formatDecimal({ value, symbol, rounded: 'none' }, t.locale)
  const after = t('units:credits', { count: credits })
  return insteadOf(t, { before, after }, packed('topup.quote', { asset: key, credits }))
}

/** @param asset the chosen asset; undefined before the choice */
function amountProblem(
  { t }: BotContext,
  asset: OfferedAsset | undefined,
  problem: InputProblem,
  input: string,
): string {
  const number = (value: number) => formatNumber(value, t.locale)
  const most = (asset && creditsMax(asset)) ?? BUTTON_CREDITS_MAX
  const values = {
    input: typed(cut(input)),
    min: number(MIN_TOPUP_CREDITS),
    max: number(most),
    example: number(EXAMPLE_CREDITS),
  }
  switch (problem) {
    case 'not_understood':
      return t.html('bot:typed.notNumber', values)
    case 'other_unit':
      return unitText(t, 'credits', values)
    case 'too_small':
      return t.html('bot:topup.tooFew', { credits: creditsWithUsd(t, MIN_TOPUP_CREDITS) })
    case 'too_big':
      if (asset?.capUnits !== undefined) return capLine(t, asset)
      return t.html('bot:topup.tooMany', { credits: creditsWithUsd(t, BUTTON_CREDITS_MAX) })
    case 'too_many_decimals':
      return t.html('bot:topup.whole')
    default:
      return problem satisfies never
  }
}

/**
 * Credits that the next renewals need beyond the balance, rounded up to a multiple of the minimum top-up;
 * undefined if none are needed.
 */
async function neededCredits(ctx: BotContext): Promise<number | undefined> {
  const { subscriptions, balanceCredits } = await ctx.call(getWalletStatus)
  const renewing = subscriptions.filter(({ nextRenewalAt }) => nextRenewalAt !== null)
  const needed = renewing.reduce((sum, { totalCredits }) => sum + totalCredits, 0)
  const missing = needed - balanceCredits
  if (missing <= 0) return undefined
  return Math.ceil(missing / MIN_TOPUP_CREDITS) * MIN_TOPUP_CREDITS
}

onPress(composer, 'topup.quote', PRIVATE, async (ctx, { asset, credits }) => {
  const key = findAssetKey(asset)
  const refusal = key && (await quoted(ctx, key, credits))
  if (key === undefined) return showAssets(ctx)
  if (refusal !== undefined) await showAssets(ctx, { notice: `⚠️ ${refusal.html}` })
})

/**
 * Creates a quote and shows it.
 * @returns the refusal to show; undefined if the quote or the terms were shown
 */
async function quoted(
  ctx: BotContext,
  key: AssetKey,
  credits: number,
  then?: NewPurchase,
): Promise<Refusal | undefined> {
  const asset = key === 'service' ? ctx.app.billing.serviceTokenSymbol : key
  try {
    const body = { asset, credits, ...(then !== undefined && { then }) }
    const { handle } = await ctx.call(createTopup, { body })
    await showTopup(ctx, handle)
    return undefined
  } catch (error) {
    if (isTermsRefusal(error)) {
      await showTerms(ctx, 'topup')
      return undefined
    }
    if (!(error instanceof AppError) || error.kind !== 'conflict') throw error
    return { html: textHtml(sentenceOf(ctx.t, error)) }
  }
}

/**
 * Shows a top-up in a live message.
 * @param part `ways`: the ways to pay by hand, while there is something to pay
 * @throws AppError not_found
 */
async function showTopup(
  ctx: BotContext,
  handle: Hash,
  part: 'payment' | 'ways' = 'payment',
): Promise<void> {
  const messageId = ctx.callbackQuery?.message?.message_id
  const chatId = ctx.knownChat.id
  const { pressedMessage } = ctx
  const before =
    pressedMessage === undefined && messageId !== undefined
      ? await findLive(ctx.app.db, { chatId, messageId })
      : pressedMessage?.live
  const known = before && before.handle === handle && before.stage !== WAYS ? before.stage : null
  const shown = await findTopupOfChat(ctx, handle, part === 'ways' ? WAYS : known)
  const view = topupScreen(ctx.reader, shown, ctx.app.clock.now())
  const message = { chatId, messageId: await show(ctx, view, 'topup') }
  await followTopup(ctx.app, message, shown, view)
}

onPress(composer, 'topup.check', PRIVATE, (ctx, { handle }) => showTopup(ctx, handle))
onPress(composer, 'topup.ways', PRIVATE, (ctx, { handle }) => showTopup(ctx, handle, 'ways'))

export const topupFeature = defineFeature({
  commands: [{ name: 'topup', menus: ['private'], isBilled: true }],
  composer,
  questions: [amountQuestion],
  live: TOPUP_MESSAGES,
})
