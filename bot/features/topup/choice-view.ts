import { packed } from '#src/actions/codec.ts'
import { MIN_TOPUP_CREDITS, PERIOD_DAYS, SLOT_PRICE_CREDITS } from '#src/billing/price-list.ts'
import { creditsWithUsd, usdText } from '#src/billing/price-text.ts'
import { formatDuration, formatNumber, formatPercent } from '#src/i18n/format.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { labelWithPrice } from '../../views/price-label.ts'
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
  const offer =
    usable.length === 0
      ? [t.html('bot:topup.allOff')]
      : [
          t.html('bot:topup.price', {
            credits: t('units:credits', { count: 1000 }),
            price: usdText(t, 1000),
          }),
          ...assets.map((asset) => assetLine(t, asset, wanted ?? SHOWN_CREDITS)),
        ]
  // A command leads back to the menu, the purchase of slots to where it began.
  const isPurchase = isFromWizard || purchase !== undefined
  const before = isPurchase ? [backFromPurchase(t, isFromWizard)] : []
  const lines = [
    options.notice,
    `💳 ${t.html('bot:topup.title', { balance: creditsWithUsd(t, options.balanceCredits) })}`,
    ...(purchase === undefined ? [] : [...purchaseLines(t, purchase, wanted ?? 0), '']),
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
    .filter((asset) => (wanted ?? 0) <= (creditsMax(asset) ?? Number.POSITIVE_INFINITY))
    .map((asset, index) => {
      const { key } = asset
      const data = chosenData(key, wanted, purchase)
      return act(assetLabel(t, asset), data, index === 0 && !open ? 'primary' : undefined)
    })
  return screen(lines, [
    goOn,
    ...inRows(buttons, 3),
    before.length === 0 ? [menuButton(t)] : before,
  ])
}

/** Line with the price of credits in an asset, or why the asset is not accepted now. */
function assetLine(t: Translate, asset: OfferedAsset, wanted: number): string {
  const { symbol, state, bonusBps, capUnits } = asset
  const values = { asset: id(symbol) }
  if (state !== 'open') return t.html(`bot:topup.${state}`, values)
  const priced = {
    ...values,
    amount: shownAmount(t, asset, unitsOf(asset, wanted)),
    credits: creditsWithUsd(t, wanted),
  }
  if (bonusBps > 0) {
    const bonus = creditsWithUsd(t, Math.floor((wanted * bonusBps) / BPS))
    return t.html('bot:topup.assetBonus', { ...priced, bonus })
  }
  if (capUnits === undefined) return t.html('bot:topup.asset', priced)
  return t.html('bot:topup.assetCap', { ...priced, cap: shownAmount(t, asset, capUnits) })
}

function assetLabel(t: Translate, { symbol, bonusBps }: OfferedAsset): string {
  if (bonusBps === 0) return symbol
  return `${symbol} ${formatPercent(bonusBps / BPS, t.locale, { signed: true })}`
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
  const most = creditsMax(asset) ?? Number.POSITIVE_INFINITY
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
            labelWithPrice(t, neededCredits, (price) => t('bot:button.mySlots', { price })),
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
