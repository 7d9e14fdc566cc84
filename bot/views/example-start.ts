import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import type { HelpPart } from '#src/actions/verbs.ts'
import type { ExampleKind } from '#src/alerts/messages/example.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { act } from './view.ts'

/** What a button of the example does: `s` opens it, `a` acknowledges, `m` mutes, others open a section of the help. */
export type ExamplePart = 's' | 'a' | 'm' | HelpPart

/** The same parts in button data of the example for wallets. Data of the example for providers has the keys. */
export const WALLET_PARTS = { s: 'S', a: 'A', m: 'M', w: 'W', c: 'C', d: 'D' } as const

/** Letter of a part in button data of one kind of example. */
export function partOfKind(part: ExamplePart, kind: ExampleKind): ArgumentsOf<'demo'>['part'] {
  return kind === 'wallet' ? WALLET_PARTS[part] : part
}

/** Button that opens an example. */
export function exampleStart(label: string, kind: ExampleKind = 'provider'): Button {
  const fresh = { opened: undefined, acknowledged: false, muted: false, help: undefined }
  return act(label, packed('demo', { part: partOfKind('s', kind), ...fresh }))
}
