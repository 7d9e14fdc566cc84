import { packed } from '#src/actions/codec.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { act } from '../../views/view.ts'
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
