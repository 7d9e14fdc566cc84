import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import type { ExampleKind } from '#src/alerts/messages/example.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { act } from './view.ts'

/** What a button of the example does: `s` opens it, `a` acknowledges, `q` mutes, others open a part of it. */
export type ExamplePart = 's' | 'a' | 'q' | 'm' | 'd'

/** The same parts in button data of the example for wallets. Data of the example for providers has the keys. */
export const WALLET_PARTS = { s: 'S', a: 'A', q: 'Q', m: 'M', d: 'D' } as const

/** Letter of a part in button data of one kind of example. */
export function partOfKind(part: ExamplePart, kind: ExampleKind): ArgumentsOf<'demo'>['part'] {
  return kind === 'wallet' ? WALLET_PARTS[part] : part
}

/** Button that opens an example. */
export function exampleStart(label: string, kind: ExampleKind = 'provider'): Button {
  const fresh = { opened: undefined, acknowledged: false, muted: false, open: undefined }
  return act(label, packed('demo', { part: partOfKind('s', kind), ...fresh }))
}
