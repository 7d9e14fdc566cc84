import type { AliceWatch, ControlPanel } from '../control-panel.ts'
import { CHAT, INDEX, type Scenario } from './define.ts'

/** A scenario that creates watches for Alice, unless they exist. */
export function ensureWatch(
  panel: ControlPanel,
  {
    watches,
    ...shown
  }: Pick<Scenario, 'id' | 'label' | 'expected'> & {
    readonly watches: readonly AliceWatch[]
  },
): Scenario {
  return {
    ...shown,
    resultPages: [CHAT, INDEX],
    run: async (note) => {
      for (const watch of watches) {
        const isNew = await panel.createWatch(watch)
        note(`${isNew ? 'watches' : 'watched already'}: ${watch.label}`)
      }
    },
  }
}
