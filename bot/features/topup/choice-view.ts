import { packed } from '#src/actions/codec.ts'
import { MIN_TOPUP_CREDITS, PERIOD_DAYS, SLOT_PRICE_CREDITS } from '#src/billing/price-list.ts'
import { creditsWithUsd, usdText } from '#src/billing/price-text.ts'
import { formatDuration, formatNumber, formatPercent } from '#src/i18n/format.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { act, back, inRows, menuButton, type Reader, screen, type View } from '../../views/view.ts'
import { backFromPurchase } from '../start/resume-view.ts'
import { topupAmountText } from './amount-text.ts'
import { creditsMax, type OfferedAsset, unitsOf } from './asset-view.ts'
import { chosenData, purchaseLines, type SlotPurchase } from './purchase-view.ts'

/** Number of credits in the displayed prices. */
const SHOWN_CREDITS = 10_000
const BPS = 10_000
/** Offered numbers of credits. */
const AMOUNTS = [10_000, 25_000, 50_000, 100_000] as const
export const EXAMPLE_CREDITS = 25_000

/** Message for a chat that may change nothing, with a button that requests the right `write`. */
export function onlyReceives({ t }: Reader): View {
  const connect = packed('connect', { spend: false })
  return screen(
    [t.html('bot:chat.receiveOnly')],
    [[act(t('bot:button.connect'), connect, 'primary')], [menuButton(t)]],
  )
}

/**
 * Choice of the payment asset.
 * @param open a quote that can still be paid
 */
export function assetChoice(
  { t }: Reader,
  assets: readonly OfferedAsset[],
  options: {
    readonly balanceCredits: number
    /** Number of credits, if it is already chosen. */
    readonly credits?: number
    readonly purchase?: SlotPurchase
    /** Whether the wizard, which waits for a slot, led here. */
    readonly isFromWizard?: boolean
    readonly open:
      | { readonly handle: `0x${string}`; readonly amount: string; readonly left: string }
      | undefined
    readonly notice?: string
  },
): View {
  const { open, credits: wanted, purchase, isFromWizard = false } = options
  const usable = assets.filter(({ state }) => state === 'open')
  const priced = wanted ?? SHOWN_CREDITS
  const offer =
    usable.length === 0
      ? [t.html('bot:topup.allOff')]
      : [
          ...assets.flatMap((asset) => assetLine(t, asset, priced)),
          t.html('bot:topup.price', { credits: creditsWithUsd(t, priced) }),
        ]
  // A command leads back to the menu, the purchase of slots to where it began.
  const isPurchase = isFromWizard || purchase !== undefined
  const before = isPurchase ? [backFromPurchase(t, isFromWizard)] : []
  const lines = [
    options.notice,
    ...(purchase === undefined
      ? [`💳 ${t.html('bot:topup.title', { balance: creditsWithUsd(t, options.balanceCredits) })}`]
      : [`💳 ${purchaseLines(t, purchase, priced).join('\n')}`, '']),
    ...offer,
    ...(open === undefined
      ? []
      : ['', `⏳ ${t.html('bot:topup.open', { amount: open.amount, duration: open.left })}`]),
  ]
  const goOn =
    open === undefined
      ? []
      : [act(t('bot:button.openQuote'), packed('topup.check', { handle: open.handle }), 'primary')]
  const buttons = usable
    .filter((asset) => priced <= mostOf(asset) || wanted === undefined)
    .map((asset, index) => {
      const { key } = asset
      const data = chosenData(key, wanted, purchase)
      return act(assetLabel(t, asset, priced), data, index === 0 && !open ? 'primary' : undefined)
    })
  return screen(lines, [
    goOn,
    ...inRows(buttons, 2),
    before.length === 0 ? [menuButton(t)] : before,
  ])
}

/** Line about an asset that is not accepted now, or not for so many credits; none for what is not offered at all. */
function assetLine(t: Translate, asset: OfferedAsset, wanted: number): readonly string[] {
  const { symbol, state, capUnits } = asset
  const values = { asset: id(symbol) }
  if (state === 'off') return []
  if (state !== 'open') return [t.html(`bot:topup.${state}`, values)]
  if (capUnits === undefined || wanted <= mostOf(asset)) return []
  return [t.html('bot:topup.assetCap', { ...values, cap: shownAmount(t, asset, capUnits) })]
}

/** Maximum number of credits of one top-up. */
function mostOf(asset: OfferedAsset): number {
  return creditsMax(asset) ?? Number.POSITIVE_INFINITY
}

/** The amount that the credits cost, and the bonus. */
function assetLabel(t: Translate, asset: OfferedAsset, wanted: number): string {
  const price = shownAmount(t, asset, unitsOf(asset, wanted))
  if (asset.bonusBps === 0) return price
  return `${price} · ${formatPercent(asset.bonusBps / BPS, t.locale, { signed: true })}`
}

function shownAmount(t: Translate, { symbol, decimals }: OfferedAsset, units: bigint): string {
  return topupAmountText(t, { asset: symbol, decimals }, units)
}

/**
 * Choice of the number of credits.
 * @param neededCredits missing credits of the next renewals
 */
export function amountChoice(
  { t }: Reader,
  asset: OfferedAsset,
  neededCredits: number | undefined,
): View {
  const most = mostOf(asset)
  const periods = Math.floor(SHOWN_CREDITS / SLOT_PRICE_CREDITS)
  const lines = [
    `💳 ${t.html('bot:topup.askAmount', { asset: id(asset.symbol) })}`,
    t.html('bot:topup.worth', {
      credits: creditsWithUsd(t, SHOWN_CREDITS),
      duration: formatDuration(periods * PERIOD_DAYS * DAY_SECONDS, t.locale, 'long'),
    }),
    asset.capUnits === undefined ? undefined : capLine(t, asset),
    t.html('bot:topup.sendAmount', {
      min: formatNumber(MIN_TOPUP_CREDITS, t.locale),
      example: formatNumber(EXAMPLE_CREDITS, t.locale),
    }),
  ]
  const amounts = AMOUNTS.filter((amount) => amount <= most).map((amount) =>
    quoteButton(asset, amount, t('units:credits', { count: amount })),
  )
  const needed =
    neededCredits === undefined || neededCredits > most
      ? []
      : [
          quoteButton(
            asset,
            neededCredits,
            t('bot:button.mySlots', { price: usdText(t, neededCredits) }),
          ),
        ]
  return screen(lines, [
    ...inRows(amounts, 2),
    needed,
    [back(t('bot:button.asset'), packed('topup'))],
  ])
}

/** Line about the maximum of one top-up, in the asset and in credits. */
export function capLine(t: Translate, asset: OfferedAsset): string {
  return t.html('bot:topup.capped', {
    amount: shownAmount(t, asset, asset.capUnits ?? 0n),
    credits: creditsWithUsd(t, creditsMax(asset) ?? 0),
  })
}

function quoteButton({ key }: OfferedAsset, amount: number, label: string): Button {
  return act(label, packed('topup.quote', { asset: key, credits: amount }))
}
