import { packed } from '#src/actions/codec.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { act, back } from '../../views/view.ts'
import { typeName } from '../../views/watch-facts.ts'

/** Button back to a pending draft of a watch. */
export function resumeButton(
  t: Translate,
  { type, rev }: { readonly type: string; readonly rev: number },
  style?: 'primary',
): Button {
  const label = t('bot:button.resumeDraft', { type: typeName(t, type) })
  return act(label, packed('new.next', { rev }), style)
}

/** Button back from a purchase of slots: to the wizard, whose draft waits for a slot, or to the slots. */
export function backFromPurchase(t: Translate, isFromWizard: boolean): Button {
  return isFromWizard
    ? back(t('bot:button.back'), packed('new.start'))
    : back(t('bot:button.slots'), packed('slots'))
}
