import { isDeepStrictEqual } from 'node:util'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { providerFsp } from '#src/watches/types/provider-fsp/index.ts'
import { withDatabase } from './database.ts'
import { benchBlocks, benchPolicy } from './fsp-blocks.ts'
import { EPOCH_ROUNDS, fillProviderWatches, ROUNDS_PER_READ, startReplay } from './fsp-replay.ts'
import type { Measurement } from './report.ts'

const FIRST_EPOCH = 452
const EPOCHS = 2
/** Number of providers. There are few providers and blocks, so that two epochs take little time. */
const MEMBERS = 4
const BLOCK_SECONDS = 15
/** Days of two reward epochs. */
const DAYS = 7

const EVERY_SIGNAL = providerFsp.signals.map(({ id }) => ({ id, enabled: true }))
/** The watches of each provider. */
const WATCHES = [
  { name: 'default signals', signals: [], cooldownSeconds: 0 },
  { name: 'every signal', signals: EVERY_SIGNAL, cooldownSeconds: 0 },
  { name: 'every signal, cooldown of 1 h', signals: EVERY_SIGNAL, cooldownSeconds: 3600 },
] as const

/**
 * Replays two reward epochs of blocks while watches on every provider run, and then backtests the same watches over
 * what was stored. Prints the alerts of both and the number of differences.
 */
export async function benchFspBacktest(): Promise<readonly Measurement[]> {
  const policies = Array.from({ length: EPOCHS }, (_, index) =>
    benchPolicy((FIRST_EPOCH + index) * EPOCH_ROUNDS, {
      rewardEpoch: FIRST_EPOCH + index,
      members: Array.from({ length: MEMBERS }, (_, member) => member),
    }),
  )
  return withDatabase(async (databaseUrl) => {
    const voters = policies[0]?.providers.map(({ voter }) => voter) ?? []
    for (const watch of WATCHES) await fillProviderWatches(databaseUrl, voters, 1, watch)
    const replay = startReplay(databaseUrl, policies)
    for (let round = 0; round < EPOCHS * EPOCH_ROUNDS; round += ROUNDS_PER_READ) {
      const first = FIRST_EPOCH * EPOCH_ROUNDS + round
      const rounds = { first, last: first + ROUNDS_PER_READ - 1 }
      await replay.look(benchBlocks(policies, rounds, BLOCK_SECONDS))
    }
    const { rounds } = await replay.storedRounds()
    let live = 0
    let differences = 0
    for (const watch of WATCHES) {
      for (const provider of voters) {
        const raised = replay.alertsOf(provider, watch.name).filter(({ isNotified }) => isNotified)
        const outcome = await replay.backtest({ provider, days: DAYS, ...watch })
        const { counts, alerts } = outcome
        const total = Object.values(counts).reduce((sum, count) => sum + count)
        const newest = raised.slice(-alerts.length).map(shown)
        const replayed = alerts.toReversed().map(shown)
        const unlike = replayed.filter((alert, at) => !isDeepStrictEqual(alert, newest[at])).length
        const different = Math.abs(total - raised.length) + unlike
        live += raised.length
        differences += different
        process.stdout.write(
          `fsp backtest: ${provider.slice(0, 8)} ${watch.name}: ${outcome.observations} observations of ${rounds} rounds, ` +
            `alerts live ${raised.length}, backtest ${total}, newest ${alerts.length} compared, ` +
            `differences ${different}.\n`,
        )
      }
    }
    await replay.close()
    const measure = `alerts of ${WATCHES.length * MEMBERS} watches over ${EPOCHS} reward epochs that differ from live`
    const goal = '0, of more than 0'
    const met = differences === 0 && live > 0
    return [
      {
        bench: 'fsp',
        measure,
        value: differences,
        unit: `of ${live}`,
        floor: 0,
        ratio: 0,
        goal,
        met,
      },
    ]
  })
}

/** The fields by which a live alert and one of a backtest are compared. */
function shown({ signal, event, severity, isRecovery, firedAt, data }: AlertCandidate) {
  return { signal, event, severity, isRecovery, firedAt: firedAt.toISOString(), data }
}
