import type { Envelope, MessageState } from './define.ts'

/**
 * A reminder as it stands: once its alert is acknowledged, silenced or over, nobody is reminded any more,
 * and it does not say so. Of an alert that is over the line below the title says how long it was open.
 */
export function asReminded(envelope: Envelope, state: MessageState): Envelope {
  const { acknowledged, muted, recoveredAt } = state
  if (envelope.kind !== 'reminder') return envelope
  if (acknowledged === undefined && muted === undefined && recoveredAt === undefined)
    return envelope
  const { message, answered } = envelope
  const title = recoveredAt === undefined ? message.title : (answered?.title ?? message.title)
  return { ...envelope, message: { ...message, title, body: '' } }
}
