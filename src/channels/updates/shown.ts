import type { Envelope, MessageState } from '../envelope.ts'
import { asRecovered } from './recovered.ts'
import { asReminded } from './reminder.ts'
import { asTaken } from './taken.ts'

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
