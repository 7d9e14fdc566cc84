import type { ControlPanel, NewWatch } from '../control-panel.ts'
import { CHAT, INDEX, type Scenario } from './define.ts'

/** A scenario that creates watches for Alice, unless they exist. */
export function ensureWatch(
  panel: ControlPanel,
  {
    watches,
    ...shown
  }: Pick<Scenario, 'id' | 'label' | 'follows'> & {
    readonly watches: readonly NewWatch[]
  },
): Scenario {
  return {
    ...shown,
    look: [CHAT, INDEX],
    run: async (note) => {
      for (const one of watches) {
        const isNew = await panel.watch(one)
        note(`${isNew ? 'watches' : 'watched already'}: ${one.label}`)
      }
    },
  }
}
