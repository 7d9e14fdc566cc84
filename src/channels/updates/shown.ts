import { formatDuration } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { hasEnded } from '../card/wording.ts'
import { type Envelope, isOneAlert, type MessageState } from '../envelope.ts'
import { asRecovered } from './recovered.ts'

/** A sent message as it is shown in a state. */
export function asShown(envelope: Envelope, state: MessageState): Envelope {
  return asRecovered(asReminded(asTaken(envelope, state), state), state)
}

/**
 * A state as others than the owner see it, in a group or in a chat that only receives: the names of recipients are
 * for the owner alone, as on the pages that their links open.
 */
export function withoutNames(state: MessageState): MessageState {
  const { escalated } = state
  return escalated === undefined ? state : { ...state, escalated: { at: escalated.at, to: [] } }
}

/** A state without what people did in their own name: who acknowledged, and what they wrote. */
export function withoutPeople({ acknowledged, note: _, ...state }: MessageState): MessageState {
  return { ...state, ...(acknowledged && { acknowledged: { ...acknowledged, by: null } }) }
}

/** An escalated alert. Once somebody has acknowledged it, its text no longer says that nobody has. */
function asTaken(envelope: Envelope, { acknowledged }: MessageState): Envelope {
  const { unacknowledgedSeconds: seconds, kind, locale, message } = envelope
  if (acknowledged === undefined || seconds === undefined || !isOneAlert(kind)) return envelope
  const duration = formatDuration(seconds, locale, 'long')
  const note = translator(locale)('messages:escalated', { duration })
  const body = message.body.split('\n').filter((line) => line !== note)
  return { ...envelope, message: { ...message, body: body.join('\n') } }
}

/**
 * A reminder in its current state. Once its alert is acknowledged, muted or over, its text no longer says
 * that it is a reminder; for an alert that is over, the line below the title shows its duration.
 */
function asReminded(envelope: Envelope, state: MessageState): Envelope {
  const { acknowledged, muted } = state
  if (envelope.kind !== 'reminder') return envelope
  const isOver = hasEnded(state)
  if (acknowledged === undefined && muted === undefined && !isOver) return envelope
  const { message, answered } = envelope
  const title = isOver ? (answered?.title ?? message.title) : message.title
  return { ...envelope, message: { ...message, title, body: '' } }
}
