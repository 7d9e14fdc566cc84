import { packed } from '#src/actions/codec.ts'
import { formatDuration } from '#src/i18n/format.ts'
import type { Button } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import { act, type Reader } from '../../views/view.ts'

/** Button that opens the escalation of a watch, with its current state. */
export function escalationButton({ t }: Reader, { id, escalateAfterMinutes }: Watch): Button {
  const data = packed('watch.esc', { id })
  if (escalateAfterMinutes === null) return act(t('bot:button.escalationOff'), data)
  const duration = formatDuration(escalateAfterMinutes * 60, t.locale, 'short')
  return act(t('bot:button.escalation', { duration }), data)
}
