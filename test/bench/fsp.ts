import { createRecoveryPool } from '#src/chain/signatures/recovery-pool.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { withDatabase } from './database.ts'
import { benchFspBacktest } from './fsp-backtest.ts'
import { BENCH_PROVIDERS, benchBlocks, benchPolicy, FLARE_CLOCK } from './fsp-blocks.ts'
import { benchEpochs } from './fsp-epochs.ts'
import { collectCryptography, computeInThread, computeWithPool } from './fsp-floor.ts'
import {
  EPOCH_ROUNDS,
  fillProviderWatches,
  ROUNDS_PER_READ,
  startReplay,
  type TimeTaken,
} from './fsp-replay.ts'
import type { Measurement } from './report.ts'

const FIRST_ROUND = 1_518_720
const WATCHES = 500
const SPEED_GOAL = 4000
const RATIO_GOAL = 0.75
/** Number of readings after which the floor is measured once, with the blocks of that reading. */
const LOOKS_PER_FLOOR = 6

/**
 * Compares backtests with live watches, measures the time for a reward epoch, and memory and rows over ten epochs.
 */
export async function benchFsp(): Promise<readonly Measurement[]> {
  return [...(await benchFspBacktest()), ...(await benchSpeed()), ...(await benchEpochs())]
}

/**
 * Replays a reward epoch of a hundred providers from blocks as the reader gives them: collecting, judging,
 * signatures, keeping, and every watch of 500 evaluated. Time of this process and its threads, without
 * creating the blocks. The floor is the cryptography of the same rounds: in one thread for the time of the
 * processor, with the pool's threads for that by the clock.
 */
async function benchSpeed(): Promise<readonly Measurement[]> {
  return withDatabase(async (databaseUrl) => {
    const policy = benchPolicy(FIRST_ROUND - 2)
    const voters = policy.providers.map(({ voter }) => voter)
    await fillProviderWatches(databaseUrl, voters, WATCHES / BENCH_PROVIDERS)
    const pool = createRecoveryPool({ log: silentLogger })
    const replay = startReplay(databaseUrl, [policy], pool)
    const whole = { rounds: 0, cpuSeconds: 0, seconds: 0 }
    const floor = { rounds: 0, cpuSeconds: 0, seconds: 0 }
    for (let look = 0; look < EPOCH_ROUNDS / ROUNDS_PER_READ; look += 1) {
      const first = FIRST_ROUND + look * ROUNDS_PER_READ
      const blocks = benchBlocks([policy], { first, last: first + ROUNDS_PER_READ - 1 })
      const taken = await replay.look(blocks)
      whole.cpuSeconds += taken.cpuSeconds
      whole.seconds += taken.seconds
      if (look % LOOKS_PER_FLOOR !== 0) continue
      const work = collectCryptography(policy, blocks)
      floor.rounds += ROUNDS_PER_READ
      floor.cpuSeconds += (await computeInThread(work)).cpuSeconds
      floor.seconds += (await computeWithPool(work, pool)).seconds
    }
    const { rounds, bytes } = await replay.storedRounds()
    await Promise.all([replay.close(), pool.close()])
    const perEpoch = (EPOCH_ROUNDS / rounds) * (bytes / 2 ** 20)
    process.stdout.write(
      `fsp: ${rounds} rounds kept, one row each for ${BENCH_PROVIDERS} providers, ` +
        `${perEpoch.toFixed(0)} MiB a reward epoch; two epochs are kept. ${replay.raised()} firings.\n`,
    )
    // The rounds long before the first pass are not read.
    whole.rounds = rounds
    const about = `one reward epoch, ${BENCH_PROVIDERS} providers, ${WATCHES} watches`
    return [
      speedOf(`${about}, time of the processor`, whole, floor, 'cpuSeconds'),
      speedOf(`${about}, by the clock`, whole, floor, 'seconds'),
    ]
  })
}

type Speed = TimeTaken & { readonly rounds: number }

function speedOf(measure: string, whole: Speed, floor: Speed, by: keyof TimeTaken): Measurement {
  const of = (speed: Speed) => (speed.rounds * FLARE_CLOCK.roundSeconds) / speed[by]
  const speed = of(whole)
  const ratio = speed / of(floor)
  return {
    bench: 'fsp',
    measure,
    value: speed,
    unit: 'x real time',
    floor: of(floor),
    ratio,
    goal: `at least ${SPEED_GOAL}, ${RATIO_GOAL} of its cryptography`,
    met: speed >= SPEED_GOAL && ratio >= RATIO_GOAL,
  }
}
