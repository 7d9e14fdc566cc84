import { packed } from '#src/actions/codec.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { typed } from '#src/i18n/translate.ts'
import type { Watch } from '#src/watches/model.ts'
import { act, inRows, labelWithName, type Reader, screen, type View } from '../../views/view.ts'
import { backToCard } from './edit-view.ts'
import { allChoices, recipientLine, recipientName, type WalletRecipients } from './people-view.ts'

/** Offered waits for an acknowledgement, in minutes; 0 for no escalation. */
const WAITS = [0, 5, 15, 30, 60] as const
/** Maximum number of recipients on the screen. Further ones can only be named through the API. */
const RECIPIENTS_SHOWN_MAX = 8

/**
 * Screen of a watch's escalation: the wait, and the further recipients of unacknowledged alerts.
 */
export function escalationScreen(reader: Reader, watch: Watch, people: WalletRecipients): View {
  const { t } = reader
  const { id, label, escalateAfterMinutes, escalateTo } = watch
  const shown = allChoices(people).slice(0, RECIPIENTS_SHOWN_MAX)
  const isTicked = (recipient: number | undefined) =>
    recipient !== undefined && escalateTo.includes(recipient)
  const isOn = escalateAfterMinutes !== null
  const lines = [
    t.html('bot:escalation.title', { label: typed(label) }),
    t.html('bot:escalation.help'),
    '',
    ...shown.map((choice) => recipientLine(reader, choice, isTicked(choice.id))),
    isOn && escalateTo.length === 0 ? `⚠️ ${t.html('bot:escalation.none')}` : undefined,
  ]
  const waits = WAITS.map((minutes) => {
    const text =
      minutes === 0 ? t('bot:value.off') : formatDuration(minutes * 60, t.locale, 'short')
    const isChosen = (escalateAfterMinutes ?? 0) === minutes
    return act(isChosen ? `✓ ${text}` : text, packed('watch.escAfter', { id, minutes }))
  })
  const toggles = shown.flatMap((choice) => {
    if (choice.id === undefined) return []
    const mark = isTicked(choice.id) ? '✓' : '○'
    const name = labelWithName(
      recipientName(reader, choice),
      (text) => `${mark} ${isolate(text)}`,
      2,
    )
    return [act(name, packed('watch.escFlip', { id, recipient: choice.id }))]
  })
  return screen(lines, [
    ...inRows(waits, 3),
    ...inRows(toggles, 2),
    [backToCard(watch), act(t('bot:button.recipients'), packed('watch.who', { id, page: 1 }))],
  ])
}
