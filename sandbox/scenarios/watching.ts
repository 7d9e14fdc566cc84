import type { Desk, NewWatch } from '../control-panel.ts'
import { CHAT, type Happening, INDEX } from './define.ts'

/** Lets Alice watch something; what she watches already she does not watch twice. */
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
