import { hasEnded } from '../card/wording.ts'
import type { Envelope, MessageState } from '../envelope.ts'

/**
 * A reminder in its current state. Once its alert is acknowledged, muted or over, its text no longer says
 * that it is a reminder; for an alert that is over, the line below the title shows its duration.
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
