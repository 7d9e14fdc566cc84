/**
 * Verbs that have a handler, with the right to press them. A button without a handler is omitted from every
 * screen, so that a removed feature removes its buttons.
 */
import { type ArgumentsOf, isPressOf, type Press, unpacked, type Verb } from '#src/actions/codec.ts'

/** Who may press a button. By default: in a linked chat, in groups administrators who linked the wallet. */
export interface PressRights<V extends Verb = Verb> {
  /** Whether the button may also be pressed in chats without a link. */
  readonly unlinked?: boolean
  /**
   * Who may press in groups: every member, for presses that change nothing; every member whom the owner of the link lets
   * acknowledge; or every administrator.
   */
  readonly members?: 'all' | 'acknowledging' | 'administrators'
  /** If set, presses in groups are refused, with a link with this payload into the private chat. */
  readonly privately?: string | ((args: ArgumentsOf<V>) => string)
}

/** Rights to a press of one verb, whatever its arguments. */
type StoredRights = Omit<PressRights, 'privately'> & {
  readonly privately: (press: Press) => string | undefined
}

const verbs = new Map<Verb, StoredRights>()

/** Registers a verb as handled. */
export function registerVerb<V extends Verb>(verb: V, rights: PressRights<V> = {}): void {
  const { privately, ...others } = rights
  verbs.set(verb, {
    ...others,
    privately: (press) => {
      if (typeof privately !== 'function') return privately
      return isPressOf(press, verb) ? privately(press.args) : undefined
    },
  })
}

/** The rights to a verb; undefined if the verb has no handler. */
export function rightsTo(verb: Verb): StoredRights | undefined {
  return verbs.get(verb)
}

/** Whether a verb has a handler. */
export function isVerbHandled(verb: Verb): boolean {
  return verbs.has(verb)
}

/** Whether a press with this data has a handler. */
export function isButtonHandled(data: string): boolean {
  const press = unpacked(data)
  return press !== undefined && isVerbHandled(press.verb)
}
