import { findCanary } from '#src/alerts/canary.ts'
import { findLastProof } from '#src/billing/account/proof.ts'
import { countUnmatched } from '#src/billing/topups/match.ts'
import { recoveryCode } from '#src/chain/signatures/recover.ts'
import { countDueByChannel } from '#src/delivery/service.ts'
import type { MetricReading } from '#src/http/internal.ts'
import type { JobApp } from '#src/jobs/define.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { findProblems } from '#src/kernel/health.ts'
import type { Release } from '#src/kernel/release.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import { readStats } from '#src/operations/figures/figures.ts'
import {
  NO_PROGRESS,
  progressOfTypes,
  readObservationProgress,
} from '#src/watches/observe/progress.ts'

/** Time for which values from the database are cached. */
const CACHE_MS = 5000

/**
 * The metrics that are read when Prometheus asks for them. Those from the database have the same values in every process,
 * except for their age in the cache.
 */
export function createReadings(
  app: JobApp,
  { commit }: Pick<Release, 'commit'>,
): readonly MetricReading[] {
  /** Time of the first reading: before the start the clock does not follow the database yet. */
  let firstAt: Date | undefined
  const startedAt = () => {
    firstAt ??= app.clock.now()
    return firstAt
  }
  return [
    ...ledgerReadings(app, startedAt),
    ...creditReadings(app),
    unmatchedReading(app),
    infoReading(commit),
    ...deliveryReadings(app),
    ...workReadings(app, startedAt),
    ...canaryReadings(app, startedAt),
    ...mailReadings(app),
    ...standbyReadings(app),
    headReading(app),
    telegramReading(app),
    quarantineReading(app),
    recoveryReading,
    problemReading(app),
  ]
}

/** Which code recovers the keys that signed: `native` or `wasm`. The value is always 1. */
const recoveryReading: MetricReading = {
  name: 'watchdog_recovery_code_info',
  help: 'Code that recovers signers: native, or WebAssembly at a third of the speed.',
  labels: ['code'],
  read: async () => [{ labels: { code: recoveryCode.name }, value: 1 }],
}

/** Returns `read` with a cache of `CACHE_MS` for its result; errors are not cached. Concurrent readers share one call. */
function cached<T>(clock: Clock, read: () => Promise<T>): () => Promise<T> {
  const cache = createSharedCache<'only', T>(clock, { max: 1, freshMs: () => CACHE_MS })
  return () => cache.get('only', read)
}

/** Metrics of sold and spent credits, from the public figures. */
function creditReadings(app: JobApp): readonly MetricReading[] {
  return [
    {
      name: 'watchdog_credits_sold',
      help: 'Credits sold since the beginning, at most a minute old.',
      read: async () => (await readStats(app)).creditsSold,
    },
    {
      name: 'watchdog_credits_spent',
      help: 'Credits spent since the beginning, minus refunds, at most a minute old.',
      read: async () => (await readStats(app)).creditsSpent,
    },
  ]
}

/** Metric of payments that wait for an operator. */
function unmatchedReading({ db, clock }: Pick<JobApp, 'db' | 'clock'>): MetricReading {
  return {
    name: 'watchdog_unmatched_payments',
    help: 'Payments that were not credited and wait for an operator.',
    read: cached(clock, () => countUnmatched(db)),
  }
}

/** The commit of this process; its release and chain are labels of every series. The value is always 1. */
function infoReading(commit: string): MetricReading {
  return {
    name: 'watchdog_info',
    help: 'Release, commit and chain of this process; always 1.',
    labels: ['commit'],
    read: async () => [{ labels: { commit }, value: 1 }],
  }
}

/** Metrics of the synthetic alert; none if no monitor is configured (`HEARTBEAT_URL`). */
function canaryReadings(
  { db, clock, heartbeat }: JobApp,
  startedAt: () => Date,
): readonly MetricReading[] {
  if (heartbeat === undefined) return []
  const arrival = cached(clock, () => findCanary({ db }))
  return [
    {
      name: 'watchdog_canary_arrived_timestamp_seconds',
      help: 'Time at which the last synthetic alert arrived; before the first, of the start of the process.',
      read: async () => ((await arrival())?.at ?? startedAt()).getTime() / 1000,
    },
    {
      name: 'watchdog_canary_seconds',
      help: 'Latency of the last synthetic alert, from recording to delivery.',
      read: async () => {
        const canary = await arrival()
        return canary && canary.tookMs / 1000
      },
    },
  ]
}

/** Metric of the mail server; none if e-mail is not configured. */
function mailReadings({ mailServer }: JobApp): readonly MetricReading[] {
  if (mailServer === undefined) return []
  return [
    {
      name: 'watchdog_mail_failing_seconds',
      help: 'Time since which the mail server takes no e-mails of this process; 0 if it does.',
      read: async () => mailServer.failingMs() / 1000,
    },
  ]
}

/** Metric of the copy of the database; none if there is none (`DATABASE_READ_URL`). */
function standbyReadings({ db, replica }: JobApp): readonly MetricReading[] {
  if (replica === undefined) return []
  return [
    {
      name: 'watchdog_standby_lag_seconds',
      help: 'Age of what the standby for lists has; 0 if it has all.',
      read: async () => {
        const { lagMs } = await replica.state(db)
        return lagMs && lagMs / 1000
      },
    },
  ]
}

/** Metric of the newest confirmed block that this process has read. */
function headReading({ clock, meters }: JobApp): MetricReading {
  return {
    name: 'watchdog_head_lag_seconds',
    help: 'Age of the newest confirmed block read by this process, by RPC endpoint.',
    labels: ['endpoint'],
    read: async () => {
      const head = meters.head()
      if (head === undefined) return undefined
      const value = Math.max(0, clock.now().getTime() - head.at.getTime()) / 1000
      return [{ labels: { endpoint: head.endpoint }, value }]
    },
  }
}

/** Metric of the contact with Telegram; unknown in a process that does not run the bot. */
function telegramReading({ meters }: JobApp): MetricReading {
  return {
    name: 'watchdog_telegram_answer_age_seconds',
    help: 'Time since Telegram answered a request of this process for updates, or since the start of the bot.',
    read: async () => {
      const ms = meters.telegramAnswerAgeMs()
      return ms && ms / 1000
    },
  }
}

/** Metrics of the last ledger reconciliation. */
function ledgerReadings(
  { db, clock }: Pick<JobApp, 'db' | 'clock'>,
  startedAt: () => Date,
): readonly MetricReading[] {
  const lastProof = cached(clock, () => findLastProof(db))
  return [
    {
      name: 'watchdog_ledger_wrong_wallets',
      help: 'Wallets whose entries did not add up to their balance in the last ledger reconciliation.',
      read: async () => (await lastProof())?.wrongWallets ?? 0,
    },
    {
      name: 'watchdog_ledger_proved_timestamp_seconds',
      help: 'Time of the last ledger reconciliation; before the first, of the start of the process.',
      read: async () => ((await lastProof())?.provedAt ?? startedAt()).getTime() / 1000,
    },
  ]
}

/** Metric of quarantined rows. */
function quarantineReading({ quarantine }: Pick<JobApp, 'quarantine'>): MetricReading {
  return {
    name: 'watchdog_quarantined_rows_total',
    help: 'Rows set aside by this process because they could not be processed, by kind.',
    labels: ['kind'],
    read: async () =>
      quarantine.read().map(({ kind, rows }) => ({ labels: { kind }, value: rows })),
  }
}

/** Metrics of deliveries. */
function deliveryReadings({ db, clock, attemptCounter }: JobApp): readonly MetricReading[] {
  const due = cached(clock, async () => {
    const at = clock.now()
    return { at, channels: await countDueByChannel(db, at) }
  })
  return [
    {
      name: 'watchdog_deliveries_due',
      help: 'Deliveries that are due and not sent yet.',
      labels: ['channel'],
      read: async () =>
        (await due()).channels.map((row) => ({ labels: { channel: row.channel }, value: row.due })),
    },
    {
      name: 'watchdog_deliveries_oldest_due_seconds',
      help: 'Time for which the oldest untried delivery to a recipient that answers has been due; 0 if there is none.',
      labels: ['channel'],
      // The age when the database was read, up to `CACHE_MS` before the scrape.
      read: async () => {
        const { at, channels } = await due()
        return channels.map(({ channel, oldestAt }) => ({
          labels: { channel },
          value: Math.max(0, at.getTime() - oldestAt.getTime()) / 1000,
        }))
      },
    },
    {
      name: 'watchdog_delivery_attempts_total',
      help: 'Attempts to send by this process, by result.',
      labels: ['channel', 'outcome'],
      read: async () =>
        attemptCounter.read().map(({ attempts, ...labels }) => ({ labels, value: attempts })),
    },
  ]
}

/**
 * Metrics of chain reading and watch evaluation. Ages exist from the start of the process, and grow while nothing can be
 * read, also from the database: a rule that compares an age fires then, too.
 */
function workReadings(
  { db, clock }: Pick<JobApp, 'db' | 'clock'>,
  startedAt: () => Date,
): readonly MetricReading[] {
  const ageOf = (at: Date) => Math.max(0, clock.now().getTime() - at.getTime()) / 1000
  let last = NO_PROGRESS
  const progress = cached(clock, async () => {
    last = await readObservationProgress(db).catch(() => last)
    return last
  })
  const types = async () =>
    progressOfTypes(await progress(), { startedAt: startedAt(), now: clock.now() })
  return [
    {
      name: 'watchdog_chain_head_block',
      help: 'Number of the newest block with the configured confirmations.',
      read: async () => (await progress()).head?.block,
    },
    {
      name: 'watchdog_chain_head_age_seconds',
      help: 'Age of the newest block with the configured confirmations; before the first, of the process.',
      read: async () => ageOf((await progress()).head?.at ?? startedAt()),
    },
    {
      name: 'watchdog_evaluation_age_seconds',
      help: 'Time since the watches of a type were last evaluated up to a newer block.',
      labels: ['type'],
      read: async () =>
        (await types()).map(({ type, ageMs }) => ({ labels: { type }, value: ageMs / 1000 })),
    },
    {
      name: 'watchdog_evaluation_behind_seconds',
      help: 'Time between the block up to which the watches of a type were evaluated and the newest one.',
      labels: ['type'],
      read: async () =>
        (await types()).map(({ type, behindMs }) => ({ labels: { type }, value: behindMs / 1000 })),
    },
  ]
}

/** Metric of the checks of `/readyz`, which exists while no dependency answers, too. */
function problemReading({ health }: Pick<JobApp, 'health'>): MetricReading {
  return {
    name: 'watchdog_problem',
    help: 'Whether a check of /readyz finds a problem: 1 if it does, otherwise 0.',
    labels: ['check'],
    read: async () => {
      const failing = new Set((await findProblems(health)).map(({ name }) => name))
      return health.map(({ name: check }) => ({
        labels: { check },
        value: failing.has(check) ? 1 : 0,
      }))
    },
  }
}
