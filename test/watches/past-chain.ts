import { numberToHex } from 'viem/utils'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { startPastIncidents } from '#src/alerts/incidents/past.ts'
import type { BlockRef } from '#src/chain/chain.ts'
import { createPublicationReader } from '#src/chain/publication-reader.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { SigningProtocol } from '#src/fsp/reader/signing-protocol.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import { createBacktests } from '#src/watches/backtest/backtest.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { createWatchTypeFacts } from '#src/watches/facts.ts'
import { NewWatch } from '#src/watches/model.ts'
import type { FreshDatabase } from '../support/database.ts'
import { observeWatches } from '../support/observe.ts'

/** The service's jobs, facts, evaluator and backtests over a chain whose states are computed from a made-up past. */

/** A block a second; the number of a block is its second. */
const START_MS = Date.UTC(2026, 10, 20, 12)

export const timeOf = (second: number) => new Date(START_MS + second * 1000)
export const secondOf = (at: Date) => (at.getTime() - START_MS) / 1000

/** A watch of a provider that is tried. */
export interface TriedProviderWatch {
  readonly type: string
  readonly provider: Address
  readonly cooldownSeconds: number
  readonly isRecoveryNotified: boolean
}

/** What a live alert and one of a backtest have in common. */
export interface PastAlert {
  readonly firedAt: Date
  readonly event: string
  readonly severity: string
  readonly data: AlertCandidate['data']
}

/** Starts the service over a past; it begins with empty tables. */
export async function startPast({ db, sql }: FreshDatabase, protocol: Partial<SigningProtocol>) {
  let second = 0
  const blockAt = (number: number): BlockRef => ({
    number,
    hash: numberToHex(number, { size: 32 }),
    at: timeOf(number),
  })
  const chain = {
    confirmedBlock: async () => blockAt(second),
    readNewestBlock: async () => blockAt(second),
    blockAt: async (number: number) => blockAt(number),
    protocol,
  } as unknown as FspChain
  const clock = { now: () => timeOf(second) }
  const quarantine = createQuarantine({ log: silentLogger })
  const source = { db, chain, clock, log: silentLogger, chainId: 14, pChain: undefined, quarantine }
  const facts = createWatchTypeFacts({
    pricedTokens: {},
    ...source,
    published: createPublicationReader(),
    datasetUrl: undefined,
    rewardDataUrls: [],
  })
  const raised: AlertCandidate[] = []
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
  const { signal } = new AbortController()
  const wallet = PEOPLE.bob.account.address
  const signalsOf = (id: string, { isRecoveryNotified }: TriedProviderWatch) => [
    { id, enabled: true, recovery: { enabled: isRecoveryNotified } },
  ]
  await sql`truncate watches, targets, signal_states, observation_cursors, slice_cursors,
    published_blocks, publications, fsp_rounds, vote_signatures, read_ranges cascade`
  return {
    /** Creates a watch with one signal. */
    async watch(label: string, signalId: string, watch: TriedProviderWatch): Promise<void> {
      const { type, provider, cooldownSeconds } = watch
      const signals = JSON.stringify(signalsOf(signalId, watch))
      await sql`insert into targets (type, key, target, watch_count, must_judge)
        values (${type}, ${provider}, ${sql.json({ provider })}, 1, true)
        on conflict (type, key) do update set watch_count = targets.watch_count + 1`
      await sql`insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
          cooldown_seconds, status, version, created_at, updated_at)
        select ${wallet}, type, id, ${label}, '{}', ${signals}::jsonb, 'info', ${cooldownSeconds},
          'active', 1, now(), now()
        from targets where type = ${type} and key = ${provider}`
    },
    /** Moves to a second and lets the jobs look. */
    async look(at: number): Promise<void> {
      second = at
      await observeWatches({ ...source, facts, confirmations: 1, recordAlerts }, signal)
    },
    /** The clock alone. */
    wait: (until: number) => {
      second = until
    },
    /** Notified alerts of a watch, oldest first. */
    live: (label: string): PastAlert[] =>
      raised.filter(({ watch, isNotified }) => isNotified && watch.label === label),
    /** Alerts that the watch would have raised in the last day, oldest first. */
    async later(signalId: string, watch: TriedProviderWatch): Promise<PastAlert[]> {
      const { type, provider, cooldownSeconds } = watch
      const target = { provider }
      const body = {
        type,
        target,
        settings: {},
        signals: signalsOf(signalId, watch),
        cooldownSeconds,
      }
      const caller = { wallet, scopes: ['read'], via: 'http' } as const
      const made = { watch: NewWatch.parse(body), canonicalTarget: target, days: 1 }
      return (await backtests.run(caller, made)).alerts.toReversed()
    },
  }
}
