/** The screen of a new watch if no slot is free: the price of one more watch, and the ways to get it. */
import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import { MIN_TOPUP_CREDITS } from '#src/billing/price-list.ts'
import { creditsWithUsd, usdText } from '#src/billing/price-text.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import type { TextKey, Translate } from '#src/i18n/translate.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import { plainOf } from '#src/telegram/text.ts'
import { renewalLine, waitingLine } from '../../views/purchase-lines.ts'
import type { SlotUse } from '../../views/slot-use.ts'
import { act, menuButton, type Reader, screen, type View } from '../../views/view.ts'
import { type TrialOffer, trialText } from '../connect/view.ts'
import { waysToBuy } from '../slots/ways-view.ts'
import type { Draft } from './draft.ts'

/** Screen that is shown when no slot is free. Long because each line and row has a case of its own. */
export function noSlot(
  { t }: Reader,
  options: {
    readonly slots: SlotUse
    readonly slotsMax: number
    readonly slotPriceCredits: number
    readonly balanceCredits: number
    readonly canSpend: boolean
    /** The free trial, if the wallet may start it. */
    readonly trial: TrialOffer | undefined
    readonly resume: Draft | undefined
    /**
     * Labels of the watches that wait for a slot, oldest first. They get a slot before a new watch does.
     */
    readonly waiting: readonly string[]
  },
): View {
  const { slots, slotsMax, slotPriceCredits: price, balanceCredits, resume } = options
  const { used, total, waiting } = slots
  const isFull = total >= slotsMax
  const asked = { quantity: 1, periods: 1, renew: false }
  const isFirst = total === 0 && waiting === 0
  const about = isFirst ? t.html('bot:home.empty') : t.html('bot:noSlot.title', { used, total })
  const title = `🎟️ ${about}`
  const trial = isFull ? undefined : options.trial
  const lines = [
    title,
    waiting === 0 ? undefined : t.html('bot:count.suspended', { count: waiting }),
    trial && trialText(t, trial),
    ...(isFull
      ? [t.html('bot:noSlot.full', { max: slotsMax })]
      : [
          [
            t.html(isFirst ? 'bot:noSlot.first' : 'bot:noSlot.price', {
              price: creditsWithUsd(t, price),
            }),
            renewalLine(t, asked),
          ].join(' '),
          waitingLine(t, options.waiting, waiting + 1),
          balanceCredits === 0
            ? undefined
            : t.html('bot:noSlot.balance', { balance: creditsWithUsd(t, balanceCredits) }),
          balanceCredits >= price
            ? undefined
            : t.html('bot:noSlot.minimum', { price: creditsWithUsd(t, MIN_TOPUP_CREDITS) }),
        ]),
  ]
  const question = isFull || waiting === 0 ? [] : ['', t.html('bot:noSlot.howMany')]
  // The slot of a trial goes to a waiting watch, if there is one.
  const isTrialFirst = trial !== undefined && waiting === 0
  const style = isTrialFirst ? undefined : 'primary'
  const buy = waiting === 0 ? [buyOne(t, options, asked, style)] : buyFor(t, options, asked, style)
  const drop =
    used + waiting === 0 ? [] : [act(t('bot:button.deleteOne'), packed('watch.list', { page: 1 }))]
  const again =
    resume === undefined
      ? []
      : [act(t('bot:button.tryAgain'), packed('new.next', { rev: resume.rev }))]
  const start = trialRow(t, trial, isTrialFirst ? 'primary' : undefined)
  const ways = isTrialFirst ? [...start, ...buy] : [...(isFull ? [] : buy), ...start]
  const rows = [...ways, drop, again, [menuButton(t)]]
  return { ...screen([...lines, ...question], rows), toast: plainOf(title) }
}

interface Buyer {
  readonly slots: SlotUse
  readonly slotsMax: number
  readonly balanceCredits: number
  readonly canSpend: boolean
}

/** Button that starts the trial and goes on with the draft. The screen contains the terms that it accepts. */
function trialRow(t: Translate, trial: TrialOffer | undefined, style: 'primary' | undefined): Rows {
  if (trial === undefined) return []
  const data = packed('trial.start', { next: 'agreed', terms: trial.termsCode })
  return [[act(t('bot:button.startTrial'), data, style)]]
}

/** Buttons for one slot. */
function buyOne(
  t: Translate,
  buyer: Buyer,
  asked: ArgumentsOf<'slots.quote'>,
  style: 'primary' | undefined,
): readonly Button[] {
  const price = priceSlots(asked.quantity, asked.periods).totalCredits
  const label = t('bot:button.addSlot', { price: usdText(t, price) })
  const add = act(label, packed('slots.quote', asked), style)
  return waysToBuy(t, add, {
    canSpend: buyer.canSpend,
    isShort: buyer.balanceCredits < price,
    asked,
    allow: 'wizard.allow',
    style,
  })
}

/** Buttons when watches already wait for slots: buy slots for them and the new watch, or for them only. */
function buyFor(
  t: Translate,
  buyer: Buyer,
  asked: ArgumentsOf<'slots.quote'>,
  first: 'primary' | undefined,
): Rows {
  const { slots, slotsMax } = buyer
  const room = slotsMax - slots.total
  const choice = (wanted: number, key: TextKey, style?: 'primary') => {
    const quantity = Math.min(wanted, room)
    const price = priceSlots(quantity, asked.periods).totalCredits
    const of = { ...asked, quantity }
    const data =
      buyer.balanceCredits < price
        ? packed('topup.slots', of)
        : buyer.canSpend
          ? packed('slots.quote', of)
          : packed('wizard.allow', of)
    return act(t(key, { count: quantity }), data, style)
  }
  const forAll = choice(slots.waiting + 1, 'bot:button.slotsWithNew', first)
  const forWaiting = choice(slots.waiting, 'bot:button.slotsForWaiting')
  return slots.waiting < room ? [[forAll], [forWaiting]] : [[forWaiting]]
}
