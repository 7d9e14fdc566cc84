import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { act } from '../../views/view.ts'

/** Buttons for missing prerequisites of a purchase; if nothing is missing, the purchase. */
export function waysToBuy(
  t: Translate,
  buy: Button,
  options: {
    readonly canSpend: boolean
    /** Whether credits are missing. */
    readonly isShort: boolean
    /** The quote that is shown again when the chat may spend. */
    readonly asked: ArgumentsOf<'slots.quote'>
    /** Requests the right to spend; its screen leads back to the quote or to the wizard. */
    readonly allow: 'slots.allow' | 'wizard.allow'
    readonly style: 'primary' | undefined
  },
): readonly Button[] {
  const { canSpend, isShort, asked, allow, style } = options
  if (canSpend && !isShort) return [buy]
  if (!isShort) {
    return [act(t('bot:button.allowSpending'), packed(allow, asked), style)]
  }
  // The slots are bought when the top-up is credited.
  return [
    act(t('bot:button.payForSlots'), packed('topup.slots', asked), style),
    ...(canSpend ? [] : [act(t('bot:button.topUp'), packed('topup'))]),
  ]
}
