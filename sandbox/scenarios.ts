import { createControlPanel } from './control-panel.ts'
import type { ScenarioGroup } from './scenarios/define.ts'
import { epochScenarios } from './scenarios/epochs.ts'
import { faultScenarios } from './scenarios/faults.ts'
import { createScenarioLog, type ScenarioLog } from './scenarios/log.ts'
import { moneyScenarios } from './scenarios/money.ts'
import { priceScenarios } from './scenarios/prices.ts'
import { providerScenarios } from './scenarios/providers.ts'
import { timeScenarios } from './scenarios/time.ts'
import { walletScenarios } from './scenarios/wallet.ts'
import type { WorldParts } from './world/parts.ts'

/** All scenarios of a world, with their log. */
export interface Scenarios {
  readonly groups: readonly ScenarioGroup[]
  readonly log: ScenarioLog
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
export function createScenarios(world: WorldParts): Scenarios {
  const panel = createControlPanel(world)
  const groups = [
    walletScenarios(world),
    priceScenarios(world, panel),
    providerScenarios(world, panel),
    epochScenarios(world),
    moneyScenarios(world, panel),
    timeScenarios(world),
    faultScenarios(world),
  ]
  const log = createScenarioLog(() => world.clock.now())
  const closing = new AbortController()
  const running = new Map<
    Promise<void>,
    { readonly entry: number; readonly stop: AbortController }
  >()
  return {
    groups,
    log,
    start: (id) => {
      const scenario = groups.flatMap((group) => group.scenarios).find((known) => known.id === id)
      if (scenario === undefined) return false
      const ongoing = scenario.ongoingState?.()
      if (ongoing !== undefined) {
        ongoing.end()
        return true
      }
      const entry = log.open(id, scenario.label, scenario.waitsForResults ?? false)
      const stop = new AbortController()
      const run = scenario
        .run(
          (text) => entry.note(text),
          AbortSignal.any([closing.signal, stop.signal]),
          (progress) => entry.advance(progress),
        )
        .then(
          () => entry.close(),
          (error: unknown) => entry.fail(error instanceof Error ? error.message : String(error)),
        )
        .finally(() => running.delete(run))
      running.set(run, { entry: entry.id, stop })
      // Updates the buttons: a lasting scenario is on from here.
      log.announce()
      return true
    },
    dismiss: (entry) => {
      const runningScenario = [...running.values()].find((started) => started.entry === entry)
      runningScenario?.stop.abort()
      return runningScenario !== undefined
    },
    close: async () => {
      closing.abort()
      await Promise.all(running.keys())
    },
  }
}
