import type { Chain } from '#src/chain/chain.ts'
import { FLARE_CLOCK } from '#src/chain/fsp/epochs.ts'
import type { ProtocolBlock } from '#src/chain/fsp/round-reader.ts'
import { createPublished } from '#src/chain/published.ts'
import { connect } from '#src/db/connection.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { PEOPLE } from '#src/sandbox/devnet/people.ts'
import { createFacts } from '#src/watches/facts.ts'
import { observeWatches } from '#src/watches/observe.ts'
import { withDatabase } from './database.ts'
import { benchBlocks, benchPolicy, PROVIDERS } from './fsp-blocks.ts'
import type { Measurement } from './report.ts'

/** A reward epoch of Flare. */
const ROUNDS = 3360
const FIRST_ROUND = 1_518_720
/** Rounds between two looks, as after a pause. */
const ROUNDS_PER_LOOK = 112
const WATCHES = 500
const SPEED_GOAL = 2000
const GROWTH_GOAL = 1.25

/**
 * Replays a reward epoch of a hundred providers from blocks as the reader gives them: collecting, judging,
 * signatures, keeping, and every watch of 500 evaluated. CPU time of this process alone: making the blocks
 * is taken off.
 */
export async function benchFsp(): Promise<readonly Measurement[]> {
  return withDatabase(async (databaseUrl) => {
    await fillProviderWatches(databaseUrl)
    const { db, sql, close } = connect(databaseUrl)
    const policy = benchPolicy(FIRST_ROUND - 2)
    let blocks: ProtocolBlock[] = []
    let raised = 0
    const tip = () => blocks.at(-1)?.ref ?? missing()
    // What the chain would say; everything behind it is the real thing.
    const chain = {
      confirmedBlock: async () => tip(),
      blockAt: async (number: number) => ({ ...tip(), number }),
      rounds: {
        policies: async () => ({ clock: FLARE_CLOCK, currentEpoch: 452, policies: [policy] }),
        states: async () => ({ registration: null, sampleSize: 1.5, providers: new Map() }),
        span: async ({ from }: { from: number }) => ({
          blocks: blocks.filter(({ number }) => number >= from),
          upTo: tip().number,
        }),
      },
    } as unknown as Chain
    const clock = { now: () => tip().at }
    const source = { db, chain, clock, log: silentLogger, chainId: 14, pChain: undefined }
    const facts = createFacts({
      ...source,
      published: createPublished({ log: silentLogger }),
      datasetUrl: undefined,
      rewardDataUrls: [],
    })
    const signal = new AbortController().signal
    const raise = async (_tx: unknown, all: readonly unknown[]) => {
      raised += all.length
    }
    let cpuSeconds = 0
    const heaps: number[] = []
    for (let round = FIRST_ROUND; round < FIRST_ROUND + ROUNDS; round += ROUNDS_PER_LOOK) {
      blocks = benchBlocks(policy, { first: round, last: round + ROUNDS_PER_LOOK - 1 })
      const before = process.cpuUsage()
      await facts.rounds.advance(tip(), signal)
      await observeWatches({ ...source, facts, confirmations: 1, raise }, signal)
      const { user, system } = process.cpuUsage(before)
      cpuSeconds += (user + system) / 1e6
      blocks = blocks.slice(-1)
      globalThis.gc?.()
      heaps.push(process.memoryUsage().heapUsed)
    }
    const [kept] = await sql<{ rounds: number; bytes: number }[]>`
      select count(*)::int as rounds, pg_total_relation_size('fsp_rounds')::int as bytes
      from fsp_rounds`
    await close()
    const speed = (ROUNDS * FLARE_CLOCK.roundSeconds) / cpuSeconds
    const early = average(heaps.slice(0, 10))
    const late = average(heaps.slice(-10))
    const perEpoch = (ROUNDS / (kept?.rounds ?? 1)) * ((kept?.bytes ?? 0) / 2 ** 20)
    process.stdout.write(
      `fsp: ${kept?.rounds} rounds kept, one row each for ${PROVIDERS} providers, ` +
        `${perEpoch.toFixed(0)} MiB a reward epoch; two epochs are kept. ${raised} firings.\n`,
    )
    return [
      {
        bench: 'fsp',
        measure: `one reward epoch, ${PROVIDERS} providers, ${WATCHES} watches`,
        value: speed,
        unit: 'x real time on one core',
        floor: null,
        ratio: null,
        goal: `at least ${SPEED_GOAL}`,
        met: speed >= SPEED_GOAL,
      },
      {
        bench: 'fsp',
        measure: 'heap at the end beside the beginning',
        value: late / 2 ** 20,
        unit: 'MiB',
        floor: early / 2 ** 20,
        ratio: late / early,
        goal: `at most ${GROWTH_GOAL}`,
        met: late / early <= GROWTH_GOAL,
      },
    ]
  })
}

/** Five watches on each provider, every signal on. */
async function fillProviderWatches(databaseUrl: string): Promise<void> {
  const { sql, close } = connect(databaseUrl)
  const voters = benchPolicy(0).providers.map(({ voter }) => voter)
  await sql`insert into targets (type, key, target, watch_count, stale)
    select 'provider-fsp', v, jsonb_build_object('provider', v), ${WATCHES / PROVIDERS}, true
    from jsonb_array_elements_text(${sql.json(voters)}) v`
  await sql`insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
      cooldown_seconds, status, version, created_at, updated_at)
    select ${PEOPLE.bob.account.address}, 'provider-fsp', id, 'Bench', '{}', '[]', 'info', 0,
      'active', 1, now(), now()
    from targets, generate_series(1, ${WATCHES / PROVIDERS})`
  await close()
}

function average(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / values.length
}

function missing(): never {
  throw new Error('there is no block')
}
