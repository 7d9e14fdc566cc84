import {
  alertsOfLast24Hours,
  argumentsOf,
  type ButtonData,
  type HelpPart,
  type MuteDuration,
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
import type { Envelope, EnvelopeMessage, MessageState } from '../envelope.ts'
import { actionableIn, groupHelp } from '../groups/group.ts'

/** Buttons below a message of the chat channel. */

/** The section of a signal's help that each help button expands, by the part in the data of the button. */
export const SIGNAL_HELP_OF_PART: Readonly<Record<HelpPart, SignalHelpSection>> = {
  w: 'why',
  c: 'causes',
  d: 'action',
}

/** Inverse of `SIGNAL_HELP_OF_PART`. */
const PART_OF_SIGNAL_HELP: Readonly<Record<SignalHelpSection, HelpPart>> = {
  why: 'w',
  causes: 'c',
  action: 'd',
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
 * @param options `isReceiveOnly`: nobody in the chat may change anything; `follows`: the provider that the chat follows
 *   without a wallet
 */
export function buttonsOf(
  envelope: Envelope,
  state: MessageState,
  {
    isReceiveOnly,
    follows,
  }: { readonly isReceiveOnly: boolean; readonly follows?: Address | undefined },
): Rows {
  if (follows !== undefined) return followerButtons(envelope, follows)
  const rows = buttonRows(envelope, state)
  const usable = isReceiveOnly
    ? rows.map((row) => row.filter((button) => !needsWrite(button)))
    : rows
  const shown = layout(usable.map((row) => row.map((button) => tickedIfOpen(button, state.help))))
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
      return packed('test.try', { what: press.args['duration'] === 'rec' ? 'rec' : 'mute' })
    case 'alert.help': {
      const { part } = argumentsOf<'alert.help'>({ verb: press.verb, args: press.args })
      return packed('test.help', { part })
    }
    default:
      return KEPT_IN_TEST.has(press.verb) && 'data' in button ? button.data : packed('test.press')
  }
}

function needsWrite(button: Button): boolean {
  const press = 'data' in button ? unpacked(button.data) : undefined
  return press !== undefined && NEEDS_WRITE.has(press.verb)
}

/** A help button has a tick while its section is expanded. */
function tickedIfOpen(button: Button, open: SignalHelpSection | undefined): Button {
  const press = 'data' in button ? unpacked(button.data) : undefined
  if (press?.verb !== 'alert.help') return button
  const isOpen = open !== undefined && press.args['part'] === PART_OF_SIGNAL_HELP[open]
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
  const { kind, message } = envelope
  const { press, details } = buttonMakers(envelope)
  const { event } = message
  const id = alertOf(envelope)
  if (id === null) return []
  if (message.isRecovery || hasEnded(state) || isOwnPayment(envelope)) {
    return [details(message.link)]
  }
  const acknowledge =
    state.acknowledged === undefined
      ? press('messages:button.acknowledge', packed('alert.ack', { id }))
      : press('messages:button.undo', packed('alert.unack', { id }))
  return [
    ...(event === 'credits.low-balance'
      ? [[{ ...press('messages:button.topUp', packed('topup')), style: 'primary' as const }]]
      : []),
    [acknowledge, ...helpButtons(envelope, id, ['action'])],
    ...(event === 'fsp.monitoring'
      ? [[press('messages:button.status', packed('status'))]]
      : muteButtons(envelope, { ...message, alertId: id }, state)),
    ...(kind === 'reminder' ? [[remindersOff(envelope)]] : []),
    [...details(message.link), ...helpButtons(envelope, id, ['why', 'causes'])],
  ]
}

/** The alert that the buttons are about; null for an example, which has no buttons. */
function alertOf(envelope: Envelope): number | null {
  const { alertId, test } = envelope.message
  if (!test) return alertId
  return isDestinationTest(envelope) ? NO_ALERT : null
}

function muteButtons(envelope: Envelope, message: EnvelopeMessage, { muted }: MessageState): Rows {
  const { press } = buttonMakers(envelope)
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
  const last = message.canRecover ? [[untilRecovered]] : []
  return envelope.kind === 'reminder' || envelope.of === 'reminder' ? last : [hours, ...last]
}

/** A help button for each of these sections that the help of the signal has. */
function helpButtons(
  envelope: Envelope,
  id: number,
  sections: readonly SignalHelpSection[],
): readonly Button[] {
  const t = translator(envelope.locale)
  return sections
    .filter((section) => helpText(t, helpRef(envelope), section) !== undefined)
    .map((section) => helpButton(envelope, id, section))
}

function helpButton(envelope: Envelope, id: number, section: SignalHelpSection): Button {
  const data = packed('alert.help', { id, part: PART_OF_SIGNAL_HELP[section] })
  return buttonMakers(envelope).press(`messages:button.${section}`, data)
}

function groupButtons(envelope: Envelope, state: MessageState): Rows {
  const { press, list } = buttonMakers(envelope)
  const worst = worstOf(actionableIn(envelope, state))
  const alerts = list('messages:button.alerts', worst?.watchId ?? envelope.message.watchId)
  if (worst === undefined || hasEnded(state)) return [[alerts]]
  const acknowledge =
    state.acknowledged === undefined
      ? press('messages:button.acknowledgeAll', packed('alert.ackAll'))
      : press('messages:button.undo', packed('alert.unackAll'))
  const help = groupHelp(envelope, state)
  return [
    [acknowledge, alerts],
    ...muteButtons(envelope, worst, state),
    ...(envelope.of === 'reminder' ? [[remindersOff(envelope)]] : []),
    ...(help === undefined ? [] : [[helpButton(envelope, help.alertId, 'action')]]),
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
