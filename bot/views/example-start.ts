import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import type { HelpPart } from '#src/actions/verbs.ts'
import type { ExampleKind } from '#src/alerts/example.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { act } from './view.ts'

/** What a button of the example does; `s` opens it. */
export type ExamplePart = 's' | 'a' | 'm' | HelpPart

/** Letters of the parts of the example for holders of FLR. */
export const CAPITALS = { s: 'S', a: 'A', m: 'M', w: 'W', c: 'C', d: 'D' } as const

/** Letter of a part in one kind of example. */
export function partOfKind(part: ExamplePart, kind: ExampleKind): ArgumentsOf<'demo'>['part'] {
  return kind === 'wallet' ? CAPITALS[part] : part
}

/** Button that opens an example. */
export function exampleStart(label: string, kind: ExampleKind = 'provider'): Button {
  const fresh = { opened: undefined, acknowledged: false, muted: false, help: undefined }
  return act(label, packed('demo', { part: partOfKind('s', kind), ...fresh }))
}
