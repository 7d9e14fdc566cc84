import type { Envelope, MessageState } from './envelope.ts'
import { asFlapping } from './flapping.ts'
import { asRecovered } from './recovered.ts'
import { asReminded } from './reminder.ts'

/** A sent message as it is shown in a state. */
export function asShown(envelope: Envelope, state: MessageState): Envelope {
  return asRecovered(asFlapping(asReminded(envelope, state), state), state)
}
