import {
  alertsOfLast24Hours,
  type ButtonData,
  type MuteDuration,
  type PartCode,
  type Press,
  packed,
  unpacked,
  type Verb,
} from '#src/actions/codec.ts'
import { helpText, type SignalHelpSection } from '#src/i18n/signal-help.ts'
import { type TextKey, translator } from '#src/i18n/translate.ts'
import type { Address } from '#src/kernel/units.ts'
import { type Button, layout, type Rows } from '#src/telegram/buttons.ts'
import { helpRef, isOwnPayment } from '../card/transfer.ts'
import { hasEnded, isOpenLink, worstOf } from '../card/wording.ts'
import type { Envelope, EnvelopeMessage, MessageState, OpenPart } from '../envelope.ts'
import { actionableIn, groupHelp } from '../groups/group.ts'

/** Buttons below a message of the chat channel. */

/** What each button opens below a message, by the part in the data of the button. */
export const PART_OF_CODE: Readonly<Record<PartCode, OpenPart>> = {
  w: 'why',
  c: 'causes',
  d: 'action',
  m: 'mute',
}

/** Inverse of `PART_OF_CODE`. */
const CODE_OF_PART: Readonly<Record<OpenPart, PartCode>> = {
  why: 'w',
  causes: 'c',
  action: 'd',
  mute: 'm',
}

/**
 * Verbs of these buttons that need the right `write`. `mute.all` is not among them: it mutes the chat itself, which
 * needs no right.
 */
const NEEDS_WRITE: ReadonlySet<Verb> = new Set([
  'alert.ack',
  'alert.unack',
  'alert.ackAll',
  'alert.unackAll',
  'alert.mute',
  'watch.mute',
  'watch.unmute',
  'settings.remind',
])

/** Verbs whose buttons work in a test as in an alert, because they open a screen that is not about the alert. */
const KEPT_IN_TEST: ReadonlySet<Verb> = new Set(['topup', 'status'])

/**
 * Id with which the buttons of a test are made, because a test has no alert. It is not sent: `asTestButton` replaces
 * the data of these buttons.
 */
const NO_ALERT = 1

/**
 * Buttons of an envelope, in rows.
 * @param options `isReceiveOnly`: nobody in the chat may change anything; `isPublic`: everybody may read the chat and
 *   press, so there are links only; `follows`: the provider that the chat follows
 *   without a wallet
 */
export function buttonsOf(
  envelope: Envelope,
  state: MessageState,
  {
    isReceiveOnly,
    isPublic = false,
    follows,
  }: {
    readonly isReceiveOnly: boolean
    readonly isPublic?: boolean
    readonly follows?: Address | undefined
  },
): Rows {
  if (follows !== undefined) return followerButtons(envelope, follows)
  const rows = buttonRows(envelope, state)
  if (isPublic) return layout(rows.map((row) => row.filter((button) => 'url' in button)))
  const usable = isReceiveOnly
    ? rows.map((row) => row.filter((button) => !needsWrite(button)))
    : rows
  const shown = layout(usable.map((row) => row.map((button) => tickedIfOpen(button, state.open))))
  return isDestinationTest(envelope) ? shown.map((row) => row.map(asTestButton)) : shown
}

/** What a follower can do about an alert: watch the provider with a wallet. */
function followerButtons({ locale }: Envelope, provider: Address): Rows {
  const data = packed('connect.watch', { type: 'provider-fsp', address: provider })
  return [[{ label: translator(locale)('messages:button.fullWatch'), data }]]
}

/** Whether a message is the test of a destination; other tests show an example. */
function isDestinationTest({ data, message }: Envelope): boolean {
  return message.test && data['test'] === true
}

/** A button as a test shows it. A press that would change an alert or a watch says what it would do instead. */
function asTestButton(button: Button): Button {
  const press = 'data' in button ? unpacked(button.data) : undefined
  return press === undefined ? button : { ...button, data: dataOfTest(button, press) }
}

function dataOfTest(button: Button, press: Press): ButtonData | string {
  switch (press.verb) {
    case 'alert.ack':
      return packed('test.try', { what: 'ack' })
    case 'alert.mute':
      return packed('test.try', { what: press.args.duration === 'rec' ? 'rec' : 'mute' })
    case 'alert.open': {
      const { part } = press.args
      return packed('test.open', { part })
    }
    default:
      return KEPT_IN_TEST.has(press.verb) && 'data' in button ? button.data : packed('test.press')
  }
}

/** Whether a button opens the ways to mute. */
function opensMute(press: Press): boolean {
  return press.verb === 'alert.open' && press.args.part === 'm'
}

function needsWrite(button: Button): boolean {
  const press = 'data' in button ? unpacked(button.data) : undefined
  return press !== undefined && (NEEDS_WRITE.has(press.verb) || opensMute(press))
}

/** A help button has a tick while its section is expanded. */
function tickedIfOpen(button: Button, open: OpenPart | undefined): Button {
  const press = 'data' in button ? unpacked(button.data) : undefined
  if (press?.verb !== 'alert.open' || opensMute(press)) return button
  const isOpen = open !== undefined && press.args.part === CODE_OF_PART[open]
  return { ...button, isTicked: isOpen }
}

function buttonRows(envelope: Envelope, state: MessageState): Rows {
  const { kind = 'alert', buttons } = envelope
  switch (kind) {
    case 'alert':
    case 'raised':
    case 'reminder':
      return alertButtons(envelope, state)
    case 'group':
      return groupButtons(envelope, state)
    case 'rollup': {
      const { open, press } = buttonMakers(envelope)
      return [[open], [press('messages:button.muteAll1h', packed('mute.all', { duration: '1h' }))]]
    }
    case 'summary':
      return buttons === undefined ? [[buttonMakers(envelope).open]] : ownButtons(envelope)
    case 'notice':
      return ownButtons(envelope)
    default:
      return kind satisfies never
  }
}

function alertButtons(envelope: Envelope, state: MessageState): Rows {
  const { message } = envelope
  const { press, details } = buttonMakers(envelope)
  const { event, severity } = message
  const id = alertOf(envelope)
  if (id === null) return []
  const isInfo = severity === 'info' || isOwnPayment(envelope)
  if (message.isRecovery || hasEnded(state) || isInfo) return [details(message.link)]
  const muting = { ...message, alertId: id }
  if (isMuting(state)) return muteRows(envelope, muting)
  const [help, ...further] = helpButtons(envelope, id)
  const isHelped = state.open !== undefined && state.open !== 'mute'
  const topUp = { ...press('messages:button.topUp', packed('topup')), style: 'primary' as const }
  const acknowledge =
    state.acknowledged === undefined
      ? press('messages:button.acknowledge', packed('alert.ack', { id }))
      : press('messages:button.undo', packed('alert.unack', { id }))
  return [
    event === 'credits.low-balance' ? [topUp] : [],
    [acknowledge, ...(help === undefined ? [] : [help])],
    // While the help is read, its further sections have the place of the other buttons.
    isHelped
      ? further
      : [
          event === 'fsp.monitoring'
            ? press('messages:button.status', packed('status'))
            : muteButton(envelope, muting, state),
          ...details(message.link),
        ],
  ]
}

/** The alert that the buttons are about; null for an example, which has no buttons. */
function alertOf(envelope: Envelope): number | null {
  const { alertId, test } = envelope.message
  if (!test) return alertId
  return isDestinationTest(envelope) ? NO_ALERT : null
}

/** Whether the ways to mute are open below a message that is not muted. */
function isMuting({ open, muted }: MessageState): boolean {
  return open === 'mute' && muted === undefined
}

/** An alert that can be muted. */
type MutedAlert = Pick<EnvelopeMessage, 'watchId' | 'canRecover'> & { readonly alertId: number }

/** Button that opens the ways to mute, or ends the mute. */
function muteButton(
  envelope: Envelope,
  { alertId: id, watchId }: MutedAlert,
  { muted }: MessageState,
): Button {
  const { press } = buttonMakers(envelope)
  if (muted === undefined) {
    return press('messages:button.mute', packed('alert.open', { id, part: 'm' }))
  }
  const unmute =
    muted.until === 'recovered' || watchId === null
      ? packed('alert.mute', { id, duration: '0' })
      : packed('watch.unmute', { id: watchId })
  return press('messages:button.unmute', unmute)
}

/** The ways to mute. Those of a reminder end its reminders, too. */
function muteRows(envelope: Envelope, { alertId: id, watchId, canRecover }: MutedAlert): Rows {
  const { press } = buttonMakers(envelope)
  const mute = (label: TextKey, duration: MuteDuration) =>
    press(label, packed('alert.mute', { id, duration }))
  const isReminder = envelope.kind === 'reminder' || envelope.of === 'reminder'
  const close = press('messages:button.back', packed('alert.open', { id, part: 'm' }))
  return [
    [mute('messages:button.mute1h', '1h'), mute('messages:button.mute8h', '8h')],
    canRecover ? [mute('messages:button.muteRecovered', 'rec')] : [],
    [
      ...(watchId === null
        ? []
        : [press('messages:button.muteWatch', packed('watch.mute', { id: watchId }))]),
      ...(isReminder ? [remindersOff(envelope)] : []),
    ],
    [{ ...close, label: `‹ ${close.label}` }],
  ]
}

/** A help button for each section that the help of the signal has; first, what to do. */
function helpButtons(envelope: Envelope, id: number): readonly Button[] {
  const t = translator(envelope.locale)
  const sections: readonly SignalHelpSection[] = ['action', 'why', 'causes']
  return sections
    .filter((section) => helpText(t, helpRef(envelope), section) !== undefined)
    .map((section) => helpButton(envelope, id, section))
}

function helpButton(envelope: Envelope, id: number, section: SignalHelpSection): Button {
  const data = packed('alert.open', { id, part: CODE_OF_PART[section] })
  return buttonMakers(envelope).press(`messages:button.${section}`, data)
}

function groupButtons(envelope: Envelope, state: MessageState): Rows {
  const { press, list } = buttonMakers(envelope)
  const worst = worstOf(actionableIn(envelope, state))
  const alerts = list('messages:button.alerts', worst?.watchId ?? envelope.message.watchId)
  const id = worst?.alertId ?? null
  if (worst === undefined || id === null || worst.severity === 'info' || hasEnded(state)) {
    return [[alerts]]
  }
  const muting = { ...worst, alertId: id }
  if (isMuting(state)) return muteRows(envelope, muting)
  const acknowledge =
    state.acknowledged === undefined
      ? press('messages:button.acknowledgeAll', packed('alert.ackAll'))
      : press('messages:button.undo', packed('alert.unackAll'))
  const help = groupHelp(envelope, state)
  return [
    [acknowledge, ...(help === undefined ? [] : [helpButton(envelope, help.alertId, 'action')])],
    [muteButton(envelope, muting, state), alerts],
  ]
}

function remindersOff(envelope: Envelope): Button {
  return buttonMakers(envelope).press(
    'messages:button.remindersOff',
    packed('settings.remind', { choice: 'off' }),
  )
}

/** Buttons of the envelope. A page that cannot be on a button is omitted here and shown as text. */
function ownButtons({ buttons = [] }: Envelope): Rows {
  return buttons.map((row) =>
    row.flatMap((button): Button[] => {
      if ('act' in button) return [{ label: button.label, data: button.act }]
      return isOpenLink(button.url) ? [{ label: button.label, url: button.url }] : []
    }),
  )
}

function buttonMakers({ locale }: Envelope) {
  const t = translator(locale)
  const press = (label: TextKey, data: ButtonData) => ({ label: t(label), data })
  /** Button that lists the alerts of the last day, of one watch or of all. */
  const list = (label: TextKey, watchId: number | null = null) =>
    press(label, alertsOfLast24Hours(watchId ?? undefined))
  return {
    press,
    list,
    open: { ...list('messages:button.open'), style: 'primary' as const },
    details: (url: string) => (isOpenLink(url) ? [{ label: t('messages:details'), url }] : []),
  }
}
