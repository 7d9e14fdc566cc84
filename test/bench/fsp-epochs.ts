import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { withDatabase } from './database.ts'
import { benchBlocks, benchPolicy } from './fsp-blocks.ts'
import { EPOCH_ROUNDS, fillProviderWatches, ROUNDS_PER_READ, startReplay } from './fsp-replay.ts'
import type { Measurement } from './report.ts'

const EPOCHS = 10
const FIRST_EPOCH = 452
/** Number of providers; few, so that ten epochs take little time. */
const MEMBERS = 2
/** Seconds between blocks; many, so that ten epochs take little time. */
const BLOCK_SECONDS = 15
const WATCHES_EACH = 2
/** Number of epochs after which memory and database may not grow any more, because two epochs are stored. */
const FULL_AFTER = 3
const GROWTH_GOAL = 1.1

/**
 * Replays ten reward epochs. In each, one provider leaves and another joins, and old data is deleted as by the
 * service. Measures memory and database size after each.
 */
export async function benchEpochs(): Promise<readonly Measurement[]> {
  const collect = garbageCollector()
  const policies = Array.from({ length: EPOCHS }, (_, index) =>
    benchPolicy((FIRST_EPOCH + index) * EPOCH_ROUNDS, {
      rewardEpoch: FIRST_EPOCH + index,
      members: Array.from({ length: MEMBERS }, (_, place) => index + place),
    }),
  )
  return withDatabase(async (databaseUrl) => {
    const voters = new Set(policies.flatMap(({ providers }) => providers.map(({ voter }) => voter)))
    await fillProviderWatches(databaseUrl, [...voters], WATCHES_EACH)
    const replay = startReplay(databaseUrl, policies)
    const before = process.cpuUsage()
    const epochs: { readonly heap: number; readonly rounds: number; readonly bytes: number }[] = []
    for (const policy of policies) {
      const end = policy.startRound + EPOCH_ROUNDS
      for (let first = policy.startRound; first < end; first += ROUNDS_PER_READ) {
        const rounds = { first, last: first + ROUNDS_PER_READ - 1 }
        await replay.look(benchBlocks(policies, rounds, BLOCK_SECONDS))
        await replay.prune()
      }
      const stored = await replay.storedRounds()
      collect()
      const figures = { ...stored, heap: process.memoryUsage().heapUsed }
      epochs.push(figures)
      process.stdout.write(
        `fsp: reward epoch ${policy.rewardEpoch}: heap ${inMiB(figures.heap)} MiB, ` +
          `${figures.rounds} rounds kept in ${inMiB(figures.bytes)} MiB.\n`,
      )
    }
    const { user, system } = process.cpuUsage(before)
    process.stdout.write(
      `fsp: ${EPOCHS} reward epochs took ${((user + system) / 1e6).toFixed(0)} s of CPU, ` +
        `their blocks included; ${replay.raised()} firings.\n`,
    )
    await replay.close()
    const grown = (read: (epoch: (typeof epochs)[number]) => number) => {
      const [full = 0, last = 0] = [epochs[FULL_AFTER - 1], epochs.at(-1)].map(
        (epoch) => epoch && read(epoch),
      )
      return { value: last, floor: full, ratio: last / full, met: last <= full * GROWTH_GOAL }
    }
    const common = { bench: 'fsp', goal: `at most ${GROWTH_GOAL}` }
    const after = `after ${EPOCHS} reward epochs beside ${FULL_AFTER}`
    return [
      { ...common, measure: `heap ${after}`, unit: 'MiB', ...grown(({ heap }) => heap / 2 ** 20) },
      {
        ...common,
        measure: `rounds kept ${after}`,
        unit: 'rows',
        ...grown(({ rounds }) => rounds),
      },
      {
        ...common,
        measure: `their table ${after}`,
        unit: 'MiB',
        ...grown(({ bytes }) => bytes / 2 ** 20),
      },
    ]
  })
}

/** Returns a function that runs the garbage collector, so that heaps can be compared. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

function inMiB(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1)
}
