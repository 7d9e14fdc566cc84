import type { HappeningGroup } from './happen/define.ts'
import { faultHappenings } from './happen/faults.ts'
import { createHappenLog, type HappenLog } from './happen/log.ts'
import { moneyHappenings } from './happen/money.ts'
import { timeHappenings } from './happen/time.ts'
import { walletHappenings } from './happen/wallet.ts'
import type { WorldParts } from './world.ts'

/** Everything that can be let happen to a world, and what has. */
export interface Happenings {
  readonly groups: readonly HappeningGroup[]
  readonly log: HappenLog
  /** Lets it happen, or ends it while it lasts. Whether there is such a thing. */
  start(id: string): boolean
  /** Follows nothing up any more. */
  close(): Promise<void>
}

/** What can happen to a world. */
export function createHappenings(world: WorldParts): Happenings {
  const groups = [
    walletHappenings(world),
    moneyHappenings(world),
    timeHappenings(world),
    faultHappenings(world),
  ]
  const log = createHappenLog(() => world.clock.now())
  const closing = new AbortController()
  const running = new Set<Promise<void>>()
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
      const entry = log.open(id, happening.label)
      const run = happening
        .run((text) => entry.note(text), closing.signal)
        .then(
          () => entry.close(),
          (error: unknown) => entry.fail(error instanceof Error ? error.message : String(error)),
        )
        .finally(() => running.delete(run))
      running.add(run)
      // What lasts has begun by now, and its button says so.
      log.announce()
      return true
    },
    close: async () => {
      closing.abort()
      await Promise.all(running)
    },
  }
}
