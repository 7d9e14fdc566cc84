import { withDatabase } from './database.ts'
import { benchFspBacktest } from './fsp-backtest.ts'
import { benchBlocks, benchPolicy, FLARE_CLOCK, PROVIDERS } from './fsp-blocks.ts'
import { benchEpochs } from './fsp-epochs.ts'
import { cryptographySeconds } from './fsp-floor.ts'
import { fillProviderWatches, ROUNDS, ROUNDS_PER_LOOK, startReplay } from './fsp-replay.ts'
import type { Measurement } from './report.ts'

const FIRST_ROUND = 1_518_720
const WATCHES = 500
const SPEED_GOAL = 2000
/** Number of readings after which the floor is measured once, with the blocks of that reading. */
const LOOKS_PER_FLOOR = 6

/** Backtests beside live watches, the speed of a reward epoch, and memory and rows over ten. */
export async function benchFsp(): Promise<readonly Measurement[]> {
  return [...(await benchFspBacktest()), ...(await benchSpeed()), ...(await benchEpochs())]
}

/**
 * Replays a reward epoch of a hundred providers from blocks as the reader gives them: collecting, judging,
 * signatures, keeping, and every watch of 500 evaluated. CPU time of this process alone, without
 * creating the blocks. The floor is the cryptography of the same rounds.
 */
async function benchSpeed(): Promise<readonly Measurement[]> {
  return withDatabase(async (databaseUrl) => {
    const policy = benchPolicy(FIRST_ROUND - 2)
    const voters = policy.providers.map(({ voter }) => voter)
    await fillProviderWatches(databaseUrl, voters, WATCHES / PROVIDERS)
    const replay = startReplay(databaseUrl, [policy])
    let cpuSeconds = 0
    const floor = { rounds: 0, cpuSeconds: 0 }
    for (let look = 0; look < ROUNDS / ROUNDS_PER_LOOK; look += 1) {
      const first = FIRST_ROUND + look * ROUNDS_PER_LOOK
      const blocks = benchBlocks([policy], { first, last: first + ROUNDS_PER_LOOK - 1 })
      cpuSeconds += await replay.look(blocks)
      if (look % LOOKS_PER_FLOOR !== 0) continue
      floor.rounds += ROUNDS_PER_LOOK
      floor.cpuSeconds += cryptographySeconds(policy, blocks)
    }
    const { rounds, bytes } = await replay.kept()
    await replay.close()
    // The rounds long before the first pass are not read.
    const speed = (rounds * FLARE_CLOCK.roundSeconds) / cpuSeconds
    const possible = (floor.rounds * FLARE_CLOCK.roundSeconds) / floor.cpuSeconds
    const perEpoch = (ROUNDS / rounds) * (bytes / 2 ** 20)
    process.stdout.write(
      `fsp: ${rounds} rounds kept, one row each for ${PROVIDERS} providers, ` +
        `${perEpoch.toFixed(0)} MiB a reward epoch; two epochs are kept. ${replay.raised()} firings.\n`,
    )
    return [
      {
        bench: 'fsp',
        measure: `one reward epoch, ${PROVIDERS} providers, ${WATCHES} watches`,
        value: speed,
        unit: 'x real time on one core',
        floor: possible,
        ratio: speed / possible,
        goal: `at least ${SPEED_GOAL}`,
        met: speed >= SPEED_GOAL,
      },
    ]
  })
}
