import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { startPastIncidents } from '#src/alerts/incidents/past.ts'
import { createPublicationReader } from '#src/chain/publication-reader.ts'
import type { RecoveryPool } from '#src/chain/signatures/recovery-pool.ts'
import { connect } from '#src/db/connection.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { LoadedPolicy } from '#src/fsp/reader/policy-of-epoch.ts'
import type { ProtocolBlock } from '#src/fsp/reader/round-blocks.ts'
import type { RoundReader } from '#src/fsp/reader/round-reader.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import { type BacktestOutcome, createBacktests } from '#src/watches/backtest/backtest.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { createWatchTypeFacts } from '#src/watches/facts.ts'
import { NewWatch } from '#src/watches/model.ts'
import { observeWatches } from '../support/observe.ts'
import { FLARE_CLOCK } from './fsp-blocks.ts'

/** Rounds of a reward epoch of Flare. */
export const EPOCH_ROUNDS = FLARE_CLOCK.roundsPerEpoch
/** Number of rounds that are read at once, as after a pause of the service. */
export const ROUNDS_PER_READ = 112

/** Duration of work: CPU seconds of this process with all its threads, and seconds by the clock. */
export interface TimeTaken {
  readonly cpuSeconds: number
  readonly seconds: number
}

/** Runs work and measures its duration. */
export async function measureTime(work: () => Promise<unknown>): Promise<TimeTaken> {
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await work()
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return { cpuSeconds: (user + system) / 1e6, seconds }
}

/** The service's reading and judging of voting rounds, with blocks as the reader gives them. */
export interface Replay {
  /** Reads these blocks, keeps their rounds and judges every watch. */
  look(blocks: readonly ProtocolBlock[]): Promise<TimeTaken>
  /** Prunes as the hourly job does, and vacuums as autovacuum does after it. */
  prune(): Promise<void>
  /** Number of stored rounds, and their size in the database in bytes. */
  storedRounds(): Promise<{ readonly rounds: number; readonly bytes: number }>
  /** Alerts and recoveries so far. */
  raised(): number
  /** Alerts and recoveries of the watch with this label on a provider, in order. */
  alertsOf(provider: string, label: string): readonly AlertCandidate[]
  /** Backtests a watch over the last days. */
  backtest(watch: {
    readonly provider: string
    readonly signals: readonly { readonly id: string; readonly enabled: boolean }[]
    readonly cooldownSeconds: number
    readonly days: number
  }): Promise<BacktestOutcome>
  close(): Promise<void>
}

/**
 * Creates a replay: a stand-in returns the blocks, everything behind it is the service's own code.
 *
 * @param policies every signing policy, oldest first; the reader sees the one in force, the one
 * before and, from two rounds before its start on, the next
 */
export function startReplay(
  databaseUrl: string,
  policies: readonly LoadedPolicy[],
  recovery?: RecoveryPool,
): Replay {
  const { db, sql, close } = connect(databaseUrl)
  let blocks: readonly ProtocolBlock[] = []
  const raised: AlertCandidate[] = []
  const tip = () => blocks.at(-1)?.ref ?? missing()
  const known = () => {
    const round = (tip().at.getTime() / 1000 - FLARE_CLOCK.firstRoundAtSeconds) / 90
    const fixed = policies.filter(({ startRound }) => startRound - 2 <= round)
    const current = fixed.findLast(({ startRound }) => startRound <= round) ?? missing()
    const isNear = ({ rewardEpoch }: LoadedPolicy) => rewardEpoch >= current.rewardEpoch - 1
    return {
      clock: FLARE_CLOCK,
      currentEpoch: current.rewardEpoch,
      policies: fixed.filter(isNear),
      registrations: [],
      schedule: {
        registrationSeconds: 1800,
        preparationSeconds: 7200,
        rewardExpirySeconds: null,
      },
    }
  }
  const settings = { sampleSize: 1.5, feedCount: null, submissionWindow: null }
  const rounds: RoundReader = {
    policies: async () => known(),
    contracts: () => ({}),
    states: async () => ({ registration: null, ...settings, providers: new Map() }),
    newestSettings: async () => settings,
    span: async ({ from }) => ({
      blocks: blocks.filter(({ number }) => number >= from),
      upTo: tip().number,
    }),
  }
  const chain = {
    confirmedBlock: async () => tip(),
    readNewestBlock: async () => tip(),
    blockAt: async (number: number) => ({ ...tip(), number }),
    rounds,
  } as unknown as FspChain
  const clock = { now: () => tip().at }
  const quarantine = createQuarantine({ log: silentLogger })
  const source = { db, chain, clock, log: silentLogger, chainId: 14, pChain: undefined, quarantine }
  const facts = createWatchTypeFacts({
    pricedTokens: {},
    ...{ ...source, recovery },
    published: createPublicationReader(),
    datasetUrl: undefined,
    rewardDataUrls: [],
  })
  const signal = new AbortController().signal
  const recordAlerts = async (_tx: unknown, all: readonly AlertCandidate[]) => {
    raised.push(...all)
  }
  const backtests = createBacktests({
    startIncidents: startPastIncidents,
    db,
    chain,
    clock,
    facts,
    confirmations: 1,
  })
  return {
    async look(next) {
      blocks = next
      const taken = await measureTime(async () => {
        await facts.rounds.advance(tip(), signal)
        await observeWatches({ ...source, facts, confirmations: 1, recordAlerts }, signal)
      })
      blocks = blocks.slice(-1)
      return taken
    },
    async prune() {
      await facts.prune()
      await sql`vacuum fsp_rounds`
    },
    async storedRounds() {
      const [found] = await sql<{ rounds: number; bytes: number }[]>`
        select count(*)::int as rounds, pg_total_relation_size('fsp_rounds')::int as bytes
        from fsp_rounds`
      return found ?? { rounds: 0, bytes: 0 }
    },
    raised: () => raised.length,
    alertsOf: (provider, label) =>
      raised.filter(({ watch, data }) => watch.label === label && data['provider'] === provider),
    backtest({ provider, signals, cooldownSeconds, days }) {
      const target = { provider }
      const watch = NewWatch.parse({
        type: 'provider-fsp',
        target,
        settings: {},
        signals,
        cooldownSeconds,
      })
      const caller = { wallet: PEOPLE.bob.account.address, scopes: ['read'], via: 'http' } as const
      return backtests.run(caller, { watch, canonicalTarget: target, days })
    },
    close,
  }
}

/** Watches on providers, every signal that is on by default. */
export async function fillProviderWatches(
  databaseUrl: string,
  voters: readonly string[],
  each: number,
  {
    name,
    signals,
    cooldownSeconds,
  }: {
    readonly name: string
    readonly signals: readonly object[]
    readonly cooldownSeconds: number
  } = { name: 'Bench', signals: [], cooldownSeconds: 0 },
): Promise<void> {
  const { sql, close } = connect(databaseUrl)
  await sql`insert into targets (type, key, target, watch_count, must_judge)
    select 'provider-fsp', v, jsonb_build_object('provider', v), ${each}, true
    from jsonb_array_elements_text(${sql.json([...voters])}) v
    on conflict (type, key) do update set watch_count = targets.watch_count + excluded.watch_count`
  await sql`insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
      cooldown_seconds, status, version, created_at, updated_at)
    select ${PEOPLE.bob.account.address}, 'provider-fsp', id, ${name}, '{}', ${JSON.stringify(signals)}::jsonb,
      'info', ${cooldownSeconds}, 'active', 1, now(), now()
    from targets, generate_series(1, ${each}::int)`
  await close()
}

function missing(): never {
  throw new Error('there is no block, or no policy for it')
}
