import { alertsOfTheDay, type HelpPart, type MuteDuration, packed } from '#src/actions/codec.ts'
import { type TextKey, translator } from '#src/i18n/translate.ts'
import type { Envelope, EnvelopeMessage, MessageState } from './define.ts'
import { type HelpTopic, hasEnded, helpOf, isOpenLink, worstOf } from './wording.ts'

/** The buttons below a message of the chat channel. */

/** One button, as the Bot API takes it. */
export type ChatButton =
  | { readonly text: string; readonly url: string }
  | { readonly text: string; readonly callback_data: string; readonly style?: 'primary' }

export type ChatKeyboard = readonly (readonly ChatButton[])[]

/** Which part of the help each button opens. */
const HELP_PARTS: Readonly<Record<HelpTopic, HelpPart>> = {
  why: 'w',
  causes: 'c',
  action: 'd',
}

const HELP_LABELS: readonly (readonly [HelpTopic, TextKey])[] = [
  ['why', 'messages:button.why'],
  ['causes', 'messages:button.causes'],
  ['action', 'messages:button.action'],
]

/** Most code points of a label by how many buttons share its row, beginning with one. */
const LABEL_BUDGETS = [24, 16, 10] as const

/** The buttons of an envelope, as far as a message of its kind has some. */
export function keyboardOf(envelope: Envelope, state: MessageState): ChatKeyboard {
  return layout(drawn(envelope, state))
}

function drawn(envelope: Envelope, state: MessageState): ChatKeyboard {
  const { kind = 'alert', message, items = [], buttons } = envelope
  switch (kind) {
    case 'alert':
    case 'raised':
    case 'reminder':
      return alertButtons(envelope, state)
    case 'group':
      return groupButtons(envelope, items.length === 0 ? [message] : items, state)
    case 'rollup': {
      const { open, press } = pressesOf(envelope)
      return [[open], [press('messages:button.muteAll1h', packed('mute.all', { duration: '1h' }))]]
    }
    case 'summary':
      return buttons === undefined ? [[pressesOf(envelope).open]] : givenButtons(envelope)
    case 'notice':
      return givenButtons(envelope)
    default:
      return kind satisfies never
  }
}

function alertButtons(envelope: Envelope, state: MessageState): ChatKeyboard {
  const { kind, message } = envelope
  const { press, details } = pressesOf(envelope)
  const { alertId, event } = message
  const isOver = message.isRecovery || hasEnded(state)
  if (alertId === null || message.test || isOver) return [details(message.link)]
  const id = alertId
  const acknowledge =
    state.acknowledged === undefined
      ? press('messages:button.acknowledge', packed('alert.ack', { id }))
      : press('messages:button.undo', packed('alert.unack', { id }))
  return [
    ...(event === 'credits.low-balance'
      ? [[{ ...press('messages:button.topUp', packed('topup')), style: 'primary' as const }]]
      : []),
    [acknowledge, ...details(message.link)],
    ...(event === 'fsp.monitoring'
      ? [[press('messages:button.status', packed('status'))]]
      : muteButtons(envelope, message, state)),
    ...(kind === 'reminder' ? [[remindersOff(envelope)]] : []),
    helpButtons(envelope, id, state.help),
  ]
}

function muteButtons(
  envelope: Envelope,
  message: EnvelopeMessage,
  { muted }: MessageState,
): ChatKeyboard {
  const { press } = pressesOf(envelope)
  const { alertId, watchId } = message
  if (alertId === null || watchId === null) return []
  const mute = (label: TextKey, duration: MuteDuration) =>
    press(label, packed('alert.mute', { id: alertId, duration }))
  if (muted !== undefined) {
    return muted.until === 'recovered'
      ? [[mute('messages:button.unmute', '0')]]
      : [[press('messages:button.unmute', packed('watch.unmute', { id: watchId }))]]
  }
  const untilRecovered = mute('messages:button.muteRecovered', 'rec')
  const hours = [mute('messages:button.mute1h', '1h'), mute('messages:button.mute8h', '8h')]
  const canBeOver = message.canRecover
  if (envelope.kind === 'reminder' || envelope.of === 'reminder')
    return canBeOver ? [[untilRecovered]] : []
  return [hours, ...(canBeOver ? [[untilRecovered]] : [])]
}

/** Why, causes, what to do, as far as the signal has them; pressed ones carry a tick. */
function helpButtons(
  envelope: Envelope,
  id: number,
  open: HelpTopic | undefined,
): readonly ChatButton[] {
  const { press } = pressesOf(envelope)
  return HELP_LABELS.flatMap(([topic, label]) => {
    if (helpOf(envelope, topic) === undefined) return []
    const button = press(label, packed('alert.help', { id, part: HELP_PARTS[topic] }))
    return [topic === open ? { ...button, text: `✓ ${button.text}` } : button]
  })
}

function groupButtons(
  envelope: Envelope,
  items: readonly EnvelopeMessage[],
  state: MessageState,
): ChatKeyboard {
  const { press, list } = pressesOf(envelope)
  const open = items.filter(
    ({ isRecovery, alertId }) =>
      !isRecovery && (alertId === null || !hasEnded(state.items?.get(alertId) ?? {})),
  )
  const worst = worstOf(open)
  const alerts = list('messages:button.alerts', worst?.watchId ?? envelope.message.watchId)
  if (worst === undefined || hasEnded(state)) return [[alerts]]
  const acknowledge =
    state.acknowledged === undefined
      ? [press('messages:button.acknowledgeAll', packed('alert.ackAll'))]
      : []
  return [
    [...acknowledge, alerts],
    ...muteButtons(envelope, worst, state),
    ...(envelope.of === 'reminder' ? [[remindersOff(envelope)]] : []),
  ]
}

function remindersOff(envelope: Envelope): ChatButton {
  return pressesOf(envelope).press(
    'messages:button.remindersOff',
    packed('settings.remind', { choice: 'off' }),
  )
}

/** Those the envelope carries; a page that cannot be on a button is left out here and told as text. */
function givenButtons({ buttons = [] }: Envelope): ChatKeyboard {
  return buttons.map((row) =>
    row.flatMap((button): ChatButton[] => {
      if ('act' in button) return [{ text: button.label, callback_data: button.act }]
      return isOpenLink(button.url) ? [{ text: button.label, url: button.url }] : []
    }),
  )
}

function pressesOf({ locale }: Envelope) {
  const t = translator(locale)
  const press = (label: TextKey, data: string) => ({ text: t(label), callback_data: data })
  /** The alerts of the last day, of one watch or of all. */
  const list = (label: TextKey, watchId: number | null = null) =>
    press(label, alertsOfTheDay(watchId ?? undefined))
  return {
    press,
    list,
    open: { ...list('messages:button.open'), style: 'primary' as const },
    details: (url: string) => (isOpenLink(url) ? [{ text: t('messages:details'), url }] : []),
  }
}

/**
 * Rows as they fit: three, two or one button each, in the order drawn. A label that is too long for
 * its row moves its buttons to wider ones.
 */
function layout(rows: ChatKeyboard): ChatKeyboard {
  return rows.flatMap((row) => {
    const fitting: ChatButton[][] = []
    let rest = [...row]
    while (rest.length > 0) {
      const count = [3, 2].find((size) => fits(rest.slice(0, size), size)) ?? 1
      fitting.push(rest.slice(0, count))
      rest = rest.slice(count)
    }
    return fitting
  })
}

function fits(buttons: readonly ChatButton[], size: number): boolean {
  const budget = LABEL_BUDGETS[size - 1] ?? 0
  return buttons.length === size && buttons.every(({ text }) => [...text].length <= budget)
}
