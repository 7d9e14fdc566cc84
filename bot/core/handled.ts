/**
 * Which verbs somebody handles. A button that nobody handles is left out of every screen, so a part of
 * the bot takes its buttons with it.
 */
import { unpacked, type Verb } from '#src/actions/codec.ts'

const verbs = new Set<Verb>()

/** Says that presses of a verb are handled. */
export function handleVerb(verb: Verb): void {
  verbs.add(verb)
}

/** Whether presses of a verb are handled. */
export function isVerbHandled(verb: Verb): boolean {
  return verbs.has(verb)
}

/** Whether a press with this data leads anywhere. */
export function isHandled(data: string): boolean {
  const press = unpacked(data)
  return press !== undefined && isVerbHandled(press.verb)
}
