import { packed } from '#src/actions/codec.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { typed } from '#src/i18n/translate.ts'
import type { Button } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import {
  act,
  choiceButton,
  inRows,
  labelWithName,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { backToCard } from './edit-view.ts'
import {
  allChoices,
  notifiedBy,
  type RecipientChoice,
  recipientLine,
  recipientName,
  type WalletRecipients,
} from './people-view.ts'

/** Wait in minutes of a recipient that hears later from now on. */
export const LATER_MINUTES = 15
/** Offered waits for an acknowledgement, in minutes; 0 for no escalation. */
const WAITS = [0, 5, 15, 30, 60] as const
/** Maximum number of recipients on the screen. Further ones can only be named through the API. */
const RECIPIENTS_SHOWN_MAX = 8

/**
 * Screen of a watch's escalation: the wait, and the further recipients of unacknowledged alerts. It offers those that
 * the watch does not tell at once; last, those where nobody can acknowledge. A chosen one can always be unticked. If
 * the watch tells everybody at once, it offers to tell one of them later.
 */
export function escalationScreen(reader: Reader, watch: Watch, people: WalletRecipients): View {
  const { t } = reader
  const { id, label, escalateAfterMinutes, escalateTo } = watch
  const isTicked = (recipient: number | undefined) =>
    recipient !== undefined && escalateTo.includes(recipient)
  const notified = notifiedBy(watch.recipientIds, people)
  const isNotified = (recipient: number | undefined) =>
    notified.some((choice) => choice.id === recipient)
  const shown = allChoices(people)
    .filter(({ id: recipient }) => isTicked(recipient) || !isNotified(recipient))
    .toSorted(acknowledgingFirst)
    .slice(0, RECIPIENTS_SHOWN_MAX)
  const later = shown.length === 0 ? laterOf(notified) : undefined
  const isOn = escalateAfterMinutes !== null
  const lines = [
    t.html('bot:escalation.title', { label: typed(label) }),
    t.html('bot:escalation.help'),
    '',
    ...shown.map((choice) => recipientLine(reader, choice, isTicked(choice.id))),
    shown.length === 0 ? t.html('bot:escalation.allAtOnce') : undefined,
    shown.length > 0 && isOn && escalateTo.length === 0
      ? `⚠️ ${t.html('bot:escalation.none')}`
      : undefined,
  ]
  const waits = WAITS.map((minutes) => {
    const text =
      minutes === 0 ? t('bot:value.off') : formatDuration(minutes * 60, t.locale, 'short')
    const isChosen = (escalateAfterMinutes ?? 0) === minutes
    return choiceButton(text, isChosen, packed('watch.escAfter', { id, minutes }))
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
    later === undefined ? [] : [laterButton(reader, id, later)],
    [backToCard(watch), act(t('bot:button.recipients'), packed('watch.who', { id, page: 1 }))],
  ])
}

function acknowledgingFirst(a: RecipientChoice, b: RecipientChoice): number {
  const rank = ({ channel }: RecipientChoice) => (CHANNELS[channel].canAcknowledge ? 0 : 1)
  return rank(a) - rank(b)
}

/** Of several recipients that are notified at once, one that can be notified later: not this chat, and if possible one that can acknowledge. */
function laterOf(notified: readonly RecipientChoice[]): RecipientChoice | undefined {
  if (notified.length < 2) return undefined
  const others = notified.filter(({ id, isHere }) => id !== undefined && !isHere)
  return others.findLast(({ channel }) => CHANNELS[channel].canAcknowledge) ?? others.at(-1)
}

function laterButton(reader: Reader, watch: number, choice: RecipientChoice): Button {
  const { t } = reader
  const label = labelWithName(recipientName(reader, choice), (name) =>
    t('bot:button.escalateLater', { name: typed(name) }),
  )
  return act(label, packed('watch.escLater', { id: watch, recipient: choice.id ?? 0 }))
}
