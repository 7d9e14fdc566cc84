import { createDesk } from './control-panel.ts'
import type { HappeningGroup } from './scenarios/define.ts'
import { epochHappenings } from './scenarios/epochs.ts'
import { faultHappenings } from './scenarios/faults.ts'
import { createHappenLog, type HappenLog } from './scenarios/log.ts'
import { moneyHappenings } from './scenarios/money.ts'
import { priceHappenings } from './scenarios/prices.ts'
import { providerHappenings } from './scenarios/providers.ts'
import { timeHappenings } from './scenarios/time.ts'
import { walletHappenings } from './scenarios/wallet.ts'
import type { WorldParts } from './world/parts.ts'

/** All scenarios of a world, with their log. */
export interface Happenings {
  readonly groups: readonly HappeningGroup[]
  readonly log: HappenLog
  /**
   * Starts a scenario, or ends it while it lasts.
   * @returns false for an unknown one
   */
  start(id: string): boolean
  /**
   * Stops waiting for the results of an entry.
   * @returns false if it was not waiting
   */
  dismiss(entry: number): boolean
  /** Stops following all scenarios. */
  close(): Promise<void>
}

/** Creates the scenarios of a world. */
export function createHappenings(world: WorldParts): Happenings {
  const desk = createDesk(world)
  const groups = [
    walletHappenings(world),
    priceHappenings(world, desk),
    providerHappenings(world, desk),
    epochHappenings(world),
    moneyHappenings(world, desk),
    timeHappenings(world),
    faultHappenings(world),
  ]
  const log = createHappenLog(() => world.clock.now())
  const closing = new AbortController()
  const running = new Map<
    Promise<void>,
    { readonly entry: number; readonly stop: AbortController }
  >()
  return {
    groups,
    log,
    start: (id) => {
      const happening = groups.flatMap((group) => group.happenings).find((one) => one.id === id)
      if (happening === undefined) return false
      const lasting = happening.lasting?.()
      if (lasting !== undefined) {
        lasting.end()
        return true
      }
      const entry = log.open(id, happening.label, happening.waits ?? false)
      const stop = new AbortController()
      const run = happening
        .run((text) => entry.note(text), AbortSignal.any([closing.signal, stop.signal]))
        .then(
          () => entry.close(),
          (error: unknown) => entry.fail(error instanceof Error ? error.message : String(error)),
        )
        .finally(() => running.delete(run))
      running.set(run, { entry: entry.id, stop })
      // Lasting ones have started by now, and their buttons show it.
      log.announce()
      return true
    },
    dismiss: (entry) => {
      const found = [...running.values()].find((one) => one.entry === entry)
      found?.stop.abort()
      return found !== undefined
    },
    close: async () => {
      closing.abort()
      await Promise.all(running.keys())
    },
  }
}
