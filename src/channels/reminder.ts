import type { Envelope, MessageState } from './define.ts'
import { hasEnded } from './wording.ts'

/**
 * A reminder as it stands: once its alert is acknowledged, silenced or over, nobody is reminded any more,
 * and it does not say so. Of an alert that is over the line below the title says how long it was open.
 */
export function asReminded(envelope: Envelope, state: MessageState): Envelope {
  const { acknowledged, muted } = state
  if (envelope.kind !== 'reminder') return envelope
  const isOver = hasEnded(state)
  if (acknowledged === undefined && muted === undefined && !isOver) return envelope
  const { message, answered } = envelope
  const title = isOver ? (answered?.title ?? message.title) : message.title
  return { ...envelope, message: { ...message, title, body: '' } }
}
