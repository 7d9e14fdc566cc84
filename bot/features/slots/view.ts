import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import { OFFERED_PERIODS, PERIOD_DAYS, SLOT_PRICE_CREDITS } from '#src/billing/price-list.ts'
import { creditsWithUsd, usdText } from '#src/billing/price-text.ts'
import type {
  Capacity,
  RenewalQuote,
  SlotQuote,
  Subscription,
} from '#src/billing/subscriptions/model.ts'
import { priceSlots, slotsEndAt } from '#src/billing/subscriptions/rules.ts'
import { formatDate, formatDuration, formatList, formatPercent } from '#src/i18n/format.ts'
import { firstLabels } from '#src/i18n/name-list.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { renewalLine, waitingLine } from '../../views/purchase-lines.ts'
import { slotUse } from '../../views/slot-use.ts'
import {
  act,
  back,
  choiceButton,
  inRows,
  menuButton,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { typeButtons } from '../new/view.ts'
import { backFromPurchase, resumeButton } from '../start/resume-view.ts'
import { waysToBuy } from './ways-view.ts'

const BPS = 10_000

/** The slots of a wallet, and their subscriptions. */
export interface SlotState {
  readonly slots: Capacity
  readonly trialEndsAt: Date | null
  /** The subscriptions that have not ended. */
  readonly subscriptions: readonly Subscription[]
  readonly balanceCredits: number
}

/** Rights of the chat. */
export interface SpendingRights {
  readonly canSpend: boolean
  readonly canWrite: boolean
}

/**
 * Overview of the slots.
 * @param terms short code of the terms in force for button data
 */
export function slotsScreen(
  reader: Reader,
  state: SlotState,
  options: SpendingRights & {
    readonly terms: string
    readonly now: Date
    /** Labels of the suspended watches, oldest first. */
    readonly waiting: readonly string[]
    readonly mayStartTrial: boolean
  },
): View {
  const { t } = reader
  const { slots: capacity, trialEndsAt: endsAt, subscriptions, balanceCredits } = state
  const { used, total } = slotUse(capacity)
  const waiting = firstLabels(t, options.waiting)
  const lines = [
    `🎟️ ${t.html('bot:slots.title', { used, total })}`,
    waiting === undefined ? undefined : t.html('notices:suspended.now', { watches: waiting }),
    capacity.trial > 0 && endsAt !== null
      ? t.html('bot:slots.trial', {
          slots: slots(t, capacity.trial),
          date: date(reader, endsAt),
        })
      : undefined,
    ...sumLines(reader, subscriptions),
    t.html('bot:slots.balance', { balance: creditsWithUsd(t, balanceCredits) }),
    t.html('bot:slots.price', {
      price: creditsWithUsd(t, SLOT_PRICE_CREDITS),
      duration: periods(t, 1, 'long'),
    }),
  ]
  const isFull = total >= capacity.max
  const add = packed('slots.quote', { quantity: 1, periods: 1, renew: false })
  const isRenewed = subscriptions.some(({ autoRenew }) => autoRenew)
  const startTrial = packed('trial.start', { next: 'slots', terms: options.terms })
  return screen(lines, [
    isFull ? [] : [act(t('bot:button.addSlots'), add, 'primary')],
    options.mayStartTrial && !isFull ? [act(t('bot:button.startTrial'), startTrial)] : [],
    // Turning it off needs no right to spend.
    subscriptions.length === 0 || !(isRenewed ? options.canWrite : options.canSpend)
      ? []
      : [
          act(
            t(isRenewed ? 'bot:button.renewAllOff' : 'bot:button.renewAllOn'),
            packed('slots.renewAll', { on: !isRenewed }),
          ),
        ],
    [
      ...(subscriptions.length === 0
        ? []
        : [act(t('bot:button.subscriptions'), packed('slots.list'))]),
      act(t('bot:button.topUp'), packed('topup')),
    ],
    [menuButton(t)],
  ])
}

/**
 * All running subscriptions as one line, because nobody counts subscriptions; each of them is in the list. Those in
 * their grace period follow as lines of their own: their slots end soon.
 */
function sumLines(reader: Reader, subscriptions: readonly Subscription[]): readonly string[] {
  const { t } = reader
  const isLate = ({ status }: Subscription) => status === 'grace'
  const running = subscriptions.filter((subscription) => !isLate(subscription))
  const late = subscriptions.filter(isLate).map((each) => subscriptionLine(reader, each))
  if (running.length === 0) return late
  const dates = new Set(running.map(({ endsAt }) => date(reader, endsAt)))
  const first = new Date(Math.min(...running.map(({ endsAt }) => endsAt.getTime())))
  const line = t.html(dates.size === 1 ? 'bot:slots.sum' : 'bot:slots.sumFirst', {
    slots: slots(t, countOf(running)),
    date: date(reader, first),
    renewal: renewalOf(t, running),
  })
  return [line, ...late]
}

/** What is renewed: nothing, everything at its price, or so many slots. */
function renewalOf(t: Translate, running: readonly Subscription[]): string {
  const renewed = running.filter(({ autoRenew }) => autoRenew)
  if (renewed.length === 0) return t('bot:slots.sumOff')
  if (renewed.length < running.length) return slots(t, countOf(renewed))
  const prices = renewed.map((each) => priceSlots(each.quantity, each.periods).totalCredits)
  return creditsWithUsd(
    t,
    prices.reduce((sum, price) => sum + price, 0),
  )
}

function countOf(subscriptions: readonly Subscription[]): number {
  return subscriptions.reduce((sum, { quantity }) => sum + quantity, 0)
}

function subscriptionLine(reader: Reader, subscription: Subscription): string {
  const { t } = reader
  const { id: number, quantity, status, endsAt, autoRenew, nextRenewalAt } = subscription
  const values = {
    number: id(number),
    slots: slots(t, quantity),
    date: date(reader, endsAt),
    credits: creditsWithUsd(t, priceSlots(quantity, subscription.periods).totalCredits),
  }
  if (status === 'grace') {
    const end = slotsEndAt({ ...subscription, failedRenewals: 0 }) ?? endsAt
    const next = nextRenewalAt === null ? 'bot:slots.grace' : 'bot:slots.graceRenews'
    return t.html(next, { ...values, date: date(reader, end) })
  }
  return t.html(autoRenew ? 'bot:slots.renews' : 'bot:slots.ends', values)
}

/** How a quote asks for the right to spend. */
const FROM_QUOTE = { allow: 'slots.allow', style: 'primary' } as const

/** Price of slots, by duration. */
export function quoteScreen(
  reader: Reader,
  quote: SlotQuote,
  options: SpendingRights & {
    readonly renew: boolean
    /** Number of slots that can still be added. */
    readonly room: number
    readonly max: number
    /** Labels of the suspended watches, oldest first. */
    readonly waiting: readonly string[]
    /** Whether the wizard, which waits for a slot, led here. */
    readonly isFromWizard: boolean
    readonly notice?: string
  },
): View {
  const { t } = reader
  const { renew, room, max } = options
  const { quantity, periods: count, totalCredits, shortfallCredits } = quote
  const before = backFromPurchase(t, options.isFromWizard)
  if (room < 1) {
    return screen([options.notice, t.html('bot:noSlot.full', { max })], [[before]])
  }
  const asked = { quantity, periods: count, renew }
  const lines = [
    options.notice,
    ...quoteLines(reader, quote),
    waitingLine(t, options.waiting, quantity),
    creditsLine(t, quote),
    quantity >= room ? t.html('bot:slots.room', { max, room }) : undefined,
    options.canSpend ? undefined : t.html('bot:slots.noSpend'),
  ]
  const buy = act(
    t('bot:button.buyFor', { price: usdText(t, totalCredits) }),
    packed('slots.buy', { ...asked, credits: totalCredits }),
    'primary',
  )
  const isShort = shortfallCredits > 0
  const first = waysToBuy(t, buy, { ...FROM_QUOTE, canSpend: options.canSpend, isShort, asked })
  const change = (label: string, over: Partial<typeof asked>) =>
    act(label, packed('slots.quote', { ...asked, ...over }))
  return screen(lines, [
    [
      ...(quantity > 1 ? [change('−', { quantity: quantity - 1 })] : []),
      act(t('bot:button.slotCount', { count: quantity }), packed('none')),
      ...(quantity < room ? [change('+', { quantity: quantity + 1 })] : []),
    ],
    ...inRows(durationButtons(t, asked), 2),
    [change(t(renew ? 'bot:button.renewOn' : 'bot:button.renewOff'), { renew: !renew })],
    first,
    [before],
  ])
}

/** What one more term of a subscription costs, and its new end. */
export function renewalScreen(
  reader: Reader,
  { subscription, term, quote }: RenewalQuote,
  options: { readonly canSpend: boolean; readonly notice?: string },
): View {
  const { t } = reader
  const { quantity, periods: count, totalCredits, shortfallCredits } = quote
  const pay = act(
    t('bot:button.buyFor', { price: usdText(t, totalCredits) }),
    packed('slots.payTerm', { id: subscription.id, term, credits: totalCredits }),
    'primary',
  )
  const lines = [
    options.notice,
    `🎟️ <b>${t.html('notices:button.renewOnce')}</b>`,
    subscriptionLine(reader, subscription),
    t.html('bot:slots.term', {
      slots: slots(t, quantity),
      duration: periods(t, count, 'long'),
      date: date(reader, quote.endsAt),
    }),
    priceLine(t, quote),
    creditsLine(t, quote),
    options.canSpend ? undefined : t.html('bot:slots.noSpend'),
  ]
  const first = !options.canSpend
    ? act(t('bot:button.allowSpending'), packed('connect', { spend: true }))
    : shortfallCredits > 0
      ? act(t('bot:button.topUp'), packed('topup'), 'primary')
      : pay
  return screen(lines, [[first], [back(t('bot:button.slots'), packed('slots'))]])
}

/** Lines with the slots, their end and their price. */
function quoteLines(reader: Reader, quote: SlotQuote): readonly string[] {
  const { t } = reader
  return [
    `🎟️ ${t.html('bot:slots.addTitle')}`,
    t.html('bot:slots.term', {
      slots: slots(t, quote.quantity),
      duration: periods(t, quote.periods, 'long'),
      date: date(reader, quote.endsAt),
    }),
    priceLine(t, quote),
  ]
}

/** Line with the credits that are left, or missing. */
function creditsLine(
  t: Translate,
  { totalCredits, balanceCredits, shortfallCredits }: SlotQuote,
): string {
  if (shortfallCredits === 0) {
    const balance = creditsWithUsd(t, balanceCredits - totalCredits)
    return t.html('bot:slots.after', { balance })
  }
  const missing = creditsWithUsd(t, shortfallCredits)
  return `⚠️ ${t.html('bot:slots.short', { balance: creditsWithUsd(t, balanceCredits), missing })}`
}

/** The durations that are sold, each as a button that asks for it. */
function durationButtons(t: Translate, asked: ArgumentsOf<'slots.quote'>): readonly Button[] {
  return OFFERED_PERIODS.map((periods) =>
    choiceButton(
      durationLabel(t, periods),
      periods === asked.periods,
      packed('slots.quote', { ...asked, periods }),
    ),
  )
}

/** A duration with its discount. */
function durationLabel(t: Translate, count: number): string {
  const { durationDiscountBps: bps } = priceSlots(1, count)
  const discount = bps === 0 ? '' : ` · ${formatPercent(-bps / BPS, t.locale)}`
  return `${periods(t, count)}${discount}`
}

/** The price, with its discounts. */
function priceLine(t: Translate, quote: SlotQuote): string {
  const { listCredits, totalCredits, durationDiscountBps, volumeDiscountBps } = quote
  const total = creditsWithUsd(t, totalCredits)
  const discounts = [durationDiscountBps, volumeDiscountBps]
    .filter((bps) => bps > 0)
    .map((bps) => formatPercent(-bps / BPS, t.locale))
  if (discounts.length === 0) return t.html('bot:slots.total', { credits: total })
  return t.html('bot:slots.discounted', {
    credits: total,
    list: creditsWithUsd(t, listCredits),
    discounts: formatList(discounts, t.locale),
  })
}

/**
 * Screen after a purchase.
 * @param resuming labels of watches that resume
 */
export function boughtScreen(
  reader: Reader,
  subscription: Subscription,
  options: {
    readonly balanceCredits: number
    readonly resuming: readonly string[]
    /** A pending draft of a watch. */
    readonly draft: { readonly type: string; readonly rev: number } | undefined
    /** Whether a slot is free for a new watch; suspended watches may have taken all. */
    readonly hasSlot: boolean
  },
): View {
  const { t } = reader
  const { quantity, periods: count, autoRenew: renew } = subscription
  const { resuming, draft, hasSlot } = options
  const waited = firstLabels(t, resuming)
  const lines = [
    `✅ ${boughtLine(reader, subscription, options.balanceCredits)}`,
    renewalLine(t, { quantity, periods: count, renew }),
    waited === undefined ? undefined : t.html('bot:slots.resuming', { names: waited }),
  ]
  // A person without a draft gets the first question of the wizard.
  const isWizardNext = draft === undefined && hasSlot
  const next = isWizardNext
    ? inRows(typeButtons(reader), 2)
    : draft === undefined
      ? []
      : [[resumeButton(t, draft, 'primary')]]
  const question = isWizardNext ? ['', t.html('bot:new.what')] : []
  return screen([...lines, ...question], [...next, [back(t('bot:button.slots'), packed('slots'))]])
}

/** Line about the purchase and the remaining balance. */
function boughtLine(
  reader: Reader,
  { quantity, endsAt, totalCredits }: Subscription,
  balanceCredits: number,
): string {
  return reader.t.html(
    'bot:slots.bought',
    boughtValues(reader, { quantity, endsAt, totalCredits, balanceCredits }),
  )
}

/** Values of the sentence about a purchase. */
export function boughtValues(
  reader: Reader,
  bought: Pick<Subscription, 'quantity' | 'endsAt' | 'totalCredits'> & {
    readonly balanceCredits: number
  },
) {
  const { t } = reader
  return {
    slots: slots(t, bought.quantity),
    date: date(reader, bought.endsAt),
    credits: creditsWithUsd(t, bought.totalCredits),
    balance: creditsWithUsd(t, bought.balanceCredits),
  }
}

/** Every subscription that has not ended, with switches of automatic renewal. */
export function subscriptionList(
  reader: Reader,
  subscriptions: readonly Subscription[],
  options: { readonly canSpend: boolean; readonly notice?: string },
): View {
  const { t } = reader
  const lines = [
    options.notice,
    `🎟️ ${t.html('bot:slots.listTitle')}`,
    ...(subscriptions.length === 0
      ? [t.html('bot:slots.listNone')]
      : subscriptions.map((subscription) => subscriptionLine(reader, subscription))),
  ]
  return screen(lines, [
    ...inRows(
      subscriptions
        .slice(0, SWITCHES_MAX)
        .flatMap((subscription) => [renewSwitch(t, subscription), ...renewal(t, subscription)]),
      2,
    ),
    options.canSpend || subscriptions.length === 0
      ? []
      : [act(t('bot:button.allowSpending'), packed('connect', { spend: true }))],
    [back(t('bot:button.slots'), packed('slots'))],
  ])
}

/** Maximum number of subscriptions with buttons; the others follow when some have ended. */
const SWITCHES_MAX = 12

/** A subscription that does not renew by itself can be renewed once. */
function renewal(t: Translate, { id: number, autoRenew }: Subscription): readonly Button[] {
  if (autoRenew) return []
  return [act(t('bot:button.renewOnce', { number }), packed('slots.again', { id: number }))]
}

function renewSwitch(t: Translate, { id: number, autoRenew }: Subscription): Button {
  const data = packed('slots.renew', { id: number, on: !autoRenew })
  const key = autoRenew ? 'bot:button.turnRenewOff' : 'bot:button.turnRenewOn'
  return act(t(key, { number }), data)
}

function periods(t: Translate, count: number, style: 'long' | 'short' = 'short'): string {
  return formatDuration(count * PERIOD_DAYS * DAY_SECONDS, t.locale, style)
}

function date({ t, timezone }: Reader, at: Date): string {
  return formatDate(at, t.locale, timezone)
}

function slots(t: Translate, count: number): string {
  return t('units:slots', { count })
}
