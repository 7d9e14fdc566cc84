/**
 * Verbs that have a handler. A button without a handler is omitted from every screen, so that a removed
 * feature removes its buttons.
 */
import { unpacked, type Verb } from '#src/actions/codec.ts'

const verbs = new Set<Verb>()

/** Registers a verb as handled. */
export function handleVerb(verb: Verb): void {
  verbs.add(verb)
}

/** Whether a verb has a handler. */
export function isVerbHandled(verb: Verb): boolean {
  return verbs.has(verb)
}

/** Whether a press with this data has a handler. */
export function isHandled(data: string): boolean {
  const press = unpacked(data)
  return press !== undefined && isVerbHandled(press.verb)
}
