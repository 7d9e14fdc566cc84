import { packed } from '#src/actions/codec.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { typed } from '#src/i18n/translate.ts'
import type { Button } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import {
  act,
  back,
  choiceButton,
  inRows,
  labelWithName,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
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
const WAITS: readonly number[] = [0, 5, 15]
/** Maximum number of recipients on the screen. Further ones can only be named through the API. */
const RECIPIENTS_SHOWN_MAX = 8

/**
 * Screen of a watch's escalation: the wait, and a button to the choice of who is told then. If the watch tells
 * everybody at once, it offers to tell one of them later.
 */
export function escalationScreen(reader: Reader, watch: Watch, people: WalletRecipients): View {
  const { t } = reader
  const { id, label, escalateAfterMinutes, escalateTo } = watch
  const notified = notifiedBy(watch.recipientIds, people)
  const offered = offeredTo(watch, people)
  const chosen = offered.filter(({ id: recipient }) => isTicked(watch, recipient))
  const later = offered.length === 0 ? laterOf(notified) : undefined
  const isOn = escalateAfterMinutes !== null
  const lines = [
    t.html('bot:escalation.title', { label: typed(label) }),
    t.html('bot:escalation.help'),
    '',
    ...chosen.map((choice) => recipientLine(reader, choice, true)),
    offered.length === 0 ? t.html('bot:escalation.allAtOnce') : undefined,
    offered.length > 0 && isOn && escalateTo.length === 0
      ? `⚠️ ${t.html('bot:escalation.none')}`
      : undefined,
  ]
  const current = escalateAfterMinutes ?? 0
  const waits = WAITS.includes(current) ? WAITS : [...WAITS, current]
  const buttons = waits.map((minutes) => {
    const text =
      minutes === 0 ? t('bot:value.off') : formatDuration(minutes * 60, t.locale, 'short')
    return choiceButton(text, current === minutes, packed('watch.escAfter', { id, minutes }))
  })
  return screen(lines, [
    buttons,
    offered.length === 0 ? [] : [act(t('bot:button.escalateTo'), packed('watch.escWho', { id }))],
    later === undefined ? [] : [laterButton(reader, id, later)],
    [back(t('bot:button.recipients'), packed('watch.who', { id, page: 1 }))],
  ])
}

/**
 * Choice of the recipients that a watch tells when nobody has acknowledged: those that it does not tell at once; last,
 * those where nobody can acknowledge. A chosen one can always be unticked.
 */
export function escalationChoice(reader: Reader, watch: Watch, people: WalletRecipients): View {
  const { t } = reader
  const { id, label } = watch
  const offered = offeredTo(watch, people)
  const toggles = offered.flatMap((choice) => {
    if (choice.id === undefined) return []
    const mark = isTicked(watch, choice.id) ? '✓' : '○'
    const name = labelWithName(
      recipientName(reader, choice),
      (text) => `${mark} ${isolate(text)}`,
      2,
    )
    return [act(name, packed('watch.escFlip', { id, recipient: choice.id }))]
  })
  const lines = [
    t.html('bot:escalation.title', { label: typed(label) }),
    ...offered.map((choice) => recipientLine(reader, choice, isTicked(watch, choice.id))),
  ]
  return screen(lines, [
    ...inRows(toggles, 2),
    [back(t('bot:button.back'), packed('watch.esc', { id }))],
  ])
}

/** The recipients that are offered for the escalation. */
function offeredTo(watch: Watch, people: WalletRecipients): readonly RecipientChoice[] {
  const notified = notifiedBy(watch.recipientIds, people)
  return allChoices(people)
    .filter((choice) => isTicked(watch, choice.id) || !notified.some(({ id }) => id === choice.id))
    .toSorted(acknowledgingFirst)
    .slice(0, RECIPIENTS_SHOWN_MAX)
}

function isTicked({ escalateTo }: Watch, recipient: number | undefined): boolean {
  return recipient !== undefined && escalateTo.includes(recipient)
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
