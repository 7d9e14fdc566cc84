import type { ControlPanel } from '../control-panel.ts'
import type { WorldParts } from '../world/parts.ts'
import { CHAT, INBOX, INDEX, RECEIVER, type Scenario, type ScenarioGroup } from './define.ts'
import { ensureWatch } from './ensure-watch.ts'
import { runAndReportAlerts } from './report-alerts.ts'

const FEED = 'FLR/USD'
const WATCHED_PERCENT = 5
const WATCHED_WINDOW_SECONDS = 600
const STILL_MINUTES = 12
const MOVES = [6, -6, 12] as const

/** Scenarios of a moving price. */
export function priceScenarios(world: WorldParts, panel: ControlPanel): ScenarioGroup {
  return {
    title: 'Price',
    get about() {
      return `${FEED} is at ${world.simulation.feed(FEED)}. Prices stay until they are moved, and are fresh unless the feed stands still.`
    },
    scenarios: [
      ensureWatch(panel, {
        id: 'price-watch',
        label: `Alice watches ${FEED}`,
        expected: `A move by ${WATCHED_PERCENT} % or more within ten minutes.`,
        watches: [
          {
            type: 'feed-move',
            label: `${FEED} by ${WATCHED_PERCENT} %`,
            target: { feed: FEED },
            settings: { percent: WATCHED_PERCENT, windowSeconds: WATCHED_WINDOW_SECONDS },
          },
        ],
      }),
      ...MOVES.map((percent) => move(world, percent)),
      standStill(world),
    ],
  }
}

function move(world: WorldParts, percent: number): Scenario {
  const sign = percent > 0 ? '+' : '−'
  return {
    id: `price-${percent}`,
    label: `${FEED} ${sign}${Math.abs(percent)} %`,
    expected: `Whoever watches ${FEED} by ${Math.abs(percent)} % or less is notified within half a minute, at most once per window.`,
    resultPages: [CHAT, INBOX, RECEIVER],
    waitsForResults: true,
    run: async (note, signal) => {
      const price = world.simulation.feed(FEED) * (1 + percent / 100)
      await runAndReportAlerts(
        world,
        { words: [FEED], events: ['feed-move.'] },
        { note, signal },
        async () => {
          await world.simulation.setFeed(FEED, price)
          note(`it is ${world.simulation.feed(FEED)}`)
        },
      )
    },
  }
}

/** A scenario in which the feed was last updated twelve minutes ago, until a person ends it. */
function standStill({ simulation, clock }: WorldParts): Scenario {
  let isStill = false
  return {
    id: 'price-still',
    label: `Feed stands still ${STILL_MINUTES} min`,
    expected:
      'A price that old counts for nothing: no alert about it, and FLR and WFLR have no price.',
    resultPages: [INDEX, CHAT],
    ongoingState: () =>
      isStill
        ? {
            state: `${FEED} has not been updated for ${STILL_MINUTES} minutes and more.`,
            endLabel: 'Feed moves again',
            end: () => {
              isStill = false
              void simulation.setFeed(FEED, simulation.feed(FEED))
            },
          }
        : undefined,
    run: async (note) => {
      isStill = true
      const since = new Date(clock.now().getTime() - STILL_MINUTES * 60_000)
      await simulation.setFeed(FEED, simulation.feed(FEED), since)
      note(`last updated at ${since.toISOString().slice(11, 19)}`)
    },
  }
}
