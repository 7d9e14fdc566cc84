import type { Desk, NewWatch } from '../control-panel.ts'
import { CHAT, type Happening, INDEX } from './define.ts'

/** Creates a watch for Alice, unless it exists. */
export function watch(
  desk: Desk,
  {
    watches,
    ...shown
  }: Pick<Happening, 'id' | 'label' | 'follows'> & {
    readonly watches: readonly NewWatch[]
  },
): Happening {
  return {
    ...shown,
    look: [CHAT, INDEX],
    run: async (note) => {
      for (const one of watches) {
        const isNew = await desk.watch(one)
        note(`${isNew ? 'watches' : 'watched already'}: ${one.label}`)
      }
    },
  }
}
