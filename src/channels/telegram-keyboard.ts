import { type TextKey, translator } from '#src/i18n/translate.ts'
import type { Envelope, Message, MessageState } from './define.ts'
import {
  canRecover,
  type HelpTopic,
  hasEnded,
  helpOf,
  isOpenLink,
  isRecovery,
  worstOf,
} from './wording.ts'

/**
 * The buttons below a message of the chat channel. What a button of the bot carries is written as the
 * bot's codec has it: `1:<verb>[:<argument>…]`, numbers in base 36.
 */

/** One button, as the Bot API takes it. */
export type ChatButton =
  | { readonly text: string; readonly url: string }
  | { readonly text: string; readonly callback_data: string; readonly style?: 'primary' }

export type ChatKeyboard = readonly (readonly ChatButton[])[]

/** Which part of the help each button opens, as its data says it. */
const HELP_PARTS: Readonly<Record<HelpTopic, string>> = {
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
      return [[open], [press('messages:button.muteAll1h', 'mute.all', '1h')]]
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
  const isOver = isRecovery(event) || hasEnded(state)
  if (alertId === null || message.test || isOver) return [details(message.link)]
  const id = base36(alertId)
  const acknowledge =
    state.acknowledged === undefined
      ? press('messages:button.acknowledge', 'alert.ack', id)
      : press('messages:button.undo', 'alert.unack', id)
  return [
    ...(event === 'credits.low-balance'
      ? [[{ ...press('messages:button.topUp', 'topup'), style: 'primary' as const }]]
      : []),
    [acknowledge, ...details(message.link)],
    ...(event === 'fsp.monitoring'
      ? [[press('messages:button.status', 'status')]]
      : muteButtons(envelope, message, state)),
    ...(kind === 'reminder' ? [[remindersOff(envelope)]] : []),
    helpButtons(envelope, id, state.help),
  ]
}

function muteButtons(envelope: Envelope, message: Message, { muted }: MessageState): ChatKeyboard {
  const { press } = pressesOf(envelope)
  const { alertId, watchId } = message
  if (alertId === null || watchId === null) return []
  const id = base36(alertId)
  if (muted !== undefined) {
    return muted.until === 'recovered'
      ? [[press('messages:button.unmute', 'alert.mute', id, '0')]]
      : [[press('messages:button.unmute', 'watch.unmute', base36(watchId))]]
  }
  const untilRecovered = press('messages:button.muteRecovered', 'alert.mute', id, 'rec')
  const hours = [
    press('messages:button.mute1h', 'alert.mute', id, '1h'),
    press('messages:button.mute8h', 'alert.mute', id, '8h'),
  ]
  const canBeOver = canRecover({ ...envelope, message })
  if (envelope.kind === 'reminder' || envelope.of === 'reminder')
    return canBeOver ? [[untilRecovered]] : []
  return [hours, ...(canBeOver ? [[untilRecovered]] : [])]
}

/** Why, causes, what to do, as far as the signal has them; pressed ones carry a tick. */
function helpButtons(
  envelope: Envelope,
  id: string,
  open: HelpTopic | undefined,
): readonly ChatButton[] {
  const { press } = pressesOf(envelope)
  return HELP_LABELS.flatMap(([topic, label]) => {
    if (helpOf(envelope, topic) === undefined) return []
    const button = press(label, 'alert.help', id, HELP_PARTS[topic])
    return [topic === open ? { ...button, text: `✓ ${button.text}` } : button]
  })
}

function groupButtons(
  envelope: Envelope,
  items: readonly Message[],
  state: MessageState,
): ChatKeyboard {
  const { press, list } = pressesOf(envelope)
  const open = items.filter(
    ({ event, alertId }) =>
      !isRecovery(event) && (alertId === null || !hasEnded(state.items?.get(alertId) ?? {})),
  )
  const worst = worstOf(open)
  const alerts = list('messages:button.alerts', worst?.watchId ?? envelope.message.watchId)
  if (worst === undefined || hasEnded(state)) return [[alerts]]
  const acknowledge =
    state.acknowledged === undefined
      ? [press('messages:button.acknowledgeAll', 'alert.ackAll')]
      : []
  return [
    [...acknowledge, alerts],
    ...muteButtons(envelope, worst, state),
    ...(envelope.of === 'reminder' ? [[remindersOff(envelope)]] : []),
  ]
}

function remindersOff(envelope: Envelope): ChatButton {
  return pressesOf(envelope).press('messages:button.remindersOff', 'settings.remind', 'off')
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
  const press = (label: TextKey, ...words: readonly string[]) => ({
    text: t(label),
    callback_data: ['1', ...words].join(':'),
  })
  /** The alerts of the last day, of one watch or of all. */
  const list = (label: TextKey, watchId: number | null = null) =>
    press(label, 'alert.list', `aad${watchId === null ? '' : base36(watchId)}`, '')
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

function base36(number: number): string {
  return number.toString(36)
}
